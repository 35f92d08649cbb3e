// What a process sees in its memory, and what is kept of pages that are not in frames.
#include <algorithm>

#include "host/address_space.h"
#include "host/address_space_common.h"

namespace mtsim {

void AddressSpace::restore(std::uint64_t first, const FrameExtent& frames) {
  Contents* const contents = pool_->contents();
  if (contents == nullptr) [[likely]]
    return;
  contents->copy(stored_, first * page_bytes.raw, frames.count * page_bytes.raw, frames.first * page_bytes.raw);
}

void AddressSpace::store(std::uint64_t first, const FrameExtent& frames) {
  const Contents* const contents = pool_->contents();
  if (contents == nullptr) [[likely]]
    return;
  stored_.copy(*contents, frames.first * page_bytes.raw, frames.count * page_bytes.raw, first * page_bytes.raw);
}

std::vector<SeenPart> AddressSpace::see(Va va, Bytes length) const {
  std::vector<SeenPart> out;
  const std::uint64_t stop = va.raw + length.raw;
  for (std::uint64_t at = va.raw; at < stop;) {
    const std::uint64_t page = at / page_bytes.raw;
    // Bytes up to page `end` are so.
    const auto add = [&](SeenPart::Kind kind, std::uint64_t end, std::uint64_t first) {
      const std::uint64_t to = std::min(stop, end * page_bytes.raw);
      out.push_back({kind, first, to - at});
      at = to;
    };
    const auto vma = holding(page);
    if (vma == vmas_.end() || vma->second.backing == verbs::Backing::io) {
      const auto next = vmas_.upper_bound(page);
      const std::uint64_t end = vma != vmas_.end() ? vma->second.end : next != vmas_.end() ? next->first : stop / page_bytes.raw + 1;
      add(SeenPart::Kind::nothing, end, 0);
      continue;
    }
    const auto in = [&](const PageTable& table, std::uint64_t end) {
      const auto part = table.part_from(page, end);
      if (!part || part->first != page) return false;
      add(SeenPart::Kind::frames, part->end(), part->frames.first * page_bytes.raw + at % page_bytes.raw);
      return true;
    };
    if (in(table_, vma->second.end)) continue;
    // What another process has brought in of a shared mapping is this one's as soon as it looks.
    const std::uint64_t end = table_.gap_around(page, page, vma->second.end)->end;
    if (vma->second.common == nullptr) {
      add(SeenPart::Kind::absent, end, at);
    } else if (!in(vma->second.common->table, end)) {
      add(SeenPart::Kind::absent, vma->second.common->table.gap_around(page, page, end)->end, at);
    }
  }
  return out;
}

}  // namespace mtsim
