// What an IOMMU remembers of page tables: translations (the IOTLB), and for each level above the last where a walk may begin (the
// paging-structure caches). State alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/io_page_table.h"
#include "host/iommu_params.h"

namespace mtsim::host {

/// A device's domain and one of its 4 KiB pages.
struct DevicePage {
  std::uint32_t domain = 0;
  std::uint64_t page = 0;
};

class IommuCaches {
 public:
  /// `levels` of the table, 3 to 5.
  IommuCaches(const IommuParams& params, unsigned levels);

  /// The translation of a page, if the IOTLB has it; it counts as used. It may be one that the table no longer has.
  const IoPageTable::Leaf* find(DevicePage of);
  void fill(DevicePage of, const IoPageTable::Leaf& leaf);

  /// Levels of the table that a walk to an entry of 2^log bytes reads, the uppermost as a number: 4 means levels 4, 3 ... down to that of
  /// the entry, which is 1 for 4 KiB. What the paging-structure caches find counts as used.
  unsigned first_level(DevicePage of, unsigned log);
  /// A walk has been there.
  void fill_structures(DevicePage of, unsigned log);

  /// Device pages [first, first + count) of a domain; where a walk begins stays.
  void forget(std::uint32_t domain, std::uint64_t first, std::uint64_t count);
  void forget_all(std::uint32_t domain);

  static constexpr unsigned level_of(unsigned log) { return (log - 12) / 9 + 1; }

 private:
  static constexpr unsigned domain_bit = 52;
  static std::uint64_t tag(DevicePage of, unsigned log) {
    return std::uint64_t{of.domain} << domain_bit | std::uint64_t{level_of(log) - 1} << 48 | of.page >> (log - 12);
  }

  unsigned levels_;
  TagStore iotlb_;
  std::vector<IoPageTable::Leaf> leaves_;  ///< by place in the IOTLB
  std::vector<unsigned> sizes_;            ///< of entries there have been, as powers of two
  std::vector<TagStore> structures_;       ///< [0]: entries of level 2, which lead to tables of level 1
};

}  // namespace mtsim::host
