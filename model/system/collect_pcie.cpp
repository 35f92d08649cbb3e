#include "system/collect_pcie.h"

#include <vector>

namespace mtsim::system {
namespace {

using ports::Purpose;

void add(results::Report& report, const std::string& name, const char* unit, const std::string& meaning, std::uint64_t value) {
  report.counters.push_back({name, unit, meaning, value});
}

void add_direction(const std::string& name, const pcie::TlpCounts& one, const pcie::TlpCounts& other, const std::vector<Purpose>& purposes,
                   results::Report& report) {
  for (const Purpose purpose : purposes) {
    pcie::TlpCount sum = one[purpose];
    sum += other[purpose];
    const std::string what = ports::purpose_names[unsigned(purpose)];
    add(report, name + "." + what + "_tlps", "count", "TLPs for " + what, sum.tlps);
    add(report, name + "." + what, "bytes", "bytes of them, headers included", sum.bytes());
  }
}

}  // namespace

void collect_purposes(const std::string& link, const pcie::Link::Counts& counts, results::Report& report) {
  add_direction(link + ".up", counts.reads, counts.writes,
                {Purpose::payload, Purpose::tables, Purpose::wqes, Purpose::cqes, Purpose::commands}, report);
  add_direction(link + ".down", counts.completions, counts.mmio_writes,
                {Purpose::payload, Purpose::tables, Purpose::wqes, Purpose::commands, Purpose::doorbells}, report);
}

void collect_root_complex(const std::string& name, const host::RootComplex& root, results::Report& report) {
  if (const host::Iommu* iommu = root.iommu()) {
    const host::Iommu::Counts& c = iommu->counts();
    add(report, name + ".iommu.lookups", "count", "addresses of devices looked up: one for each page of a burst", c.lookups);
    add(report, name + ".iommu.hits", "count", "of these, found in the IOTLB", c.hits);
    add(report, name + ".iommu.merged", "count", "misses that waited for another's walk", c.merged);
    add(report, name + ".iommu.walks", "count", "page table walks", c.walks);
    add(report, name + ".iommu.reads", "count", "page table entries that they read", c.reads);
    add(report, name + ".iommu.miss_time", "ns", "from look-up to translation, over all misses",
        static_cast<std::uint64_t>(c.miss_total.raw / 1000));
    add(report, name + ".iommu.faults", "count", "addresses that the page table did not have", c.faults);
    add(report, name + ".iommu.invalidations", "count", "of the IOTLB, by page or all at once", c.invalidated);
  }
  if (const host::Llc* llc = root.llc()) {
    const host::Llc::Counts& c = llc->counts();
    add(report, name + ".llc.reads", "count", "lines that devices and page table walks read", c.reads);
    add(report, name + ".llc.read_hits", "count", "of these, found in the last-level cache", c.read_hits);
    add(report, name + ".llc.writes", "count", "lines that devices wrote", c.writes);
    add(report, name + ".llc.write_hits", "count", "of these, found in the last-level cache", c.write_hits);
  }
}

}  // namespace mtsim::system
