#include "kernel/reg_path.h"

#include <algorithm>
#include <cerrno>

#include "kernel/access_check.h"
#include "kernel/memory_pressure.h"

namespace mtsim::kernel {
namespace {

using ports::Work;
using Step = ports::RegistrationStep;

Time times(Time each, std::uint64_t n) { return each * static_cast<std::int64_t>(n); }

}  // namespace

/// ib_uverbs_reg_mr, in its order.
int RegPath::check_request(const verbs::RegMrRequest& request) const {
  if (request.address.raw % page_bytes.raw != request.iova.raw % page_bytes.raw) return EINVAL;
  if (const int error = check_access(request.access, parts_.without_on_demand(), parts_.driver.flush); error != 0) return error;
  if (parts_.process.pds.find(request.pd) == nullptr) return EINVAL;
  return 0;
}

engine::Task<verbs::Reply> RegPath::reg_mr(verbs::Thread thread, verbs::RegMrRequest request) {
  Call call(parts_.scheduler, parts_.cpus, parts_.kernel, thread, ports::RegistrationRecord::Call::reg_mr, laps_);
  verbs::Reply reply;
  Mr mr;

  co_await call.work(Step::syscall, Work::registration, parts_.kernel.syscall);
  reply.error = check_request(request);
  if (reply.error == 0) reply.error = parts_.driver.refusal(request.access, request.length);
  if (reply.error == 0) {
    ++parts_.process.pds.find(request.pd)->users;
    reply.error = co_await reg_user_mr(call, request, mr);
    if (reply.error != 0) --parts_.process.pds.find(request.pd)->users;
  }
  if (reply.error == 0) {
    reply.lkey = mr.key;
    reply.rkey = parts_.driver.rkey_of(mr.key, mr.access);
    reply.iova = mr.place.told;
    reply.identity = mr.identity;
    reply.handle = mrs_.add(std::move(mr));
  }
  close(call, reply.error, request.length);
  co_return reply;
}

Time RegPath::count_umem(const Call& call, Process& process) {
  return process.shared.count_umem(call.thread(), parts_.scheduler.now(), parts_.kernel.line_transfer);
}

/// mlx5_ib_reg_user_mr
engine::Task<int> RegPath::reg_user_mr(Call& call, const verbs::RegMrRequest& request, Mr& mr) {
  if (any(request.access, verbs::Access::on_demand)) {
    mr.identity = next_identity();
    const int error = co_await odp_.create(call, request, mr.identity, mr.on_demand);
    if (error != 0) co_return error;
    mr.pd = request.pd;
    mr.length = request.length;
    mr.access = request.access;
    mr.place = {request.iova, Bytes(0), request.iova};
    mr.process = &parts_.processes.of(call.thread());
    mr.key = mr.on_demand->key;
    if (!mr.on_demand->implicit) follow(mr);
    co_return 0;
  }
  if (const int error = co_await get_umem(call, request, mr); error != 0) co_return error;
  int error = 0;
  // rxe_mr_fill_pages_from_sgt: every page must be persistent memory, of which a host has none.
  if (any(request.access, verbs::Access::flush_persistent)) error = EINVAL;
  if (error == 0) error = co_await choose_page_size(call, mr);
  if (error == 0) error = co_await create_mr(call, request, mr);
  if (error != 0) co_await release_umem(call, mr);
  co_return error;
}

/// ib_umem_get
engine::Task<int> RegPath::get_umem(Call& call, const verbs::RegMrRequest& request, Mr& mr) {
  const KernelParams& cost = parts_.kernel;
  Process& process = parts_.processes.of(call.thread());
  // mmgrab, can_do_mlock, and the charge to mm->pinned_vm.
  co_await call.work(Step::syscall, Work::registration, cost.registration + count_umem(call, process));
  const int refused = admit_pinning(process.memlock, request.address, request.length, parts_.driver.own_memlock);
  if (refused != 0) co_return refused;

  // pin_user_pages_fast, batch by batch; what is absent goes through faultin_page.
  PinReply pinned = process.memory.pin(request.address, request.length, writable(request.access), cost.pin_by_force);
  call.cost().faults += pinned.faults.faults();
  if (pinned.faults.faults() + pinned.reclaimed.migrated != 0)
    co_await parts_.faults.by_kernel(call.thread(), {pinned.faults, pinned.reclaimed, pinned.batches}, &call);
  note_pressure(parts_.processes, parts_.frames, parts_.scheduler, pinned.faults, pinned.reclaimed);
  co_await odp_.pay_for_taken(call);
  if (pinned.error != 0) {
    // umem_release: what was pinned up to there is let go again.
    const PageCounts& before = pinned.before_error;
    const std::uint64_t batches = before.pages / pin_batch_pages + 1;
    co_await call.work(Step::pin, Work::pin,
                       times(cost.pin_batch, batches) + times(cost.pin_page, before.pages) + times(cost.pin_grab, before.grabs));
    co_await call.work(Step::unpin, Work::unpin, times(cost.unpin_page, before.pages) + count_umem(call, process));
    process.memlock.uncharge(pages_spanned(request.address.raw, request.length));
    co_return pinned.error;
  }
  mr.pd = request.pd;
  mr.process = &process;
  mr.length = request.length;
  mr.access = request.access;
  mr.pinned_for_writing = writable(request.access);
  mr.place = parts_.driver.place(request.access, request.address, request.iova);
  mr.plan = plan_pinning(*pinned.range.map, pinned.counts, parts_.driver.pin_rules());
  mr.range = std::move(pinned.range);
  ++process.pinned_regions;
  process.region_pages += mr.plan.pages;
  note_memory(parts_.processes, parts_.frames, parts_.scheduler.now());
  const PinPlan& plan = mr.plan;
  totals_.pinned_now += page_bytes * plan.pages.raw;
  totals_.pinned_most = std::max(totals_.pinned_most, totals_.pinned_now);
  call.cost().pages += plan.pages;
  call.cost().batches += plan.batches;
  call.cost().grabs += plan.grabs;
  call.cost().folios += plan.folios;
  call.cost().sg_entries += plan.sg_entries;
  co_await call.work(Step::pin, Work::pin,
                     times(cost.pin_batch, plan.batches) + times(cost.pin_page, plan.pages.raw) + times(cost.pin_grab, plan.grabs));

  // sg_alloc_append_table_from_pages scans every batch twice: it counts, then it fills in.
  co_await call.work(Step::sg, Work::sg, times(cost.sg_compare, 2 * plan.pages.raw) + times(cost.sg_entry, plan.sg_entries));
  // ib_dma_map_sgtable_attrs
  const DmaMapper::Request mapping{mr.range.map, plan.sg_entries, parts_.driver.largest_segment};
  const int error = co_await parts_.dma.map(call, mapping, mr.dma);
  call.cost().dma_runs += mr.dma.runs;
  if (error != 0) co_await release_umem(call, mr);
  co_return error;
}

/// ib_umem_find_best_pgsz
engine::Task<int> RegPath::choose_page_size(Call& call, Mr& mr) {
  co_await call.work(Step::page_size, Work::page_size, times(parts_.kernel.page_size_run, mr.dma.runs));
  plan_table(mr.plan, *mr.dma.device, Iova(mr.place.start.raw + mr.place.lead.raw), table_rules());
  co_return mr.plan.page_size.raw == 0 ? EINVAL : 0;
}

/// Page sizes that driver and NIC both know.
PinRules RegPath::table_rules() const {
  PinRules rules = parts_.driver.pin_rules();
  rules.page_sizes &= parts_.device.tables.architecture().block_sizes();
  return rules;
}

/// create_real_mr
engine::Task<int> RegPath::create_mr(Call& call, const verbs::RegMrRequest& request, Mr& mr) {
  // mlx5_mr_cache_alloc, mlx4_mr_alloc
  const std::optional<KeyGrant> grant = parts_.keys.take(mr.plan.blocks, request.access);
  co_await call.work(Step::key, Work::key, parts_.driver.key);
  if (!grant) {
    if (parts_.keys.of_device()) co_await parts_.writer.refused(call);
    co_return ENOMEM;
  }
  mr.key = grant->key;
  mr.grant = *grant;
  mr.identity = next_identity();

  const translate::Region region = region_of(mr, request.pd, request.access);
  follow(mr);
  const int error = co_await parts_.writer.load(call, region, *grant);
  if (error != 0) {
    forget(mr.identity);
    parts_.keys.give_back(*grant);
  } else {
    call.cost().table_entries += mr.plan.blocks;
  }
  co_return error;
}

/// What an MR that is pinned and has its key asks of the NIC's tables.
translate::Region RegPath::region_of(const Mr& mr, verbs::Handle pd, verbs::Access access) const {
  translate::Region region;
  region.grant = {mr.key, pd, access, mr.place.start, mr.length, true, parts_.driver.rkey_bits()};
  region.grant.identity = mr.identity;
  region.block = mr.plan.page_size;
  if (parts_.driver.page_size == PageSizeChoice::per_run) region.block_sizes = table_rules().page_sizes;
  region.lead = mr.place.lead;
  region.map = mr.dma.device;
  if (const IoPageTable* table = parts_.dma.io_page_table()) {
    region.frames = mr.range.map;
    region.frame_entries = table->sizes();
  }
  region.memory = mr.range.address;
  region.process = mr.process->number;
  return region;
}

/// Before the device learns of it: from then on it may be used.
void RegPath::follow(const Mr& mr) const {
  if (MemoryWatch* const watch = parts_.processes.watch) {
    const Va memory = mr.on_demand ? mr.on_demand->address : mr.range.address;
    watch->begin(mr.identity, {&mr.process->memory, memory, mr.place.start, mr.range.map});
  }
}

void RegPath::forget(std::uint32_t identity) const {
  if (MemoryWatch* const watch = parts_.processes.watch) watch->end(identity);
}

/// ib_umem_release
engine::Task<int> RegPath::release_umem(Call& call, const Mr& mr) {
  const KernelParams& cost = parts_.kernel;
  Process& process = *mr.process;
  // ib_dma_unmap_sgtable_attrs
  co_await parts_.dma.unmap(call, mr.dma);
  // unpin_user_page_range_dirty_lock for each entry; mm->pinned_vm, mmdrop
  co_await call.work(Step::unpin, Work::unpin,
                     times(cost.unpin_run, mr.plan.sg_entries) + times(cost.unpin_page, mr.plan.pages.raw) + count_umem(call, process));
  process.memory.unpin(mr.range);
  --process.pinned_regions;
  process.region_pages -= mr.plan.pages;
  process.memlock.uncharge(mr.plan.pages);
  note_memory(parts_.processes, parts_.frames, parts_.scheduler.now());
  totals_.pinned_now -= page_bytes * mr.plan.pages.raw;
  co_return 0;
}

/// mlx5r_handle_mkey_cleanup, mlx4_mr_free. An answer other than 0 would be a fault of the device: there is nothing to undo.
engine::Task<int> RegPath::end_key(Call& call, Key key, KeyGrant grant, std::uint32_t identity) {
  grant.created = parts_.keys.keeps(grant);
  co_await parts_.writer.revoke(call, key, grant.created);
  forget(identity);
  co_await call.work(Step::key, Work::key, parts_.driver.key);
  parts_.keys.give_back(grant);
  co_return 0;
}

/// __mlx5_ib_dereg_mr
engine::Task<int> RegPath::destroy_mr(Call& call, const Mr& mr) {
  if (mr.on_demand) {
    forget(mr.identity);
    co_return co_await odp_.release(call, *mr.on_demand);
  }
  co_await end_key(call, mr.key, mr.grant, mr.identity);
  call.cost().pages += mr.plan.pages;
  call.cost().sg_entries += mr.plan.sg_entries;
  call.cost().dma_runs += mr.dma.runs;
  co_return co_await release_umem(call, mr);
}

std::optional<RegPath::Memory> RegPath::memory_of(verbs::Handle handle) const {
  const Mr* mr = mrs_.find(handle);
  if (mr == nullptr || mr->on_demand || mr->revoked || mr->dma.device == nullptr) return std::nullopt;
  return Memory{mr->range.map, mr->dma.device};
}

std::optional<ports::Kernel::Registered> RegPath::registered(verbs::Handle handle) const {
  const Mr* mr = mrs_.find(handle);
  if (mr == nullptr) return std::nullopt;
  return ports::Kernel::Registered{mr->pd, mr->access, mr->key};
}

bool RegPath::is_on_demand(verbs::Handle handle) const {
  const Mr* mr = mrs_.find(handle);
  return mr != nullptr && mr->on_demand != nullptr;
}

int RegPath::refused_for_windows(const Mr& mr) const {
  const int error = parts_.driver.rules->windows.bound_dereg;
  return error != 0 && parts_.device.tables.windows_of(mr.key) != 0 ? error : 0;
}

engine::Task<verbs::Reply> RegPath::dereg_mr(verbs::Thread thread, verbs::Handle handle) {
  Call call(parts_.scheduler, parts_.cpus, parts_.kernel, thread, ports::RegistrationRecord::Call::dereg_mr, laps_);
  verbs::Reply reply;
  Bytes length;
  co_await call.work(Step::syscall, Work::registration, parts_.kernel.syscall);
  const Mr* found = mrs_.find(handle);
  const int bound = found == nullptr ? 0 : refused_for_windows(*found);
  if (found == nullptr || found->busy) {
    reply.error = found == nullptr ? EINVAL : EBUSY;
  } else if (bound != 0) {
    reply.error = bound;
  } else {
    // From here on another dereg_mr of the same handle finds nothing.
    Mr mr = mrs_.remove(handle);
    length = mr.length;
    co_await call.work(Step::syscall, Work::registration, parts_.kernel.deregistration);
    co_await destroy_mr(call, mr);
    --parts_.process.pds.find(mr.pd)->users;
  }
  close(call, reply.error, length);
  co_return reply;
}

void RegPath::close(Call& call, int error, Bytes length) {
  const ports::RegistrationRecord& record = call.finish(error, length);
  switch (record.call) {
    case ports::RegistrationRecord::Call::reg_mr:
      ++totals_.reg_mr;
      totals_.reg_cost += record.cost;
      break;
    case ports::RegistrationRecord::Call::rereg_mr:
      ++totals_.rereg_mr;
      totals_.rereg_cost += record.cost;
      break;
    case ports::RegistrationRecord::Call::dereg_mr:
      ++totals_.dereg_mr;
      totals_.dereg_cost += record.cost;
      break;
    case ports::RegistrationRecord::Call::advise_mr:
    case ports::RegistrationRecord::Call::invalidation:
    case ports::RegistrationRecord::Call::worker:
      totals_.on_demand_cost += record.cost;
      break;
  }
  if (observer_ != nullptr) observer_->finished(record);
}

}  // namespace mtsim::kernel
