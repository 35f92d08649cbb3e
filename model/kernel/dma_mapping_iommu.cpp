// An IOMMU that translates (Linux 6.12 drivers/iommu/dma-iommu.c, iommu_dma_map_sg): one range of I/O virtual addresses for a whole list,
// however its frames are scattered, so that the NIC sees them as one run.
//
// A CPU's cache of addresses is that of the thread which runs on it: threads mostly stay on their CPU. Queues and tables of the driver
// (dma_alloc_coherent) are left at their physical addresses, as if each page of theirs had an entry of its own for that.
#include <algorithm>
#include <cerrno>

#include "kernel/dma_mapping.h"
#include "kernel/iova_allocator.h"
#include "kernel/iova_flush_queue.h"
#include "kernel/sg_table.h"

namespace mtsim::kernel {
namespace {

constexpr std::uint64_t first_frame = FrameLaw::memory_start.raw / page_bytes.raw;

Time times(Time each, std::uint64_t n) { return each * static_cast<std::int64_t>(n); }

/// Physical memory ends below 2^45 (host.memory.size is at most 16 TiB): the upper half of 46 bits or more lies above it.
IovaAllocator addresses(std::uint32_t bits) {
  const std::uint64_t end = (std::uint64_t{1} << bits) / page_bytes.raw;
  return {end / 2, end};
}

class IommuMapper : public DmaMapper {
 public:
  explicit IommuMapper(const DmaMapperContext& context)
      : scheduler_(context.scheduler),
        params_(context.iommu),
        addresses_(addresses(params_.address_bits)),
        queue_(params_.flush_entries, params_.flush_interval),
        table_(context.frames, params_.entry_sizes()) {}

  engine::Task<int> map(Call& call, Request request, DmaMapping& out) override {
    const DmaMap& frames = *request.frames;
    const std::uint64_t pages = frames.pages().raw;
    out.device = std::make_shared<const DmaMap>();
    if (pages == 0) co_return 0;
    // iommu_dma_alloc_iova
    let_timer_end();
    const IovaAllocator::Grant grant = addresses_.allocate(call.thread(), pages);
    co_await on_addresses(call, pages <= IovaAllocator::most_cached_pages, grant.tree_operations, Time());
    if (!grant.page) {
      out = {};
      co_return ENOMEM;
    }
    // iommu_map_sg: iommu_pgsize chooses each entry's size; neighbours in memory are one run whatever entry of the list they stand in.
    out.iopte = frames.count_leaves(*grant.page, params_.entry_sizes());
    call.cost().iopte += out.iopte;
    co_await call.work(Call::Step::dma_map, ports::Work::dma_map, times(params_.map_entry, out.iopte));
    // __finalise_sg
    out.runs = count_joined_segments(frames, request.max_segment);
    const FrameExtent run{*grant.page - first_frame, pages, Layout::linear};
    out.device = std::make_shared<const DmaMap>(FrameLaw(), std::vector<FrameExtent>{run}, frames.lead(), frames.length());
    table_.map(out.device->page(0), request.frames);
    co_return 0;
  }

  // __iommu_dma_unmap
  engine::Task<int> unmap(Call& call, const DmaMapping& mapping) override {
    if (mapping.device == nullptr || mapping.device->pages().raw == 0) co_return 0;
    const Pa start = mapping.device->page(0);
    const IovaFlushQueue::Range range{start.raw / page_bytes.raw, mapping.device->pages().raw};
    const bool strict = params_.invalidation == Invalidation::strict;
    // iommu_unmap_fast, iommu_iotlb_sync
    table_.unmap(start);
    call.cost().iopte += mapping.iopte;
    co_await call.work(Call::Step::dma_map, ports::Work::dma_map,
                       times(params_.unmap_entry, mapping.iopte) + (strict ? params_.iotlb_sync : params_.queue_entry));
    if (strict) table_.invalidate(range.page, range.pages);
    // iommu_dma_free_iova
    let_timer_end();
    std::vector<IovaFlushQueue::Freed> freed;
    bool flushed = false;
    if (strict) freed.push_back({call.thread(), range});
    else flushed = queue_.queue(call.thread(), range, scheduler_.now(), freed);
    std::uint64_t cached = 0, tree_operations = 0;
    for (const IovaFlushQueue::Freed& free : freed) {
      const std::uint64_t operations = addresses_.release(free.cpu, free.range.page, free.range.pages);
      tree_operations += operations;
      cached += operations == 0;
    }
    if (flushed) table_.invalidate_all();
    co_await on_addresses(call, cached, tree_operations, flushed ? params_.iotlb_flush : Time());
    co_return 0;
  }

