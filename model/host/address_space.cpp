#include "host/address_space.h"

#include "host/address_space_common.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace mtsim {
namespace {

using Interval = boost::icl::discrete_interval<std::uint64_t>;
using verbs::Backing;
using verbs::PageKind;

constexpr std::uint64_t page_of(Va va) { return va.raw / page_bytes.raw; }
constexpr Va start_of(std::uint64_t page) { return Va(page * page_bytes.raw); }

/// First byte that no process may map (x86-64 with four levels).
constexpr std::uint64_t user_end = 0x7fff'ffff'f000;

bool beyond_user_space(Va va, Bytes length) { return length.raw > user_end || va.raw > user_end - length.raw; }

}  // namespace

Leaf AddressSpace::Vma::leaf() const {
  switch (page) {
    case PageKind::base_4k:
      return Leaf::page_4k;
    case PageKind::huge_2m:
    case PageKind::thp:
      return Leaf::page_2m;
    case PageKind::huge_1g:
      return Leaf::page_1g;
  }
  return Leaf::page_4k;
}

std::optional<std::uint64_t> AddressSpace::find_addresses(std::uint64_t pages, std::uint64_t align, std::uint64_t at) const {
  for (const Interval& gap : free_) {
    std::uint64_t first = round_down(gap.lower(), align) + at % align;
    if (first < gap.lower()) first += align;
    if (first <= gap.upper() && pages <= gap.upper() - first) return first;
  }
  return std::nullopt;
}

MapReply AddressSpace::mmap(const verbs::MmapRequest& request) {
  MapReply reply;
  Vma vma{0, ++maps_made_, request.page, request.backing, request.readable, request.writable, request.shared};
  const Bytes unit = vma.huge() ? leaf_bytes(vma.leaf()) : page_bytes;
  const Bytes align = request.align.raw == 0 ? leaf_bytes(vma.leaf()) : request.align;
  if (request.length.raw == 0 || align.raw % unit.raw != 0 || request.at.raw % unit.raw != 0) {
    reply.error = EINVAL;
    return reply;
  }
  const std::uint64_t pages = ceil_div(request.length.raw, unit.raw) * (unit / page_bytes);
  const auto first = find_addresses(pages, align / page_bytes, request.at / page_bytes);
  // do_mmap lets one mapping more than the limit be made.
  if (!first || vmas_.size() > limits_.mappings) {
    reply.error = ENOMEM;
    return reply;
  }
  vma.end = *first + pages;
  free_ -= Interval(*first, vma.end);
  vmas_.emplace(*first, vma);
  reply.address = start_of(*first);
  // Failing to populate does not fail the call (man 2 mmap, MAP_POPULATE).
  if (request.populate) {
    const FaultReply populated = fault_in(reply.address, page_bytes * pages, request.writable);
    reply.faults = populated.faults;
    reply.reclaimed = populated.reclaimed;
    reply.batches = populated.batches;
  }
  return reply;
}

AddressSpace::Vmas::const_iterator AddressSpace::holding(std::uint64_t page) const {
  const auto after = vmas_.upper_bound(page);
  if (after == vmas_.begin()) return vmas_.end();
  const auto at = std::prev(after);
  return page < at->second.end ? at : vmas_.end();
}

void AddressSpace::cut(std::uint64_t page) {
  const auto found = holding(page);
  if (found == vmas_.end() || found->first == page) return;
  const Vma upper = found->second;
  vmas_.at(found->first).end = page;
  vmas_.emplace(page, upper);
}

bool AddressSpace::splits_huge_page(std::uint64_t edge) const {
  const auto at = holding(edge);
  return at != vmas_.end() && at->second.huge() && edge % leaf_pages(at->second.leaf()) != 0;
}

int AddressSpace::check_munmap(Va va, Bytes length) const {
  if (length.raw == 0 || va.raw % page_bytes.raw != 0 || beyond_user_space(va, length)) return EINVAL;
  const std::uint64_t first = page_of(va), end = first + ceil_div(length.raw, page_bytes.raw);
  // Only a hole within one mapping makes a mapping more (do_vmi_align_munmap).
  const auto within = holding(first);
  if (within != vmas_.end() && within->first < first && end < within->second.end && vmas_.size() >= limits_.mappings) return ENOMEM;
  return splits_huge_page(first) || splits_huge_page(end) ? EINVAL : 0;
}

