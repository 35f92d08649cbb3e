// Without an IOMMU that translates: the device uses physical addresses, entry by entry (Linux kernel/dma/direct.c, dma_direct_map_sg). An
// IOMMU in passthrough costs the kernel the same; it differs in hardware only.
#include "kernel/dma_mapping.h"

namespace mtsim::kernel {
namespace {

Time times(Time each, std::uint64_t n) { return each * static_cast<std::int64_t>(n); }

class DirectMapper : public DmaMapper {
 public:
  explicit DirectMapper(const DmaMapperContext& context) : params_(context.kernel) {}

  engine::Task<int> map(Call& call, Request request, DmaMapping& out) override {
    out.device = request.frames;
    out.runs = request.sg_entries;
    co_await call.work(Call::Step::dma_map, ports::Work::dma_map, times(params_.dma_map, request.sg_entries));
    co_return 0;
  }

  engine::Task<int> unmap(Call& call, const DmaMapping& mapping) override {
    co_await call.work(Call::Step::dma_map, ports::Work::dma_map, times(params_.dma_unmap, mapping.runs));
    co_return 0;
  }

  engine::Task<int> map_pages(Call& call, const std::vector<FrameExtent>& frames, std::uint64_t each,
                              std::vector<FrameExtent>& out) override {
    const std::uint64_t mapped = count(frames) / each;
    call.cost().dma_runs += mapped;
    out = frames;
    co_await call.work(Call::Step::dma_map, ports::Work::dma_map, times(params_.dma_map, mapped));
    co_return 0;
  }

  engine::Task<int> unmap_pages(Call& call, const std::vector<FrameExtent>& device, std::uint64_t each) override {
    const std::uint64_t mapped = count(device) / each;
    call.cost().dma_runs += mapped;
    co_await call.work(Call::Step::dma_map, ports::Work::dma_map, times(params_.dma_unmap, mapped));
    co_return 0;
  }

  FrameLaw law(const FrameLaw& frames) const override { return frames; }

 private:
  static std::uint64_t count(const std::vector<FrameExtent>& extents) {
    std::uint64_t pages = 0;
    for (const FrameExtent& extent : extents) pages += extent.count;
    return pages;
  }

  const KernelParams& params_;
};

const auto make = [](const DmaMapperContext& context) { return std::make_unique<DirectMapper>(context); };
const DmaMappers::Entrant off("off", "no IOMMU: the NIC uses physical addresses", make);
const DmaMappers::Entrant passthrough("passthrough", "an IOMMU that leaves the NIC's addresses as they are: physical", make);

}  // namespace
}  // namespace mtsim::kernel
