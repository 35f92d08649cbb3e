// Pages of regions on demand on their way to the device and back: looked up, mapped for DMA, written to its table.
#include <algorithm>
#include <cerrno>

#include "kernel/memory_pressure.h"
#include "kernel/odp_path.h"

namespace mtsim::kernel {
namespace {

using ports::Work;
using Step = ports::RegistrationStep;

Time times(Time each, std::uint64_t n) { return each * static_cast<std::int64_t>(n); }

}  // namespace

engine::Task<int> OdpPath::lock(Call& call, OdpRegion& region) {
  if (region.mutex.in_use() != 0) call.sleep();
  co_await region.mutex.take();
  call.lap(Step::wait);
  co_return 0;
}

/// ib_umem_odp_map_dma_and_lock: virtual pages [first, end), which are whole entries. The region is locked when this ends without an error.
engine::Task<int> OdpPath::map(Call& call, OdpRegion& region, std::uint64_t first, std::uint64_t end, Mapping mapping) {
  for (;;) {
    // mmu_interval_read_begin
    while (changing({region.process, first, end})) {
      call.sleep();
      co_await changed_.wait();
      call.lap(Step::wait);
    }
    const std::uint64_t sequence = region.sequence;
    // hmm_range_fault
    if (mapping != Mapping::as_present) {
      const FaultReply faulted =
          region.process->memory.fault_for_device(Va(first * page_bytes.raw), page_bytes * (end - first), mapping == Mapping::for_writing);
      call.cost().faults += faulted.faults.faults();
      if (faulted.faults.faults() != 0)
        co_await call.work(Step::fault, Work::fault,
                           parts_.kernel.fault_time(faulted.faults) + parts_.kernel.reclaim_time(faulted.reclaimed));
      note_pressure(parts_.processes, parts_.frames, parts_.scheduler, faulted.faults, faulted.reclaimed);
      co_await pay_for_taken(call);
      if (faulted.error != 0) co_return faulted.error;
    }
    co_await call.work(Step::fault, Work::fault, times(parts_.kernel.odp_walk, end - first));
    co_await lock(call, region);
    if (region.sequence == sequence) {
      const int error = co_await map_present(call, region, first, end, mapping);
      if (error == 0 && region.sequence == sequence) co_return 0;
      region.mutex.give();
      if (error != 0) co_return error;
      continue;
    }
    region.mutex.give();
  }
}

/// The part of it under the lock: what is present is mapped for DMA, unless it is already, and gets its rights.
engine::Task<int> OdpPath::map_present(Call& call, OdpRegion& region, std::uint64_t first, std::uint64_t end, Mapping mapping) {
  const std::uint64_t sequence = region.sequence, each = region.each();
  int error = 0;
  std::vector<PresentMap::Part> fresh;
  std::vector<FrameExtent> frames, device;
  for (const PresentPart& part : region.process->memory.present(first, end)) {
    // An entry is looked at by its first page. Memory in smaller pages than the region's is refused.
    const std::uint64_t from = round_up(part.first, each), to = round_up(part.end(), each);
    if (from >= part.end()) continue;
    if (leaf_pages(part.leaf) < each) {
      error = EINVAL;
      break;
    }
    const bool may_write = mapping == Mapping::as_present ? part.writable : mapping == Mapping::for_writing;
    const std::uint64_t low = from - region.first, high = to - region.first;
    for (std::uint64_t page = low; page < high;) {
      const auto known = region.pages->part_from(page, high);
      const std::uint64_t gap = known ? known->first : high;
      if (page < gap) {
        frames.push_back(part.frames.part(region.first + page - part.first, gap - page));
        fresh.push_back({page, frames.back(), may_write});
      }
      if (!known) break;
      if (known->writable != may_write) region.pages->set({known->first, known->frames, may_write});
      page = known->end();
    }
  }
  if (frames.empty()) co_return error;
  if (const int failed = co_await parts_.dma.map_pages(call, frames, each, device); failed != 0) co_return failed;
  // Taken by reclaim in the meantime: what was mapped is given back.
  if (region.sequence != sequence) {
    co_await parts_.dma.unmap_pages(call, device, each);
    co_return error;
  }
  auto extent = device.begin();
  std::uint64_t within = 0;
  for (const PresentMap::Part& part : fresh)
    for (std::uint64_t done = 0; done < part.frames.count;) {
      const std::uint64_t n = std::min(part.frames.count - done, extent->count - within);
      region.pages->set({part.first + done, extent->part(within, n), part.writable});
      totals_.mapped += n;
      done += n;
      within += n;
      if (within < extent->count) continue;
      ++extent;
      within = 0;
    }
  co_return error;
}

/// ib_umem_odp_unmap_dma_pages
engine::Task<int> OdpPath::unmap(Call& call, OdpRegion& region, std::uint64_t first, std::uint64_t end) {
  co_await lock(call, region);
  std::vector<FrameExtent> gone;
  for (const PresentMap::Part& part : region.pages->clear(first - region.first, end - region.first)) gone.push_back(part.frames);
  if (!gone.empty()) co_await parts_.dma.unmap_pages(call, gone, region.each());
  region.mutex.give();
  co_return 0;
}

/// Writes entries as the kernel has them. The region is locked.
engine::Task<int> OdpPath::update(Call& call, OdpRegion& region, EntryRange entries) {
  const EntryRange written = written_entries(entries, region.entries());
  if (written.count == 0) co_return 0;
  call.cost().table_entries += written.count;
  const translate::EntryChange change{region.key, written.first, written.count, region.pages};
  co_return co_await parts_.writer.change(call, change);
}

/// The same of an implicit region's keys, four to a unit.
engine::Task<int> OdpPath::update_keys(Call& call, OdpRegion& region, EntryRange keys) {
  const EntryRange written = written_entries({2 * keys.first, 2 * keys.count}, 2 * implicit_region_keys);
  call.cost().table_entries += written.count / 2;
  const translate::EntryChange change{region.key, written.first, written.count, nullptr};
  co_await lock(call, region);
  const int error = co_await parts_.writer.change(call, change);
  region.mutex.give();
  co_return error;
}

}  // namespace mtsim::kernel