UnmapReply AddressSpace::munmap(Va va, Bytes length) {
  UnmapReply reply;
  reply.error = check_munmap(va, length);
  if (reply.error != 0) return reply;
  const std::uint64_t first = page_of(va), end = first + ceil_div(length.raw, page_bytes.raw);
  reply.unmapped = table_.count(va, length);
  for (const FrameExtent& frames : table_.unmap(va, length)) pool_->release(frames);
  forget_swapped(first, end);
  cut(first);
  cut(end);
  for (auto at = vmas_.lower_bound(first); at != vmas_.end() && at->first < end; at = vmas_.erase(at))
    free_ += Interval(at->first, at->second.end);
  return reply;
}

int AddressSpace::check_touch(const Vma& vma, bool write) { return vma.readable && (vma.writable || !write) ? 0 : EFAULT; }

/// mm/gup.c, check_vma_flags
int AddressSpace::check_pin(const Vma& vma, bool write) {
  // VM_IO, VM_PFNMAP
  if (vma.backing == Backing::io) return EFAULT;
  // writable_file_mapping_allowed: the file system could not track who makes the pages dirty. Shared memory (tmpfs: anonymous here) and
  // files on hugetlbfs have no such tracking.
  if (vma.backing == Backing::file && vma.shared && write && !vma.huge()) return EFAULT;
  return check_touch(vma, write);
}

/// check_vma_flags of Linux 6.1, with the flags of its ib_umem_get: FOLL_WRITE, and FOLL_FORCE for memory that the device only reads.
int AddressSpace::check_forced_pin(const Vma& vma, bool write) {
  if (vma.backing == Backing::io) return EFAULT;
  return vma.writable || (!write && !vma.shared) ? 0 : EFAULT;
}

/// mm/hmm.c, hmm_vma_walk_test and hmm_vma_fault
int AddressSpace::check_device(const Vma& vma, bool write) {
  if (vma.backing == Backing::io || !vma.readable) return EFAULT;
  return write && !vma.writable ? EPERM : 0;
}

FaultReply AddressSpace::fault_for_device(Va va, Bytes length, bool write) {
  std::uint64_t reached = 0;
  const std::uint64_t first = page_of(va);
  return length.raw == 0
             ? FaultReply{}
             : fault_pages(va, length, {write, write, &check_device}, {first, first + pages_spanned(va.raw, length).raw}, reached);
}

FaultReply AddressSpace::fault_in(Va va, Bytes length, bool write) {
  std::uint64_t reached = 0;
  return length.raw == 0 ? FaultReply{} : fault_pages(va, length, {write, write, &check_touch}, {0, 0}, reached);
}

FaultReply AddressSpace::fault_pages(Va va, Bytes length, const Access& access, Range keep, std::uint64_t& reached) {
  FaultReply reply;
  reached = page_of(va);
  if (beyond_user_space(va, length)) {
    reply.error = EFAULT;
    return reply;
  }
  const std::uint64_t first = reached, end = first + pages_spanned(va.raw, length).raw;
  std::uint64_t counted = 0;  // batches, with absent pages or without
  for (std::uint64_t& page = reached; page < end;) {
    const auto at = holding(page);
    reply.error = at == vmas_.end() ? EFAULT : access.check(at->second, access.write);
    if (reply.error != 0) return reply;
    const std::uint64_t stop = std::min(end, at->second.end);
    if (at->second.backing == Backing::io) page = stop;  // a device window has no frames
    while (page < stop) {
      auto absent = table_.gap_around(page, at->first, at->second.end);
      if (!absent) {
        const auto part = table_.part_from(page, stop);
        if (part->sharing == Sharing::alone || !access.unshares) page = part->end();
        else reply.error = unshare(at->second, page, stop, keep, reply);
        if (reply.error != 0) return reply;
        continue;
      }
      if (const Vma& vma = at->second; vma.common != nullptr) {
        const std::uint64_t mapped = map_common(vma, page, *absent, stop, reply);
        if (mapped != page) {
          page = mapped;
          continue;
        }
        absent = vma.common->table.gap_around(page, absent->first, absent->end);
      }
      const PageTable::Gap wanted{page, std::min(stop, absent->end)};
      const std::uint64_t batch = std::max(counted, (wanted.first - first) / pin_batch_pages);
      counted = ceil_div(wanted.end - first, pin_batch_pages);
      reply.batches += counted - std::min(counted, batch);
      reply.error = fill(at->second, *absent, wanted, keep, reply);
      if (at->second.common != nullptr) publish(at->second, *absent);
      if (reply.error != 0) {
        while (page < wanted.end && !table_.gap_around(page, page, wanted.end)) page = table_.present_until(page);
        return reply;
      }
      page = wanted.end;
    }
  }
  return reply;
}

