#include "kernel/iova_allocator.h"

#include <bit>
#include <cassert>
#include <iterator>
#include <utility>

#include "base/units.h"

namespace mtsim::kernel {
namespace {

/// order_base_2
unsigned order_of(std::uint64_t pages) { return static_cast<unsigned>(std::bit_width(pages - 1)); }

}  // namespace

IovaAllocator::Grant IovaAllocator::allocate(std::uint32_t cpu, std::uint64_t pages) {
  assert(pages > 0);
  Grant grant;
  if (pages <= most_cached_pages) {
    pages = std::bit_ceil(pages);
    grant.page = from_cache(caches_[order_of(pages)], cpu);
    if (grant.page) return grant;
  }
  grant.page = from_tree(pages);
  grant.tree_operations = 1;
  if (!grant.page) {
    grant.tree_operations += empty_caches() + 1;
    grant.page = from_tree(pages);
  }
  return grant;
}

std::uint64_t IovaAllocator::release(std::uint32_t cpu, std::uint64_t page, std::uint64_t pages) {
  if (pages <= most_cached_pages) {
    to_cache(caches_[order_of(std::bit_ceil(pages))], cpu, page);
    return 0;
  }
  to_tree(page, pages);
  return 1;
}

// __iova_rcache_get
std::optional<std::uint64_t> IovaAllocator::from_cache(Cache& cache, std::uint32_t cpu) {
  if (cpu >= cache.cpus.size()) cache.cpus.resize(cpu + 1);
  CpuCache& own = cache.cpus[cpu];
  if (own.loaded.empty()) {
    if (!own.previous.empty()) {
      std::swap(own.loaded, own.previous);
    } else if (!cache.depot.empty()) {
      own.loaded = std::move(cache.depot.back());
      cache.depot.pop_back();
    } else {
      return std::nullopt;
    }
  }
  const std::uint64_t page = own.loaded.back();
  own.loaded.pop_back();
  return page;
}

// __iova_rcache_insert
void IovaAllocator::to_cache(Cache& cache, std::uint32_t cpu, std::uint64_t page) {
  if (cpu >= cache.cpus.size()) cache.cpus.resize(cpu + 1);
  CpuCache& own = cache.cpus[cpu];
  if (own.loaded.size() == magazine_size) {
    if (own.previous.size() < magazine_size) {
      std::swap(own.loaded, own.previous);
    } else {
      cache.depot.push_back(std::exchange(own.loaded, {}));
    }
  }
  own.loaded.push_back(page);
}

// __alloc_and_insert_iova_range: downwards from where the last range stands; when nothing is found, once more from the top down to there.
std::optional<std::uint64_t> IovaAllocator::from_tree(std::uint64_t pages) {
  const std::uint64_t align = std::bit_ceil(pages);
  const auto search = [&](std::uint64_t low, std::uint64_t high) -> std::optional<std::uint64_t> {
    for (auto at = gaps_.lower_bound(high); at != gaps_.begin();) {
      --at;
      const auto [first, end] = *at;
      if (first < low) return std::nullopt;
      if (end - first < pages) continue;
      const std::uint64_t page = round_down(end - pages, align);
      if (page < first) continue;
      gaps_.erase(at);
      if (first < page) gaps_.emplace(first, page);
      if (page + pages < end) gaps_.emplace(page + pages, end);
      return page;
    }
    return std::nullopt;
  };
  std::optional<std::uint64_t> page = search(first_, search_);
  if (!page && search_ < end_) page = search(search_, end_);
  if (page) search_ = *page;
  return page;
}

// remove_iova, with __cached_rbnode_delete_update
void IovaAllocator::to_tree(std::uint64_t page, std::uint64_t pages) {
  std::uint64_t first = page, end = page + pages;
  auto after = gaps_.lower_bound(page);
  assert(after == gaps_.end() || end <= after->first);
  if (after != gaps_.end() && after->first == end) {
    end = after->second;
    after = gaps_.erase(after);
  }
  if (after != gaps_.begin()) {
    const auto before = std::prev(after);
    assert(before->second <= page);
    if (before->second == page) {
      first = before->first;
      gaps_.erase(before);
    }
  }
  gaps_.emplace(first, end);
  // A gap ends where the next range in the tree begins, or at the top.
  if (page >= search_) search_ = end;
}

// free_cpu_cached_iovas and free_global_cached_iovas
std::uint64_t IovaAllocator::empty_caches() {
  std::uint64_t freed = 0;
  for (unsigned order = 0; order < cached_orders; ++order) {
    const auto empty = [&](const Magazine& magazine) {
      for (const std::uint64_t page : magazine) to_tree(page, std::uint64_t{1} << order);
      freed += magazine.size();
    };
    for (const CpuCache& cpu : caches_[order].cpus) {
      empty(cpu.loaded);
      empty(cpu.previous);
    }
    for (const Magazine& magazine : caches_[order].depot) empty(magazine);
    caches_[order] = {};
  }
  return freed;
}

std::uint64_t IovaAllocator::free_pages() const {
  std::uint64_t sum = 0;
  for (const auto& [first, end] : gaps_) sum += end - first;
  return sum;
}

}  // namespace mtsim::kernel
