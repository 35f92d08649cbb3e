#include "base/dma_map.h"

#include <algorithm>
#include <cassert>

namespace mtsim {

DmaMap::DmaMap(FrameLaw law, const std::vector<FrameExtent>& extents, Bytes lead, Bytes length) : law_(law), lead_(lead), length_(length) {
  assert(lead < page_bytes);
  std::uint64_t page = 0;
  for (const FrameExtent& extent : extents) {
    if (extent.count == 0) continue;
    if (!pieces_.empty() && pieces_.back().frames.continues_in(extent)) {
      pieces_.back().frames.count += extent.count;
    } else {
      bool joined = false;
      if (!pieces_.empty()) {
        const FrameExtent& before = pieces_.back().frames;
        joined = law_.address(before, before.count - 1) + page_bytes == law_.address(extent, 0);
      }
      pieces_.push_back({page, extent, joined});
    }
    page += extent.count;
  }
  assert(page == pages().raw);
}

std::vector<DmaMap::Piece>::const_iterator DmaMap::piece_of(std::uint64_t page) const {
  assert(page < pages().raw);
  return std::prev(std::upper_bound(pieces_.begin(), pieces_.end(), page,
                                    [](std::uint64_t wanted, const Piece& candidate) { return wanted < candidate.first_page; }));
}

DmaRun DmaMap::run_from(std::uint64_t page) const {
  auto piece = piece_of(page);
  const std::uint64_t within = page - piece->first_page;
  const Pa start = law_.address(piece->frames, within);
  std::uint64_t end = law_.run(piece->frames, within).end;
  std::uint64_t count = end - within;
  while (end == piece->frames.count && ++piece != pieces_.end() && piece->joined) {
    end = law_.run(piece->frames, 0).end;
    count += end;
  }
  return {start, page_bytes * count};
}

DmaRun DmaMap::at(Bytes offset) const {
  assert(offset < length_);
  const Bytes position = lead_ + offset;
  const Bytes into_page = position % page_bytes;
  const DmaRun run = run_from(position / page_bytes);
  return {run.start + into_page, std::min(run.length - into_page, length_ - offset)};
}

Pa DmaMap::block(std::uint64_t i, Bytes block, Iova iova) const {
  const Bytes before{iova.raw & (block.raw - 1)};
  const Bytes position = lead_ + (i == 0 ? Bytes(0) : block * i - before);
  const std::uint64_t page = position / page_bytes;
  const auto piece = piece_of(page);
  const Pa start = law_.address(piece->frames, page - piece->first_page) + position % page_bytes;
  return i == 0 ? start - before : start;
}

std::uint64_t DmaMap::count_runs(std::uint64_t limit) const {
  const auto cuts = [limit](std::uint64_t run_pages) { return (run_pages - 1) / limit + 1; };
  std::uint64_t total = 0;
  if (limit < FrameLaw::segment_pages) {
    for_each_run([&](const DmaRun& run) {
      total += cuts(run.length / page_bytes);
      return true;
    });
    return total;
  }
  // Only the outer runs of a piece can be long or go on in the next piece; those inside are at most a segment.
  std::uint64_t open = 0;
  for (const Piece& piece : pieces_) {
    const FrameExtent& frames = piece.frames;
    if (!piece.joined && open > 0) {
      total += cuts(open);
      open = 0;
    }
    const std::uint64_t head = law_.run(frames, 0).end;
    open += head;
    if (head == frames.count) continue;
    const std::uint64_t tail = law_.run(frames, frames.count - 1).first;
    total += cuts(open) + law_.count_runs(frames.part(head, tail - head));
    open = frames.count - tail;
  }
  if (open > 0) total += cuts(open);
  return total;
}

std::vector<FrameExtent> DmaMap::extents() const {
  std::vector<FrameExtent> out;
  out.reserve(pieces_.size());
  for (const Piece& piece : pieces_) out.push_back(piece.frames);
  return out;
}

}  // namespace mtsim
