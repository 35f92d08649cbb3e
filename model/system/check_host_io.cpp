#include "system/check_host_io.h"

#include <fmt/format.h>

#include "system/require.h"

namespace mtsim::system {
namespace {

void check_link(const Config& config, const pcie::LinkParams& pcie) {
  if (pcie.completion.raw != 0) {
    require_power_of_two(config, "pcie.completion", pcie.completion.raw);
    if (pcie.completion.raw < 64 || pcie.completion > pcie.max_payload)
      config.fail("pcie.completion", "must be 0B, or from 64B to pcie.max_payload");
  }
  if (pcie.completion_buffer.raw != 0 && pcie.completion_buffer < pcie.max_read_request)
    config.fail("pcie.completion_buffer", "must be 0B, or hold what one request asks for: pcie.max_read_request");
  if (pcie.write_data_credits.raw != 0 && pcie.write_data_credits < pcie.max_payload)
    config.fail("pcie.write_data_credits", "must be 0B, or be enough for one write of pcie.max_payload");
}

void check_iommu(const Config& config, const host::IommuParams& iommu) {
  if (iommu.levels == 1 || iommu.levels == 2) config.fail("host.iommu.levels", "must be 0, or 3 to 5");
  if (iommu.iotlb_ways == 0 && iommu.iotlb_entries > 4096)
    config.fail("host.iommu.iotlb_entries", "must not be above 4096 with a fully associative IOTLB (host.iommu.iotlb_ways 0)");
  if (iommu.iotlb_ways != 0 && iommu.iotlb_entries % iommu.iotlb_ways != 0)
    config.fail("host.iommu.iotlb_ways", fmt::format("must divide host.iommu.iotlb_entries, which is {}", iommu.iotlb_entries));
}

void check_llc(const Config& config, const host::LlcParams& llc) {
  if (llc.size.raw % (host::Llc::line * llc.ways) != 0)
    config.fail("host.llc.size", fmt::format("must be a whole number of sets: of {} ways of 64B each", llc.ways));
  if (llc.write_ways > llc.ways) config.fail("host.llc.write_ways", fmt::format("must not be above host.llc.ways, which is {}", llc.ways));
}

}  // namespace

void check_host_io(const Config& config, const HostSettings& host) {
  check_link(config, host.pcie);
  check_iommu(config, host.io_translation);
  check_llc(config, host.llc);
}

}  // namespace mtsim::system
