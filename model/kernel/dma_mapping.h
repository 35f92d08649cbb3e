// How pinned memory gets addresses that a device may use, and loses them again (Linux kernel/dma/mapping.c, dma_map_sgtable). What a
// mapper keeps is pure state in classes of its own (iova_allocator.h, iova_flush_queue.h); the mapper gives it time.
#pragma once

#include <memory>

#include "base/io_page_table.h"
#include "base/registry.h"
#include "engine/flow.h"
#include "engine/scheduler.h"
#include "engine/server.h"
#include "host/address_space.h"
#include "kernel/call.h"
#include "kernel/iommu_params.h"
#include "kernel/kernel_params.h"

namespace mtsim::kernel {

/// A pinned range as the device addresses it. Default: not mapped, which is no cost to unmap.
struct DmaMapping {
  std::shared_ptr<const DmaMap> device;  ///< at its addresses
  std::uint64_t runs = 0;                ///< R: entries of the list as mapped
  std::uint64_t iopte = 0;               ///< E: entries of the IOMMU's page table
};

class DmaMapper {
 public:
  virtual ~DmaMapper() = default;

  struct Request {
    std::shared_ptr<const DmaMap> frames;
    std::uint64_t sg_entries = 0;
    Bytes max_segment;  ///< of an entry as mapped
  };
  /// ib_dma_map_sgtable_attrs: 0 or ENOMEM, when there are no I/O virtual addresses left. All of its time is the step dma_map.
  virtual engine::Task<int> map(Call& call, Request request, DmaMapping& out) = 0;
  /// ib_dma_unmap_sgtable_attrs. The answer is 0.
  virtual engine::Task<int> unmap(Call& call, const DmaMapping& mapping) = 0;

  /// ib_dma_map_page of one page after the other, each of `each` 4 KiB pages, for on-demand paging (Linux 6.12 core/umem_odp.c): `out` is
  /// the extents of the same pages as the device addresses them, by `law(..)`. 0 or EFAULT.
  virtual engine::Task<int> map_pages(Call& call, const std::vector<FrameExtent>& frames, std::uint64_t each,
                                      std::vector<FrameExtent>& out) = 0;
  /// ib_dma_unmap_page of each page that `map_pages` gave. The answer is 0.
  virtual engine::Task<int> unmap_pages(Call& call, const std::vector<FrameExtent>& device, std::uint64_t each) = 0;
  /// The law of the device's addresses, where that of the host's frames is `frames`.
  virtual FrameLaw law(const FrameLaw& frames) const = 0;

  /// The lock of the tree of I/O virtual addresses, for the report; null where there is none.
  virtual const engine::Server* rbtree_lock() const { return nullptr; }
  /// What the root complex translates by; null where devices use physical addresses.
  virtual const IoPageTable* io_page_table() const { return nullptr; }
};

/// What a mapper works with. All of it outlives the mapper.
struct DmaMapperContext {
  engine::Scheduler& scheduler;
  const KernelParams& kernel;
  const IommuParams& iommu;
  FrameLaw frames;  ///< where the host's frames lie
};
using DmaMappers = Registry<DmaMapper, const DmaMapperContext&>;

}  // namespace mtsim::kernel
