// Pages that move to other frames: as the system likes, and out of ZONE_MOVABLE before they are pinned.
#include <algorithm>
#include <cerrno>

#include "host/address_space.h"

namespace mtsim {
namespace {

constexpr Va start_of(std::uint64_t page) { return Va(page * page_bytes.raw); }
constexpr Bytes bytes_of(std::uint64_t pages) { return page_bytes * pages; }

}  // namespace

/// migrate_pages: a folio with a reference besides those of its mappings stays; so does one for which there is no other frame.
std::uint64_t AddressSpace::migrate(std::uint64_t first, std::uint64_t end) {
  std::uint64_t moved = 0;
  while (const auto part = table_.part_from(first, end)) {
    first = part->end();
    const std::uint64_t size = leaf_pages(part->leaf);
    for (const PageSpan& loose : pool_->held_once(part->frames)) {
      // Only leaves that lie in the range and are loose as a whole move.
      std::uint64_t at = round_up(part->first + loose.first, size);
      const std::uint64_t stop = round_down(part->first + loose.end, size);
      if (at >= stop) continue;
      const auto made = pool_->allocate(part->leaf, std::min(stop - at, allocatable()) / size);
      for (const FrameExtent& frames : made) {
        move_to(at, frames, part->leaf);
        at += frames.count;
        moved += frames.count;
      }
    }
  }
  return moved;
}

void AddressSpace::move_to(std::uint64_t at, const FrameExtent& frames, Leaf leaf) {
  for (TakenPages* watcher : watchers_) watcher->taken(at, at + frames.count, leaf);
  std::uint64_t moved = 0;
  for (const FrameExtent& old : table_.unmap(start_of(at), bytes_of(frames.count))) {
    pool_->copied(old, frames.part(moved, old.count));
    moved += old.count;
    pool_->release(old);
  }
  table_.map(start_of(at), frames, leaf);
}

/// mm/gup.c, check_and_migrate_movable_pages: what is about to be pinned and lies in ZONE_MOVABLE moves elsewhere. ENOMEM: there is no
/// room. Pages that other processes have, too, stay where they are; in life they move for all of them. So do pages that are pinned already.
int AddressSpace::leave_movable(Range range, PinReply& reply) {
  if (!pool_->has_movable()) return 0;
  for (std::uint64_t page = range.first; page < range.end;) {
    const auto part = table_.part_from(page, range.end);
    if (!part) break;
    const FramePool::Alike movable = pool_->movable(part->frames);
    page = part->first + movable.pages;
    if (!movable.yes) continue;
    const std::uint64_t size = leaf_pages(part->leaf);
    std::uint64_t at = round_down(part->first, size);
    const std::uint64_t end = round_up(page, size);
    const FrameExtent leaves = table_.part_from(at, end)->frames;
    const FramePool::Alike alone = pool_->mapped_once(leaves), pinned = pool_->pinned(leaves);
    const std::uint64_t alike = std::min({alone.pages, pinned.pages, end - at});
    page = std::max(part->first + 1, std::min(page, at + round_up(alike, size)));
    if (!alone.yes || pinned.yes) continue;
    const std::uint64_t stop = at + round_down(alike, size);
    while (at < stop) {
      const auto made = pool_->allocate(part->leaf, (stop - at) / size, Zone::unmovable);
      if (made.empty()) return ENOMEM;
      for (const FrameExtent& frames : made) {
        move_to(at, frames, part->leaf);
        at += frames.count;
        reply.reclaimed.migrated += frames.count;
      }
    }
  }
  return 0;
}

}  // namespace mtsim
