#include "base/dma_map.h"

#include <algorithm>
#include <cassert>

namespace mtsim {
namespace {

/// Entries that map `count` contiguous pages from page `to` of memory on under page numbers from `from` on. From each size to the next
/// greater one: what lies before its first multiple and behind its last.
std::uint64_t leaves_of_run(std::uint64_t from, std::uint64_t to, std::uint64_t count, std::uint64_t sizes) {
  std::uint64_t low = from, high = from + count, total = 0, size = 1;
  const std::uint64_t allowed = sizes / page_bytes.raw;
  for (unsigned log = 1; log < 52; ++log) {
    const std::uint64_t next = std::uint64_t{1} << log;
    if (next > count || ((from ^ to) & (next - 1)) != 0) break;
    if ((allowed & next) == 0) continue;
    const std::uint64_t first = round_up(low, next), last = round_down(high, next);
    if (first >= last) break;
    total += (first - low) / size + (high - last) / size;
    low = first, high = last, size = next;
  }
  return total + (high - low) / size;
}

}  // namespace

DmaMap::DmaMap(FrameLaw law, const std::vector<FrameExtent>& extents, Bytes lead, Bytes length) : law_(law), lead_(lead), length_(length) {
  assert(lead < page_bytes);
  std::uint64_t page = 0;
  for (const FrameExtent& extent : extents) {
    if (extent.count == 0) continue;
    FrameExtent& before = several_.empty() ? only_.frames : several_.back().frames;
    if (before.count == 0) {
      only_ = {page, extent, false};
    } else if (before.continues_in(extent)) {
      before.count += extent.count;
    } else {
      const bool joined = law_.address(before, before.count - 1) + page_bytes == law_.address(extent, 0);
      if (several_.empty()) several_.push_back(only_);
      several_.push_back({page, extent, joined});
    }
    page += extent.count;
  }
  assert(page == pages().raw);
}

const DmaMap::Piece* DmaMap::piece_of(std::uint64_t page) const {
  assert(page < pages().raw);
  if (several_.empty()) return &only_;
  return &*std::prev(std::upper_bound(several_.begin(), several_.end(), page,
                                      [](std::uint64_t wanted, const Piece& candidate) { return wanted < candidate.first_page; }));
}

DmaRun DmaMap::run_from(std::uint64_t page) const {
  const Piece* piece = piece_of(page);
  const std::uint64_t within = page - piece->first_page;
  const Pa start = law_.address(piece->frames, within);
  std::uint64_t end = law_.run(piece->frames, within).end;
  std::uint64_t count = end - within;
  while (end == piece->frames.count && ++piece != pieces_end() && piece->joined) {
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

Pa DmaMap::page(std::uint64_t i) const {
  const Piece* piece = piece_of(i);
  return law_.address(piece->frames, i - piece->first_page);
}

FrameExtent DmaMap::frame(std::uint64_t i) const {
  const auto piece = piece_of(i);
  return piece->frames.part(i - piece->first_page, 1);
}

std::uint64_t DmaMap::run_start(std::uint64_t i) const {
  const Piece* piece = piece_of(i);
  std::uint64_t start = law_.run(piece->frames, i - piece->first_page).first;
  while (start == 0 && piece->joined) {
    --piece;
    start = law_.run(piece->frames, piece->frames.count - 1).first;
  }
  return piece->first_page + start;
}

std::uint64_t DmaMap::count_starts(std::uint64_t first, std::uint64_t end) const {
  std::uint64_t total = 0;
  for (const Piece* piece = first < end ? piece_of(first) : pieces_end(); piece != pieces_end() && piece->first_page < end; ++piece) {
    const FrameExtent& frames = piece->frames;
    const std::uint64_t from = std::max(first, piece->first_page) - piece->first_page;
    const std::uint64_t to = std::min(end - piece->first_page, frames.count);
    total += law_.count_runs(frames.part(from, to - from));
    // What goes on there began before.
    if (from == 0 ? piece->joined : law_.run(frames, from).first != from) --total;
  }
  return total;
}

Pa DmaMap::block(std::uint64_t i, Bytes block, Iova iova) const {
  const Bytes before{iova.raw & (block.raw - 1)};
  const Bytes position = lead_ + (i == 0 ? Bytes(0) : block * i - before);
  const std::uint64_t page = position / page_bytes;
  const Piece* piece = piece_of(page);
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
  for (const Piece& piece : pieces()) {
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

std::uint64_t DmaMap::count_leaves(std::uint64_t first, std::uint64_t sizes) const {
  std::uint64_t total = 0, open = 0, open_first = 0;  // the run that may go on in the next piece
  Pa open_start;
  const auto close = [&] {
    if (open > 0) total += leaves_of_run(first + open_first, open_start.raw / page_bytes.raw, open, sizes);
    open = 0;
  };
  const auto begin = [&](const Piece& piece, std::uint64_t within) {
    open_first = piece.first_page + within;
    open_start = law_.address(piece.frames, within);
  };
  for (const Piece& piece : pieces()) {
    const FrameExtent& frames = piece.frames;
    if (!piece.joined) close();
    if (open == 0) begin(piece, 0);
    const std::uint64_t head = law_.run(frames, 0).end;
    open += head;
    if (head == frames.count) continue;
    close();
    const std::uint64_t tail = law_.run(frames, frames.count - 1).first;
    total += inner_leaves(frames.part(head, tail - head), first + piece.first_page + head, sizes);
    begin(piece, tail);
    open = frames.count - tail;
  }
  close();
  return total;
}

/// Of whole runs within one piece: none is longer than a segment, none goes beyond one.
std::uint64_t DmaMap::inner_leaves(const FrameExtent& frames, std::uint64_t first, std::uint64_t sizes) const {
  if (frames.count == 0 || law_.all_single(frames)) return frames.count;
  const std::uint64_t segment = FrameLaw::segment_pages;
  // Frame numbers and addresses agree on where a segment begins, so page numbers are as far from that everywhere.
  const std::uint64_t skew = (first - frames.first) % segment;
  const std::uint64_t between = sizes / page_bytes.raw & (segment - 1) & ~std::uint64_t{1};
  if (frames.layout == Layout::segments) return frames.count / segment * leaves_of_run(skew, 0, segment, sizes);
  if (between == 0)
    return frames.count - (skew == 0 ? (segment - leaves_of_run(0, 0, segment, sizes)) * law_.count_whole_segments(frames) : 0);
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < frames.count;) {
    const std::uint64_t end = law_.run(frames, i).end;
    total += leaves_of_run(first + i, law_.address(frames, i).raw / page_bytes.raw, end - i, sizes);
    i = end;
  }
  return total;
}

std::vector<FrameExtent> DmaMap::extents() const {
  std::vector<FrameExtent> out;
  out.reserve(pieces().size());
  for (const Piece& piece : pieces()) out.push_back(piece.frames);
  return out;
}

}  // namespace mtsim
