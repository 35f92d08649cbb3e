#include "kernel/odp_path.h"

#include <cerrno>
#include <limits>

#include "kernel/access_check.h"
#include "ports/rank.h"

namespace mtsim::kernel {
namespace {

using ports::Work;
using Step = ports::RegistrationStep;

constexpr std::uint64_t whole_space = ~std::uint64_t{0};
constexpr unsigned huge_shift = 21;  // HPAGE_SHIFT
constexpr std::uint64_t child_pages = GiB(1) / page_bytes;
/// kvmalloc gives no more than INT_MAX bytes; the longer of the two lists has 8 for each page.
constexpr std::uint64_t most_pages = std::uint64_t(std::numeric_limits<int>::max()) / 8;
/// CREATE_EQ (mlx5r_odp_create_eq): 8192 events of 64 bytes, the addresses of their pages after the command's own part.
constexpr Bytes create_queue_input{272 + 8192 * 64 / 4096 * 8};

Time times(Time each, std::uint64_t n) { return each * static_cast<std::int64_t>(n); }

}  // namespace

OdpPath::OdpPath(const RegParts& parts, EndedCalls& ended) : parts_(parts), ended_(ended), queue_mutex_(parts.scheduler, 1) {}

Call OdpPath::worker(verbs::Thread thread) {
  return Call::of_worker(parts_.scheduler, parts_.cpus, parts_.kernel, thread, Kind::worker,
                         ports::order(parts_.host_rank, ports::Unit::kernel, workers_++));
}

engine::Task<int> OdpPath::create(Call& call, verbs::RegMrRequest request, std::uint32_t identity, std::unique_ptr<OdpRegion>& out) {
  co_await call.work(Step::syscall, Work::registration, parts_.kernel.registration);
  co_await create_queue(call);
  auto region = std::make_unique<OdpRegion>(parts_.scheduler);
  region->process = &parts_.processes.of(call.thread());
  region->pd = request.pd;
  region->access = request.access;
  region->address = request.address;
  region->length = request.length;
  region->iova = request.iova;
  region->identity = identity;
  region->writable = writable(request.access);
  region->pages = std::make_shared<PresentMap>(parts_.dma.law(parts_.frames.law()));
  region->implicit = request.address == Va(0) && request.length == Bytes(whole_space);
  int error = 0;
  if (!region->implicit) error = co_await create_explicit(call, *region);
  else if (request.iova != Iova(0) || parts_.driver.on_demand != OnDemand::implicit) error = EINVAL;
  else error = co_await create_implicit(call, *region);
  if (error != 0) co_return error;
  keys_[region->key.index()] = region.get();
  ++totals_.regions;
  out = std::move(region);
  co_return 0;
}

/// mlx5r_odp_create_eq: with the first region of the device.
engine::Task<int> OdpPath::create_queue(Call& call) {
  if (queue_mutex_.in_use() != 0) call.sleep();
  co_await queue_mutex_.take();
  call.lap(Step::wait);
  if (!queue_made_) {
    const ports::Command::Request request{command_input(create_queue_input), nullptr, parts_.driver.page_fault_queue, Time()};
    co_await run_command(parts_.device, call, request, 0);
    queue_made_ = true;
  }
  queue_mutex_.give();
  co_return 0;
}

/// mlx5_ib_alloc_implicit_mr
engine::Task<int> OdpPath::create_implicit(Call& call, OdpRegion& region) {
  if (any(region.access, verbs::Access::huge_tlb)) co_return EINVAL;
  co_await call.work(Step::syscall, Work::registration, parts_.kernel.odp_region);
  if (const int error = co_await take_key(call, region, table_of_keys | implicit_region_keys); error != 0) co_return error;
  const translate::Region table = table_of(region);
  const int error = co_await parts_.writer.load(call, table, region.grant);
  if (error != 0) parts_.keys.give_back(region.grant);
  else call.cost().table_entries += implicit_region_keys;
  co_return error;
}

/// ib_umem_odp_get and mlx5_ib_init_odp_mr
engine::Task<int> OdpPath::create_explicit(Call& call, OdpRegion& region) {
  if (any(region.access, verbs::Access::huge_tlb)) region.shift = huge_shift;
  const std::uint64_t size = std::uint64_t{1} << region.shift, address = region.address.raw;
  const std::uint64_t last = address + region.length.raw, end = (last + size - 1) & ~(size - 1);
  if (last < address || end < size) co_return EOVERFLOW;
  region.first = round_down(address, size) / page_bytes.raw;
  region.end = end / page_bytes.raw;
  if (region.first == region.end) co_return EINVAL;
  const std::uint64_t pages = region.end - region.first;
  if (pages > most_pages) co_return ENOMEM;
  co_await call.work(Step::syscall, Work::registration, parts_.kernel.odp_region + times(parts_.kernel.odp_page, pages));
  watch(region);
  int error = co_await take_key(call, region, region.entries());
  if (error == 0) {
    error = co_await map(call, region, region.first, region.end, Mapping::as_present);
    if (error == 0) {
      const translate::Region table = table_of(region);
      error = co_await parts_.writer.load(call, table, region.grant);
      region.mutex.give();
      if (error == 0) call.cost().table_entries += region.entries();
      else parts_.keys.give_back(region.grant);
    } else {
      co_await end_key(call, region);
    }
  }
  if (error != 0) {
    co_await unmap(call, region, region.first, region.end);
    co_await sleep_until_quiet(call, region);
    unwatch(region);
  }
  co_return error;
}

/// mlx5_mr_cache_alloc: the device knows the key when this ends without an error.
engine::Task<int> OdpPath::take_key(Call& call, OdpRegion& region, std::uint64_t entries) {
  const std::optional<KeyGrant> grant = parts_.keys.take(entries, region.access);
  co_await call.work(Step::key, Work::key, parts_.driver.key);
  if (!grant) {
    if (parts_.keys.of_device()) co_await parts_.writer.refused(call);
    co_return ENOMEM;
  }
  region.key = grant->key;
  region.grant = *grant;
  const int error = co_await parts_.writer.create(call, region.grant);
  if (error != 0) parts_.keys.give_back(region.grant);
  co_return error;
}

/// mlx5r_handle_mkey_cleanup
engine::Task<int> OdpPath::end_key(Call& call, OdpRegion& region) {
  KeyGrant grant = region.grant;
  grant.created = parts_.keys.keeps(grant);
  co_await lock(call, region);
  co_await parts_.writer.revoke(call, region.key, grant.created);
  region.mutex.give();
  co_await call.work(Step::key, Work::key, parts_.driver.key);
  parts_.keys.give_back(grant);
  co_return 0;
}

engine::Task<int> OdpPath::release(Call& call, OdpRegion& region) {
  const auto known = keys_.find(region.key.index());
  if (known != keys_.end() && known->second == &region) keys_.erase(known);
  // mlx5r_deref_wait_odp_mkey
  while (region.users != 0) {
    call.sleep();
    co_await region.unused.wait();
    call.lap(Step::wait);
  }
  co_await end_key(call, region);
  // ib_umem_odp_release; the notifier goes when no invalidation is under way
  if (!region.implicit) {
    co_await unmap(call, region, region.first, region.end);
    co_await sleep_until_quiet(call, region);
    unwatch(region);
  }
  co_await call.work(Step::syscall, Work::registration, parts_.kernel.odp_region);
  // mlx5_ib_free_odp_mr
  const auto children = std::exchange(region.children, {});
  for (const auto& [index, child] : children) co_await release(call, *child);
  co_return 0;
}

/// implicit_get_child_mr
engine::Task<int> OdpPath::create_child(Call& call, OdpRegion& parent, std::uint64_t index) {
  auto child = std::make_unique<OdpRegion>(parts_.scheduler);
  child->process = parent.process;
  child->pd = parent.pd;
  child->access = parent.access;
  child->writable = parent.writable;
  child->first = index * child_pages;
  child->end = child->first + child_pages;
  child->address = Va(child->first * page_bytes.raw);
  child->iova = Iova(child->address.raw);
  child->length = GiB(1);
  child->pages = std::make_shared<PresentMap>(parts_.dma.law(parts_.frames.law()));
  child->parent = &parent;
  co_await call.work(Step::syscall, Work::registration, parts_.kernel.odp_region + times(parts_.kernel.odp_page, child_pages));
  if (const int error = co_await take_key(call, *child, child->entries()); error != 0) co_return error;
  const translate::Region table = table_of(*child);
  if (const int error = co_await parts_.writer.load(call, table, child->grant); error != 0) {
    parts_.keys.give_back(child->grant);
    co_return error;
  }
  call.cost().table_entries += child->entries();
  // Another thread may have made one in the meantime: it is used.
  if (parent.children.count(index) != 0) {
    co_await end_key(call, *child);
    co_return 0;
  }
  ++totals_.children;
  watch(*child);
  parent.children.emplace(index, std::move(child));
  co_return 0;
}

}  // namespace mtsim::kernel
