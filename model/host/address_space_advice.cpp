// Changes to mappings and pages that exist: rights, advice, and what the system does when frames run short.
#include <algorithm>
#include <cerrno>
#include <iterator>

#include "host/address_space.h"

namespace mtsim {
namespace {

using Interval = boost::icl::discrete_interval<std::uint64_t>;
using verbs::Advice;
using verbs::Backing;
using verbs::PageKind;

constexpr std::uint64_t page_of(Va va) { return va.raw / page_bytes.raw; }
constexpr Va start_of(std::uint64_t page) { return Va(page * page_bytes.raw); }
constexpr Bytes bytes_of(std::uint64_t pages) { return page_bytes * pages; }

}  // namespace

template <class Change>
int AddressSpace::modify(std::uint64_t first, std::uint64_t end, Change change) {
  const auto at = holding(first);
  Vma wanted = at->second;
  change(wanted);
  if (wanted.same_kind(at->second)) return 0;  // nothing is split for what is so already
  const auto after = vmas_.find(at->second.end);
  const bool joins_below =
      at->first == first && at != vmas_.begin() && std::prev(at)->second.end == first && wanted.same_kind(std::prev(at)->second);
  const bool joins_above = at->second.end == end && after != vmas_.end() && wanted.same_kind(after->second);
  // __split_vma: the limit is asked before each cut. Where the part goes over to a neighbour, no mapping is made.
  for (const std::uint64_t edge : {first, end}) {
    const auto around = holding(edge);
    if (around == vmas_.end() || around->first == edge) continue;
    if (splits_huge_page(edge)) return EINVAL;
    if (vmas_.size() >= limits_.mappings && !joins_below && !joins_above) return ENOMEM;
    cut(edge);
  }
  change(vmas_.at(first));
  join(end);
  join(first);
  return 0;
}

/// Makes one mapping of those on both sides of `page` when they are alike (vma_merge).
void AddressSpace::join(std::uint64_t page) {
  const auto upper = vmas_.find(page);
  if (upper == vmas_.end() || upper == vmas_.begin()) return;
  const auto lower = std::prev(upper);
  if (lower->second.end != page || !lower->second.same_kind(upper->second)) return;
  lower->second.end = upper->second.end;
  vmas_.erase(upper);
}

template <class Part>
int AddressSpace::for_each_mapped(Range range, bool beyond_holes, Part part) {
  int hole = 0;
  for (std::uint64_t page = range.first; page < range.end;) {
    auto at = holding(page);
    if (at == vmas_.end()) {
      if (!beyond_holes) return ENOMEM;
      hole = ENOMEM;
      at = vmas_.lower_bound(page);
      if (at == vmas_.end() || at->first >= range.end) break;
      page = at->first;
    }
    const std::uint64_t stop = std::min(range.end, at->second.end);
    if (const int error = part(page, stop, at->second); error != 0) return error;
    page = stop;
  }
  return hole;
}

ProtectReply AddressSpace::mprotect(Va va, Bytes length, bool readable, bool writable) {
  ProtectReply reply;
  if (va.raw % page_bytes.raw != 0) {
    reply.error = EINVAL;
    return reply;
  }
  const Range range{page_of(va), page_of(va) + ceil_div(length.raw, page_bytes.raw)};
  reply.error = for_each_mapped(range, false, [&](std::uint64_t first, std::uint64_t end, const Vma& vma) {
    if (vma.readable == readable && vma.writable == writable) return 0;
    reply.leaves += table_.count(start_of(first), bytes_of(end - first)).folios;
    return modify(first, end, [&](Vma& changed) {
      changed.readable = readable;
      changed.writable = writable;
    });
  });
  return reply;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> AddressSpace::protected_anew(Va va, Bytes length, bool readable, bool writable) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
  if (va.raw % page_bytes.raw != 0) return out;
  const std::uint64_t end = page_of(va) + ceil_div(length.raw, page_bytes.raw);
  for (std::uint64_t page = page_of(va); page < end;) {
    const auto at = holding(page);
    if (at == vmas_.end() || splits_huge_page(page)) break;
    const std::uint64_t stop = std::min(end, at->second.end);
    if (splits_huge_page(stop)) break;
    if (at->second.readable != readable || at->second.writable != writable) out.emplace_back(page, stop);
    page = stop;
  }
  return out;
}

std::vector<PresentPart> AddressSpace::present(std::uint64_t first, std::uint64_t end) const {
  std::vector<PresentPart> out;
  auto vma = holding(first) != vmas_.end() ? holding(first) : vmas_.lower_bound(first);
  for (; vma != vmas_.end() && vma->first < end; ++vma) {
    if (check_device(vma->second, false) != 0) continue;
    const std::uint64_t stop = std::min(end, vma->second.end);
    std::uint64_t page = std::max(first, vma->first);
    while (const auto part = table_.part_from(page, stop)) {
      out.push_back({part->first, part->frames, part->leaf, vma->second.writable && part->sharing == Sharing::alone});
      page = part->end();
    }
  }
  return out;
}

AdviseReply AddressSpace::madvise(Va va, Bytes length, Advice advice) {
  AdviseReply reply;
  if (va.raw % page_bytes.raw != 0) {
    reply.error = EINVAL;
    return reply;
  }
  const Range range{page_of(va), page_of(va) + ceil_div(length.raw, page_bytes.raw)};
  reply.error =
      for_each_mapped(range, true, [&](std::uint64_t first, std::uint64_t end, const Vma&) { return advise(first, end, advice, reply); });
  return reply;
}

/// madvise_vma_behavior
int AddressSpace::advise(std::uint64_t first, std::uint64_t end, Advice advice, AdviseReply& reply) {
  const Vma& vma = holding(first)->second;
  switch (advice) {
    case Advice::dontfork:
      return modify(first, end, [](Vma& changed) { changed.dontfork = true; });
    case Advice::dofork:
      if (vma.backing == Backing::io) return EINVAL;
      return modify(first, end, [](Vma& changed) { changed.dontfork = false; });
    case Advice::hugepage:
      // Other memory takes the advice too, but it changes nothing there.
      if (vma.backing != Backing::anonymous || vma.page != PageKind::base_4k) return 0;
      return modify(first, end, [](Vma& changed) { changed.page = PageKind::thp; });
    case Advice::dontneed: {
      // madvise_dontneed_free_valid_vma: no part of a huge page of a huge page mapping is dropped.
      if (vma.backing == Backing::io || splits_huge_page(first)) return EINVAL;
      if (splits_huge_page(end)) end = round_down(end, leaf_pages(vma.leaf()));
      if (first >= end) return 0;
      if (vma.shared) keep_shared(vma.made_by, {first, end});
      reply.dropped += table_.count(start_of(first), bytes_of(end - first)).folios;
      for (const FrameExtent& frames : table_.unmap(start_of(first), bytes_of(end - first))) pool_->release(frames);
      if (!vma.shared) forget_swapped(first, end);
      return 0;
    }
    case Advice::pageout: {
      ReclaimCounts counts;
      std::uint64_t page = first;
      evict(page, end, end - first, counts);
      reply.swapped_out += counts.swapped_out;
      return 0;
    }
    case Advice::migrate:
      reply.migrated += migrate(first, end);
      return 0;
  }
  return 0;
}

std::uint64_t AddressSpace::forget_swapped(std::uint64_t first, std::uint64_t end) {
  if (!stored_.empty()) [[unlikely]]
    stored_.forget(start_of(first).raw, bytes_of(end - first).raw);
  if (swapped_pages_ == 0) return 0;
  std::uint64_t there = 0;
  const auto [low, high] = swapped_.equal_range(Interval(first, end));
  for (auto at = low; at != high; ++at) there += std::min(end, at->upper()) - std::max(first, at->lower());
  swapped_ -= Interval(first, end);
  swapped_pages_ -= there;
  family_->swapped -= there;
  return there;
}

Bytes AddressSpace::page_size_at(Va va) const {
  const auto at = holding(page_of(va));
  return at != vmas_.end() && at->second.huge() ? leaf_bytes(at->second.leaf()) : page_bytes;
}

Pages AddressSpace::resident() const {
  std::uint64_t pages = 0;
  for (const auto& [first, vma] : vmas_) {
    const PageCounts counts = table_.count(start_of(first), bytes_of(vma.end - first));
    pages += counts.pages - counts.absent;
  }
  return Pages(pages);
}

std::uint64_t AddressSpace::allocatable() const { return pool_->free() > limits_.reserve ? (pool_->free() - limits_.reserve).raw : 0; }

/// shrink_folio_list: a folio with a reference besides those of its mappings stays. Huge page mappings are never reclaimed.
std::uint64_t AddressSpace::evict(std::uint64_t& page, std::uint64_t end, std::uint64_t most, ReclaimCounts& counts) {
  std::uint64_t taken = 0;
  const Vma& vma = holding(page)->second;
  const bool to_swap = vma.backing == Backing::anonymous || !vma.shared;
  while (taken < most && !vma.huge()) {
    const auto part = table_.part_from(page, end);
    if (!part) break;
    page = part->end();
    // Found before any of them goes: the pool's answer is about the extent as it is.
    for (const PageSpan& loose : pool_->held_once(part->frames)) {
      std::uint64_t pages = std::min(loose.end - loose.first, round_up(most - taken, leaf_pages(part->leaf)));
      if (to_swap) pages = std::min(pages, swap_room());
      if (pages == 0) break;
      const std::uint64_t at = part->first + loose.first;
      for (TakenPages* watcher : watchers_) watcher->taken(at, at + pages, part->leaf);
      std::uint64_t stored = at;
      for (const FrameExtent& frames : table_.unmap(start_of(at), bytes_of(pages))) {
        store(stored, frames);
        stored += frames.count;
        pool_->release(frames);
      }
      if (to_swap) {
        swapped_ += Interval(at, at + pages);
        swapped_pages_ += pages;
        family_->swapped += pages;
      }
      (to_swap ? counts.swapped_out : counts.dropped) += pages;
      taken += pages;
      page = at + pages;
      if (taken >= most) return taken;
    }
    page = part->end();
  }
  page = end;
  return taken;
}

std::uint64_t AddressSpace::swap_room() const { return limits_.swap.raw - std::min(limits_.swap.raw, family_->swapped); }

/// Direct reclaim: from one process after the other, the oldest first.
std::uint64_t AddressSpace::reclaim(std::uint64_t pages, Range keep, ReclaimCounts& counts) {
  constexpr std::uint64_t cluster = 32;  // SWAP_CLUSTER_MAX
  const std::uint64_t want = std::max(pages, cluster);
  std::uint64_t taken = 0;
  for (AddressSpace* member : family_->members) {
    taken += member->reclaim_here(want - taken, member == this ? keep : Range{0, 0}, counts);
    if (taken >= want) break;
  }
  return taken;
}

/// Which page is the oldest is not known: a hand goes round the address space.
std::uint64_t AddressSpace::reclaim_here(std::uint64_t want, Range keep, ReclaimCounts& counts) {
  const std::uint64_t last = ~std::uint64_t{0} / page_bytes.raw;
  std::uint64_t taken = 0;
  const auto sweep = [&](std::uint64_t first, std::uint64_t end) {
    for (const Range part : {Range{first, std::min(end, keep.first)}, Range{std::max(first, keep.end), end}}) {
      if (part.first >= part.end || taken >= want) continue;
      // Vmas matter to what may be taken, so that one is looked at after the other.
      for (auto vma = holding(part.first) != vmas_.end() ? holding(part.first) : vmas_.lower_bound(part.first);
           vma != vmas_.end() && vma->first < part.end && taken < want; ++vma) {
        hand_ = std::max(part.first, vma->first);
        taken += evict(hand_, std::min(part.end, vma->second.end), want - taken, counts);
      }
    }
  };
  const std::uint64_t from = hand_;
  sweep(from, last);
  if (taken < want) sweep(0, from);
  return taken;
}

}  // namespace mtsim
