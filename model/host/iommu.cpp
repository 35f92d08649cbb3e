#include "host/iommu.h"

#include <algorithm>

namespace mtsim::host {
namespace {

/// Lines of page tables have numbers of their own, above those of memory.
std::uint64_t table_line(const DevicePage& of, unsigned level) {
  const std::uint64_t entry = of.page >> (9 * (level - 1));
  return std::uint64_t{1} << 62 | std::uint64_t{level} << 58 | std::uint64_t{of.domain} << 50 | entry / 8;
}

}  // namespace

Iommu::Iommu(const IommuParams& params, unsigned levels, Pa identity, Llc* llc)
    : params_(params), levels_(levels), identity_(identity), llc_(llc), caches_(params, levels), free_at_(params.walks) {}

void Iommu::add_domain(const IoPageTable& table) {
  auto domain = std::make_unique<Domain>();
  domain->iommu = this;
  domain->number = static_cast<std::uint32_t>(domains_.size());
  domain->table = &table;
  table.keep_told(*domain);
  domains_.push_back(std::move(domain));
}

IoPageTable::Leaf Iommu::entry(std::uint32_t domain, Pa device, bool& fault) const {
  const Pa page(device.raw & ~(page_bytes.raw - 1));
  if (device < identity_) return {page, page, 12};
  const auto leaf = domains_[domain]->table->leaf(device);
  fault = !leaf;
  return leaf.value_or(IoPageTable::Leaf{page, page, 12});
}

Iommu::Answer Iommu::translate(std::uint32_t domain, Pa device, Time now) {
  settle(now);
  ++counts_.lookups;
  const DevicePage of{domain, device.raw / page_bytes.raw};
  const auto answer = [&](const IoPageTable::Leaf& leaf, Time at, bool fault) {
    const Bytes into = device - leaf.device;
    return Answer{leaf.address + into, Bytes(std::uint64_t{1} << leaf.log) - into, at, fault};
  };
  if (const IoPageTable::Leaf* known = caches_.find(of)) {
    ++counts_.hits;
    return answer(*known, now, false);
  }
  for (const Walk& other : under_way_)
    if (!other.forgotten && other.of.domain == domain && other.leaf.device.raw >> other.leaf.log == device.raw >> other.leaf.log) {
      ++counts_.merged;
      counts_.miss_total += other.end - now;
      counts_.miss_longest = std::max(counts_.miss_longest, other.end - now);
      return answer(other.leaf, other.end, other.fault);
    }
  Walk own;
  own.of = of;
  own.leaf = entry(domain, device, own.fault);
  const auto place = std::min_element(free_at_.begin(), free_at_.end());
  const Time start = std::max(now, *place);
  own.end = walk(of, own.leaf.log, start);
  *place = own.end;
  ++usage_.requests;
  usage_.wait(start - now);
  usage_.busy += own.end - start;
  usage_.most = std::max<std::uint64_t>(
      usage_.most, static_cast<std::uint64_t>(std::count_if(free_at_.begin(), free_at_.end(), [&](Time t) { return t > now; })));
  counts_.faults += own.fault;
  counts_.miss_total += own.end - now;
  counts_.miss_longest = std::max(counts_.miss_longest, own.end - now);
  insert(under_way_, own);
  insert(structures_, own);
  return answer(own.leaf, own.end, own.fault);
}

// Walks begin in order, so that what ended before this one begins can be put into the paging-structure caches once and for all.
Time Iommu::walk(const DevicePage& of, unsigned log, Time start) {
  const auto later = std::find_if(structures_.begin(), structures_.end(), [&](const Walk& w) { return w.end > start; });
  for (auto done = structures_.begin(); done != later; ++done)
    if (!done->forgotten) caches_.fill_structures(done->of, done->leaf.log);
  structures_.erase(structures_.begin(), later);
  const unsigned last = IommuCaches::level_of(log), first = caches_.first_level(of, log);
  Time end = start;
  const auto read = [&](std::uint64_t line) {
    ++counts_.reads;
    end += params_.walk_read;
    if (llc_ != nullptr && !llc_->walk(line)) end += llc_->params().miss;
  };
  for (unsigned level = first; level >= last; --level) {
    // Where a guest's entry lies must itself be found first.
    for (unsigned host = params_.nested_levels; host >= 1; --host) read(table_line(of, level) ^ std::uint64_t{host} << 54);
    read(table_line(of, level));
  }
  for (unsigned host = params_.nested_levels; host >= 1; --host) read(table_line(of, host) ^ std::uint64_t{15} << 54);
  ++counts_.walks;
  return end;
}

void Iommu::settle(Time now) {
  auto done = under_way_.begin();
  for (; done != under_way_.end() && done->end <= now; ++done)
    if (!done->fault && !done->forgotten) caches_.fill(done->of, done->leaf);
  under_way_.erase(under_way_.begin(), done);
}

void Iommu::insert(std::vector<Walk>& walks, const Walk& walk) {
  walks.insert(std::upper_bound(walks.begin(), walks.end(), walk, [](const Walk& a, const Walk& b) { return a.end < b.end; }), walk);
}

engine::Usage Iommu::usage(Time now) const {
  engine::Usage usage = usage_;
  for (const Time end : free_at_) usage.busy -= std::max(end - now, Time());
  return usage;
}

void Iommu::Domain::forget(std::uint64_t first, std::uint64_t count) {
  ++iommu->counts_.invalidated;
  iommu->caches_.forget(number, first, count);
  for (Walk& walk : iommu->under_way_) {
    const std::uint64_t begin = walk.leaf.device.raw / page_bytes.raw;
    if (walk.of.domain == number && begin < first + count && first < begin + (std::uint64_t{1} << (walk.leaf.log - 12)))
      walk.forgotten = true;
  }
}

void Iommu::Domain::forget_all() {
  ++iommu->counts_.invalidated;
  iommu->caches_.forget_all(number);
  for (auto* walks : {&iommu->under_way_, &iommu->structures_})
    for (Walk& walk : *walks)
      if (walk.of.domain == number) walk.forgotten = true;
}

}  // namespace mtsim::host