int AddressSpace::fill(const Vma& vma, PageTable::Gap absent, PageTable::Gap wanted, Range keep, FaultReply& reply) {
  const std::uint64_t size = leaf_pages(vma.leaf());
  // Whole leaves that fit among the absent pages, and of these the ones that are wanted.
  const std::uint64_t low = round_up(absent.first, size), high = round_down(absent.end, size);
  std::uint64_t next = wanted.first;
  const std::uint64_t body = std::max(low, round_down(wanted.first, size));
  const std::uint64_t body_end = std::min(high, round_up(wanted.end, size));
  if (size > 1 && body < body_end) {
    if (next < body) {
      next = bring(vma, next, body, Leaf::page_4k, keep, reply);
      if (next < body) return ENOMEM;
    }
    next = bring(vma, body, body_end, vma.leaf(), keep, reply);
    if (next < body_end && vma.huge()) return ENOMEM;
    next = std::max(next, wanted.first);
  }
  if (next < wanted.end) next = bring(vma, next, wanted.end, Leaf::page_4k, keep, reply);
  return next < wanted.end ? ENOMEM : 0;
}

std::uint64_t AddressSpace::bring(const Vma& vma, std::uint64_t first, std::uint64_t end, Leaf leaf, Range keep, FaultReply& reply) {
  const std::uint64_t size = leaf_pages(leaf);
  FaultCounts& faults = reply.faults;
  while (first < end) {
    const auto got = take(leaf, (end - first) / size, keep, reply.reclaimed);
    if (got.empty()) break;
    for (const FrameExtent& frames : got) {
      restore(first, frames);
      const std::uint64_t back = forget_swapped(first, first + frames.count);
      table_.map(start_of(first), frames, leaf);
      first += frames.count;
      const std::uint64_t brought = frames.count / size;
      (leaf == Leaf::page_4k ? faults.pages_4k : leaf == Leaf::page_2m ? faults.pages_2m : faults.pages_1g) += brought;
      faults.swapped_in += back;
      if (vma.backing == Backing::anonymous || vma.huge()) faults.zeroed += page_bytes * (frames.count - back);
    }
  }
  return first;
}

std::vector<FrameExtent> AddressSpace::take(Leaf leaf, std::uint64_t leaves, Range keep, ReclaimCounts& reclaimed) {
  const std::uint64_t size = leaf_pages(leaf);
  for (;;) {
    const std::uint64_t there = std::min(leaves, allocatable() / size);
    // Nobody reclaims for a huge page: small ones come instead.
    if (there != 0 || leaf != Leaf::page_4k) {
      if (auto got = pool_->allocate(leaf, there, zone_); !got.empty() || leaf != Leaf::page_4k) return got;
    }
    if (reclaim(leaves, keep, reclaimed) != 0) continue;
    reclaimed.out_of_memory = true;
    return {};
  }
}

PinReply AddressSpace::pin(Va va, Bytes length, bool write, bool by_force) {
  PinReply reply;
  std::uint64_t reached = 0;
  const std::uint64_t first = page_of(va);
  // What has been pinned is out of reclaim's reach already when the next page is asked for.
  const Range keep{first, first + pages_spanned(va.raw, length).raw};
  // memalloc_pin_save
  zone_ = Zone::unmovable;
  const FaultReply faulted = fault_pages(va, length, {write, true, by_force ? &check_forced_pin : &check_pin}, keep, reached);
  zone_ = Zone::movable_first;
  reply.error = faulted.error;
  reply.faults = faulted.faults;
  reply.reclaimed = faulted.reclaimed;
  reply.batches = faulted.batches;
  if (reply.error == 0) reply.error = leave_movable(keep, reply);
  if (reply.error != 0) {
    if (reached > first) reply.before_error = table_.count(start_of(first), page_bytes * (reached - first));
    return reply;
  }
  reply.range = {va, length, std::make_shared<const DmaMap>(table_.dma_map(va, length))};
  reply.counts = table_.count(va, length);
  for (const FrameExtent& frames : reply.range.map->extents()) pool_->pin(frames);
  return reply;
}

void AddressSpace::unpin(const PinnedRange& range) {
  for (const FrameExtent& frames : range.map->extents()) pool_->unpin(frames);
}

}  // namespace mtsim
