// Fork, and what it makes of later faults.
#include <algorithm>
#include <cerrno>

#include "host/address_space.h"
#include "host/address_space_common.h"

namespace mtsim {
namespace {

using Interval = boost::icl::discrete_interval<std::uint64_t>;
using verbs::Backing;

constexpr Va start_of(std::uint64_t page) { return Va(page * page_bytes.raw); }
constexpr Bytes bytes_of(std::uint64_t pages) { return page_bytes * pages; }

/// Pages that are pinned together: those of one folio. The frames of a THP lie in a segment also once its leaf has been split.
std::uint64_t folio_pages(const PageTable::Part& part) {
  return std::max(leaf_pages(part.leaf), part.frames.layout == Layout::segments ? FrameLaw::segment_pages : std::uint64_t{1});
}

}  // namespace

AddressSpace::AddressSpace(FramePool& pool, const AddressSpaceLimits& limits)
    : pool_(&pool), limits_(limits), family_(std::make_shared<Family>()), table_(pool.law()) {
  family_->members.push_back(this);
}

AddressSpace::~AddressSpace() { std::erase(family_->members, this); }

ForkReply AddressSpace::fork(bool copies_pinned) {
  ForkReply reply;
  auto child = std::make_unique<AddressSpace>(*pool_, limits_);
  child->maps_made_ = maps_made_;
  child->free_ = free_;
  std::map<std::uint64_t, std::shared_ptr<Common>> commons;  // by mmap: parts of one mapping may join again
  for (auto& [first, vma] : vmas_) {
    if (!vma.shared || vma.backing == Backing::io) continue;
    if (vma.common == nullptr) {
      auto& common = commons[vma.made_by];
      if (common == nullptr) common = std::make_shared<Common>(*pool_);
      vma.common = common;
    }
    publish(vma, {first, vma.end});
  }
  for (const auto& [first, vma] : vmas_) {
    if (vma.dontfork) {
      child->free_ += Interval(first, vma.end);
      continue;
    }
    child->vmas_.emplace_hint(child->vmas_.end(), first, vma);
    ++reply.mappings;
    // vma_needs_copy: the child finds pages of shared mappings as it touches them.
    if (!vma.shared) reply.error = copy_pages(vma, first, copies_pinned, *child, reply);
    if (reply.error != 0) {
      child->drop();
      return reply;
    }
    child->swapped_ += swapped_ & Interval(first, vma.end);
    child->stored_.copy(stored_, start_of(first).raw, bytes_of(vma.end - first).raw, start_of(first).raw);
  }
  child->swapped_pages_ = boost::icl::cardinality(child->swapped_);
  family_->swapped += child->swapped_pages_;
  child->family_ = family_;
  family_->members.push_back(child.get());
  reply.child = std::move(child);
  return reply;
}

/// copy_present_ptes, copy_huge_pmd, copy_hugetlb_page_range
int AddressSpace::copy_pages(const Vma& vma, std::uint64_t first, bool copies_pinned, AddressSpace& child, ForkReply& reply) {
  table_.cut(first);
  table_.cut(vma.end);
  std::uint64_t page = first;
  while (const auto part = table_.part_from(page, vma.end)) {
    page = part->first;
    // In whole folios: one that is pinned in part is pinned.
    const std::uint64_t unit = folio_pages(*part), frame = part->frames.first;
    const std::uint64_t low = round_down(frame, unit), high = round_up(part->frames.end(), unit);
    const FramePool::Alike alike = pool_->pinned({low, high - low, part->frames.layout});
    std::uint64_t stop = low + (alike.yes ? round_up(alike.pages, unit) : round_down(alike.pages, unit));
    const bool pinned = alike.yes || stop == low;
    if (stop == low) stop = low + unit;
    const std::uint64_t pages = std::min(stop, part->frames.end()) - frame;
    if (pinned && copies_pinned && part->sharing == Sharing::alone) {
      if (!vma.huge()) table_.split(page, page + pages);
      const Leaf leaf = vma.huge() ? part->leaf : Leaf::page_4k;
      for (const std::uint64_t last = page + pages; page < last;) {
        const auto got = take(leaf, (last - page) / leaf_pages(leaf), {page, last}, reply.reclaimed);
        if (got.empty()) return ENOMEM;
        for (const FrameExtent& frames : got) {
          pool_->copied(part->frames.part(page - part->first, frames.count), frames);
          child.table_.map(start_of(page), frames, leaf);
          page += frames.count;
          reply.leaves += frames.count / leaf_pages(leaf);
          reply.copies += frames.count / leaf_pages(leaf);
          reply.copied += bytes_of(frames.count);
        }
      }
      continue;
    }
    pool_->hold(part->frames.part(0, pages));
    child.table_.map(start_of(page), part->frames.part(0, pages), part->leaf, Sharing::copy_on_write);
    if (part->sharing == Sharing::alone) table_.share(page, page + pages, pinned ? Sharing::with_pins : Sharing::copy_on_write);
    reply.leaves += pages / leaf_pages(part->leaf);
    page += pages;
  }
  return 0;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> AddressSpace::private_ranges() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
  for (const auto& [first, vma] : vmas_)
    if (!vma.shared && !vma.dontfork && vma.backing != Backing::io) out.emplace_back(first, vma.end);
  return out;
}

void AddressSpace::drop() {
  for (const auto& [first, vma] : vmas_)
    for (const FrameExtent& frames : table_.unmap(start_of(first), bytes_of(vma.end - first))) pool_->release(frames);
  vmas_.clear();
}

/// do_wp_page, do_huge_pmd_wp_page, hugetlb_wp. What nobody else maps is kept, whoever may have pinned it. A THP that others map is written
/// by 4 KiB pages.
int AddressSpace::unshare(const Vma& vma, std::uint64_t& page, std::uint64_t stop, Range keep, FaultReply& reply) {
  const PageTable::Part wanted = *table_.part_from(page, stop);
  const std::uint64_t size = leaf_pages(wanted.leaf);
  const std::uint64_t low = round_down(page, size), high = round_up(wanted.end(), size);
  const FramePool::Alike alike = pool_->mapped_once(table_.part_from(low, high)->frames);
  // In whole leaves: one that others map in part is shared.
  std::uint64_t end = low + (alike.yes ? round_down(alike.pages, size) : round_up(alike.pages, size));
  const bool reuse = alike.yes && end > low;
  if (end == low) end = low + size;
  if (reuse) {
    table_.share(low, end, Sharing::alone);
    reply.faults.found += (end - low) / size;
    page = std::min(end, wanted.end());
    return 0;
  }
  const Leaf leaf = vma.huge() ? wanted.leaf : Leaf::page_4k;
  std::uint64_t first = vma.huge() ? low : page;
  if (!vma.huge()) end = std::min(end, wanted.end());
  if (keep.first == keep.end) keep = {first, end};
  const auto got = take(leaf, (end - first) / leaf_pages(leaf), keep, reply.reclaimed);
  if (got.empty()) return ENOMEM;
  for (const FrameExtent& frames : got) {
    for (TakenPages* watcher : watchers_) watcher->taken(first, first + frames.count, leaf);
    std::uint64_t copied = 0;
    for (const FrameExtent& old : table_.unmap(start_of(first), bytes_of(frames.count))) {
      pool_->copied(old, frames.part(copied, old.count));
      copied += old.count;
      if (wanted.sharing == Sharing::with_pins) reply.faults.left_pins += pool_->count_pinned(old);
      pool_->release(old);
    }
    table_.map(start_of(first), frames, leaf);
    first += frames.count;
    const std::uint64_t leaves = frames.count / leaf_pages(leaf);
    (leaf == Leaf::page_4k ? reply.faults.pages_4k : leaf == Leaf::page_2m ? reply.faults.pages_2m : reply.faults.pages_1g) += leaves;
    reply.faults.copied += bytes_of(frames.count);
  }
  page = std::min(first, wanted.end());
  return 0;
}

std::uint64_t AddressSpace::map_common(const Vma& vma, std::uint64_t page, PageTable::Gap absent, std::uint64_t stop, FaultReply& reply) {
  const PageTable& there = vma.common->table;
  const auto wanted = there.part_from(page, std::min(stop, absent.end));
  if (!wanted || wanted->first != page) return page;
  const std::uint64_t size = leaf_pages(wanted->leaf);
  const std::uint64_t low = round_down(page, size), high = round_up(wanted->end(), size);
  // Whole leaves, but where this process has let go of a part of one.
  const bool whole = absent.first <= low && high <= absent.end;
  const PageTable::Part part = whole ? *there.part_from(low, high) : *wanted;
  const Leaf leaf = whole ? wanted->leaf : Leaf::page_4k;
  pool_->hold(part.frames);
  table_.map(start_of(part.first), part.frames, leaf);
  forget_swapped(part.first, part.end());
  reply.faults.found += part.frames.count / leaf_pages(leaf);
  return wanted->end();
}

/// madvise_dontneed_single_vma: only the page table forgets them.
void AddressSpace::keep_shared(std::uint64_t made_by, Range pages) {
  std::shared_ptr<Common> common;
  for (const auto& [first, vma] : vmas_)
    if (vma.made_by == made_by && vma.common != nullptr) common = vma.common;
  if (common == nullptr) common = std::make_shared<Common>(*pool_);
  for (auto& [first, vma] : vmas_)
    if (vma.made_by == made_by) vma.common = common;
  publish(holding(pages.first)->second, {pages.first, pages.end});
}

/// In whole leaves, also where the range begins or ends inside one, since the file keeps a huge page whole; but for those of which others
/// have brought a part already, page by page.
void AddressSpace::publish(const Vma& vma, PageTable::Gap pages) {
  PageTable& there = vma.common->table;
  std::uint64_t page = pages.first;
  while (auto part = table_.part_from(page, pages.end)) {
    const std::uint64_t size = leaf_pages(part->leaf);
    const std::uint64_t low = page == pages.first ? round_down(part->first, size) : part->first;
    part = table_.part_from(low, round_up(part->end(), size));
    const auto gap = there.gap_around(part->first, part->first, part->end());
    if (!gap) {
      page = std::max(pages.first + 1, std::min(there.present_until(part->first), part->end()));
      continue;
    }
    const PageTable::Part missing = *table_.part_from(part->first, gap->end);
    const bool whole = missing.first % size == 0 && missing.frames.count % size == 0;
    pool_->hold(missing.frames);
    there.map(start_of(missing.first), missing.frames, whole ? missing.leaf : Leaf::page_4k);
    page = missing.end();
  }
}

}  // namespace mtsim
