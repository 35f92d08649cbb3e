#include "host/iommu_caches.h"

#include <algorithm>

namespace mtsim::host {

IommuCaches::IommuCaches(const IommuParams& params, unsigned levels)
    : levels_(levels), iotlb_(params.iotlb_entries, params.iotlb_ways, params.iotlb_replacement), leaves_(params.iotlb_entries) {
  for (unsigned level = 2; level <= levels; ++level) structures_.emplace_back(params.structure_entries, 0, params.iotlb_replacement);
}

const IoPageTable::Leaf* IommuCaches::find(DevicePage of) {
  for (const unsigned log : sizes_)
    if (const auto place = iotlb_.find(tag(of, log))) return &leaves_[*place];
  return nullptr;
}

void IommuCaches::fill(DevicePage of, const IoPageTable::Leaf& leaf) {
  if (std::find(sizes_.begin(), sizes_.end(), leaf.log) == sizes_.end()) sizes_.push_back(leaf.log);
  if (const auto place = iotlb_.put(tag(of, leaf.log))) leaves_[*place] = leaf;
}

unsigned IommuCaches::first_level(DevicePage of, unsigned log) {
  for (unsigned level = level_of(log); level < levels_; ++level)
    if (structures_[level - 1].find(tag(of, 12 + 9 * level))) return level;
  return levels_;
}

void IommuCaches::fill_structures(DevicePage of, unsigned log) {
  for (unsigned level = level_of(log); level < levels_; ++level) structures_[level - 1].put(tag(of, 12 + 9 * level));
}

void IommuCaches::forget(std::uint32_t domain, std::uint64_t first, std::uint64_t count) {
  iotlb_.drop_if([&](std::uint64_t tag) {
    if (tag >> domain_bit != domain) return false;
    const unsigned shift = static_cast<unsigned>(tag >> 48 & 15) * 9;
    const std::uint64_t begin = (tag & ((std::uint64_t{1} << 48) - 1)) << shift;
    return begin < first + count && first < begin + (std::uint64_t{1} << shift);
  });
}

void IommuCaches::forget_all(std::uint32_t domain) {
  const auto of_domain = [&](std::uint64_t tag) { return tag >> domain_bit == domain; };
  iotlb_.drop_if(of_domain);
  for (TagStore& structures : structures_) structures.drop_if(of_domain);
}

}  // namespace mtsim::host