  // iommu_dma_map_page, page after page. Which page gets which of their addresses does not matter to anybody: they are given out in rising
  // order, so that neighbours stay extents. The tree's lock is held for all of them at a time.
  engine::Task<int> map_pages(Call& call, const std::vector<FrameExtent>& frames, std::uint64_t each,
                              std::vector<FrameExtent>& out) override {
    std::uint64_t pages = 0;
    for (const FrameExtent& extent : frames) pages += extent.count;
    let_timer_end();
    std::vector<std::uint64_t> addresses;
    addresses.reserve(pages / each);
    std::uint64_t cached = 0, tree_operations = 0;
    bool room = true;
    while (room && addresses.size() < pages / each) {
      const IovaAllocator::Grant grant = addresses_.allocate(call.thread(), each);
      tree_operations += grant.tree_operations;
      cached += grant.tree_operations == 0;
      if (grant.page) addresses.push_back(*grant.page);
      else room = false;
    }
    co_await on_addresses(call, cached, tree_operations, Time());
    if (!room) {
      for (const std::uint64_t page : addresses) addresses_.release(call.thread(), page, each);
      co_return EFAULT;
    }
    std::sort(addresses.begin(), addresses.end());
    out.clear();
    auto extent = frames.begin();
    std::uint64_t within = 0;
    for (const std::uint64_t page : addresses) {
      const FrameExtent device{page - first_frame, each, Layout::linear};
      if (!out.empty() && out.back().continues_in(device)) out.back().count += each;
      else out.push_back(device);
      table_.map_pages(page, extent->part(within, each), each);
      within += each;
      if (within == extent->count) {
        ++extent;
        within = 0;
      }
    }
    const std::uint64_t mapped = pages / each;
    call.cost().dma_runs += mapped;
    call.cost().iopte += mapped;
    co_await call.work(Call::Step::dma_map, ports::Work::dma_map, times(params_.map_entry, mapped));
    co_return 0;
  }

  engine::Task<int> unmap_pages(Call& call, const std::vector<FrameExtent>& device, std::uint64_t each) override {
    const bool strict = params_.invalidation == Invalidation::strict;
    std::uint64_t mapped = 0, flushes = 0;
    std::vector<IovaFlushQueue::Freed> freed;
    let_timer_end();
    for (const FrameExtent& extent : device)
      for (std::uint64_t i = 0; i < extent.count; i += each, ++mapped) {
        const IovaFlushQueue::Range range{extent.first + i + first_frame, each};
        table_.unmap_pages(range.page, each);
        if (strict) {
          freed.push_back({call.thread(), range});
          table_.invalidate(range.page, range.pages);
        } else flushes += queue_.queue(call.thread(), range, scheduler_.now(), freed);
      }
    call.cost().dma_runs += mapped;
    call.cost().iopte += mapped;
    co_await call.work(Call::Step::dma_map, ports::Work::dma_map,
                       times(params_.unmap_entry + (strict ? params_.iotlb_sync : params_.queue_entry), mapped));
    if (flushes != 0) table_.invalidate_all();
    std::uint64_t cached = 0, tree_operations = 0;
    for (const IovaFlushQueue::Freed& free : freed) {
      const std::uint64_t operations = addresses_.release(free.cpu, free.range.page, free.range.pages);
      tree_operations += operations;
      cached += operations == 0;
    }
    co_await on_addresses(call, cached, tree_operations, times(params_.iotlb_flush, flushes));
    co_return 0;
  }

  FrameLaw law(const FrameLaw&) const override { return FrameLaw(); }

  const engine::Server* rbtree_lock() const override { return &lock_; }
  const IoPageTable* io_page_table() const override { return &table_; }

 private:
  /// The CPU takes what it took from caches and from the tree, whose lock it spins for: it does nothing else while it waits.
  Call::StepRun on_addresses(Call& call, std::uint64_t cached, std::uint64_t tree_operations, Time besides) {
    call.cost().iova_rbtree += tree_operations;
    Time span = besides + times(params_.iova_cache, cached);
    if (tree_operations != 0) span += lock_.book(scheduler_.now(), times(params_.iova_rbtree, tree_operations)).end - scheduler_.now();
    return call.work(Call::Step::dma_map, ports::Work::dma_map, span);
  }

  /// What the flush queue's timer does in an interrupt is charged to nobody; the IOTLB forgets when the next call notices.
  void let_timer_end() {
    std::vector<IovaFlushQueue::Freed> freed;
    queue_.settle(scheduler_.now(), freed);
    if (!freed.empty()) table_.invalidate_all();
    for (const IovaFlushQueue::Freed& free : freed) addresses_.release(free.cpu, free.range.page, free.range.pages);
  }

  engine::Scheduler& scheduler_;
  const IommuParams& params_;
  IovaAllocator addresses_;
  IovaFlushQueue queue_;
  engine::Server lock_;  ///< iova_rbtree_lock
  IoPageTable table_;
};

const DmaMappers::Entrant registered("translate", "an IOMMU that translates: the NIC uses I/O virtual addresses, one run for each MR",
                                     [](const DmaMapperContext& context) { return std::make_unique<IommuMapper>(context); });

}  // namespace
}  // namespace mtsim::kernel
