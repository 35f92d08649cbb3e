// What changes of the process's memory take from the device: the MMU notifier of on-demand regions.
#include <algorithm>
#include <cerrno>

#include "kernel/odp_path.h"

namespace mtsim::kernel {
namespace {

using ports::Work;
using Step = ports::RegistrationStep;

Time times(Time each, std::uint64_t n) { return each * static_cast<std::int64_t>(n); }

}  // namespace

void OdpPath::watch(OdpRegion& region) {
  const auto is_its = [&](const auto& watch) { return &watch->process() == region.process; };
  if (std::none_of(watches_.begin(), watches_.end(), is_its)) watches_.push_back(std::make_unique<Watch>(*this, *region.process));
  regions_.emplace(region.first, &region);
  longest_ = std::max(longest_, region.end - region.first);
}

void OdpPath::unwatch(const OdpRegion& region) {
  const auto [low, high] = regions_.equal_range(region.first);
  const auto found = std::find_if(low, high, [&](const auto& entry) { return entry.second == &region; });
  if (found != high) regions_.erase(found);
}

std::vector<OdpRegion*> OdpPath::watched(const Span& pages) const {
  std::vector<OdpRegion*> out;
  for (auto at = regions_.lower_bound(pages.first - std::min(pages.first, longest_)); at != regions_.end() && at->first < pages.end; ++at)
    if (at->second->process == pages.process && at->second->overlaps(pages.first, pages.end)) out.push_back(at->second);
  return out;
}

bool OdpPath::changing(const Span& pages) const {
  return std::any_of(changing_.begin(), changing_.end(),
                     [&](const Span& span) { return span.process == pages.process && span.first < pages.end && pages.first < span.end; });
}

engine::Task<int> OdpPath::sleep_until_quiet(Call& call, const OdpRegion& region) {
  while (changing({region.process, region.first, region.end})) {
    call.sleep();
    co_await changed_.wait();
    call.lap(Step::wait);
  }
  co_return 0;
}

engine::Task<int> OdpPath::begin_invalidation(verbs::Thread thread, std::uint64_t first, std::uint64_t end) {
  const Span pages{&parts_.processes.of(thread), first, end};
  changing_.push_back(pages);
  const std::vector<OdpRegion*> regions = watched(pages);
  if (regions.empty()) co_return 0;
  Call call(parts_.scheduler, parts_.cpus, parts_.kernel, thread, Kind::invalidation, laps_);
  // None of them goes while this is under way.
  for (OdpRegion* region : regions) co_await invalidate(call, *region, first, end);
  ended_.close(call, 0, page_bytes * (end - first));
  co_return 0;
}

void OdpPath::end_invalidation(verbs::Thread thread, std::uint64_t first, std::uint64_t end) {
  const auto at = std::find(changing_.begin(), changing_.end(), Span{&parts_.processes.of(thread), first, end});
  if (at == changing_.end()) return;  // there was nothing to tell of
  changing_.erase(at);
  changed_.wake();
}

/// mlx5_ib_invalidate_range: first the device's entries go, then the pages' DMA addresses.
engine::Task<int> OdpPath::invalidate(Call& call, OdpRegion& region, std::uint64_t first, std::uint64_t end) {
  co_await lock(call, region);
  ++region.sequence;
  if (region.pages->pages() == 0) {
    region.mutex.give();
    co_return 0;
  }
  const std::uint64_t each = region.each();
  const std::uint64_t low = (std::max(first, region.first) - region.first) / each;
  const std::uint64_t high = ceil_div(std::min(end, region.end) - region.first, each);
  co_await call.work(Step::dma_map, Work::dma_map, times(parts_.kernel.odp_scan, high - low));
  // The work requests write whole units of zeros. What they take besides stays mapped and known here: a fault brings it back.
  for (const EntryRange& run : zapped_runs(region, low, high)) {
    const EntryRange written = written_entries(run, region.entries());
    const std::uint64_t before = call.cost().umr_requests;
    const translate::EntryChange zap{region.key, written.first, written.count, nullptr};
    co_await parts_.writer.change(call, zap);
    call.cost().table_entries += written.count;
    totals_.zaps += call.cost().umr_requests - before;
  }
  std::vector<FrameExtent> gone;
  for (const PresentMap::Part& part : region.pages->clear(low * each, high * each)) {
    gone.push_back(part.frames);
    totals_.invalidated += part.frames.count;
  }
  if (!gone.empty()) co_await parts_.dma.unmap_pages(call, gone, each);
  region.mutex.give();
  // destroy_unused_implicit_child_mr; a parent that is on its way out takes its children along
  const auto known = region.parent == nullptr ? keys_.end() : keys_.find(region.parent->key.index());
  if (known != keys_.end() && known->second == region.parent && region.pages->pages() == 0) {
    auto& children = region.parent->children;
    const auto own = std::find_if(children.begin(), children.end(), [&](const auto& child) { return child.second.get() == &region; });
    if (own != children.end()) {
      std::unique_ptr<OdpRegion> child = std::move(own->second);
      children.erase(own);
      ++region.parent->users;
      parts_.scheduler.spawn(free_child(call.thread(), std::move(child)));
    }
  }
  co_return 0;
}

/// free_implicit_child_mr_work
engine::Flow OdpPath::free_child(verbs::Thread thread, std::unique_ptr<OdpRegion> child) {
  OdpRegion& parent = *child->parent;
  Call call = worker(thread);
  while (child->users != 0) co_await child->unused.wait();
  call.lap(Step::wait);
  co_await update_keys(call, parent, {child->first / (GiB(1) / page_bytes), 1});
  co_await release(call, *child);
  parent.release();
  ended_.close(call, 0, Bytes(0));
}

/// Reclaim, swapout and migration look at one leaf at a time (try_to_unmap, try_to_migrate), and so does the notifier. In this model their
/// pages go all at once, so that the device's entries go with them, and the time is paid for afterwards.
void OdpPath::taken(const Span& pages, Leaf leaf) {
  for (OdpRegion* region : watched(pages)) {
    ++region->sequence;
    const std::uint64_t each = region->each(), size = std::max(leaf_pages(leaf), each);
    const std::uint64_t low = round_down(std::max(pages.first, region->first) - region->first, each);
    const std::uint64_t high = round_up(std::min(pages.end, region->end) - region->first, each);
    Owed owed{0, round_up(size / each, 8), {}, each};
    std::uint64_t counted = 0;  // leaves up to there, by virtual page
    for (const PresentMap::Part& part : region->pages->clear(low, high)) {
      const std::uint64_t from = std::max(counted, (region->first + part.first) / size), to = ceil_div(region->first + part.end(), size);
      owed.zaps += to - std::min(from, to);
      counted = to;
      owed.unmapped.push_back(part.frames);
      totals_.invalidated += part.frames.count;
      const EntryRange written = written_entries({part.first / each, ceil_div(part.frames.count, each)}, region->entries());
      parts_.device.tables.commit(parts_.device.tables.architecture().change({region->key, written.first, written.count, nullptr}));
    }
    if (!owed.unmapped.empty()) owed_.push_back(std::move(owed));
  }
}

engine::Task<int> OdpPath::pay_for_taken(Call& call) {
  const std::vector<Owed> owed = std::exchange(owed_, {});
  for (const Owed& part : owed) {
    const translate::EntryChange zap{{}, 0, part.entries, nullptr};
    for (std::uint64_t i = 0; i < part.zaps; ++i) co_await parts_.writer.change(call, zap, true);
    totals_.zaps += part.zaps;
    call.cost().table_entries += part.zaps * part.entries;
    std::uint64_t scanned = 0;
    for (const FrameExtent& extent : part.unmapped) scanned += extent.count;
    co_await call.work(Step::dma_map, Work::dma_map, times(parts_.kernel.odp_scan, scanned));
    co_await parts_.dma.unmap_pages(call, part.unmapped, part.each);
  }
  co_return 0;
}

engine::Task<int> OdpPath::pay_for_taken(verbs::Thread thread) {
  if (owed_.empty()) co_return 0;
  std::uint64_t pages = 0;
  for (const Owed& part : owed_)
    for (const FrameExtent& extent : part.unmapped) pages += extent.count;
  Call call(parts_.scheduler, parts_.cpus, parts_.kernel, thread, Kind::invalidation, laps_);
  co_await pay_for_taken(call);
  ended_.close(call, 0, page_bytes * pages);
  co_return 0;
}

}  // namespace mtsim::kernel
