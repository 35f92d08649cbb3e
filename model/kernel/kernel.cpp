#include "kernel/kernel.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "kernel/memory_pressure.h"

namespace mtsim::kernel {
namespace {

/// The complaint about a component's name, or nothing when there is one of that name.
template <class Components>
void check_name(const char* path, const std::string& name, std::vector<std::string>& complaints) {
  const std::vector<std::string> known = Components::names();
  if (Components::entries().count(name) == 0)
    complaints.push_back(fmt::format("{}: '{}' is not one of: {}{}", path, name, fmt::join(known, ", "), did_you_mean(name, known)));
}

/// What init_per_zone_wmark_min keeps free: 4 times the square root of the kilobytes, and a contiguous piece for rings and tables.
Pages reserve_of(const FramePool& frames) {
  const double kilobytes = static_cast<double>((page_bytes * frames.size().raw).raw) / 1024;
  return Pages(static_cast<std::uint64_t>(std::sqrt(kilobytes)) + FrameLaw::segment_pages);
}

}  // namespace

Kernel::Kernel(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, const KernelParams& params, const DriverParams& driver,
               FramePool& frames, const IommuParams& iommu, std::uint32_t nics)
    : sc_module(module_name),
      scheduler_(scheduler),
      params_(params),
      driver_(driver),
      iommu_(iommu),
      frames_(frames),
      process_(scheduler, frames, {params.max_map_count, frames.swap(), reserve_of(frames)}) {
  std::vector<std::string> complaints;
  check_name<TableWriters>("driver.table_writer", driver.table_writer, complaints);
  check_name<KeyPolicies>("driver.keys", driver.keys, complaints);
  check_name<DmaMappers>("host.iommu.mode", iommu.mode, complaints);
  if (!driver.cache_limit_list()) complaints.push_back(fmt::format("driver.cache_limits: {}", DriverParams::cache_limits_form));
  if (!driver.refused_access_flags()) complaints.push_back(fmt::format("driver.refused_access: {}", DriverParams::access_form));
  if (!driver.own_key_access_flags()) complaints.push_back(fmt::format("driver.own_key_access: {}", DriverParams::access_form));
  if (!complaints.empty()) throw UserError(complaints);
  const RdmaDevice::Shared shared{scheduler_, params_, driver_, iommu_, process_, processes_, frames_, registration_};
  for (std::uint32_t nic = 0; nic < nics; ++nic) devices_.push_back(std::make_unique<RdmaDevice>(shared, nic, nics));
}

Kernel::~Kernel() = default;

void Kernel::end_of_elaboration() {
  fault_path_ = std::make_unique<FaultPath>(scheduler_, *cpus[0], params_, processes_);
  for (int nic = 0; nic < static_cast<int>(devices_.size()); ++nic)
    devices_[static_cast<std::size_t>(nic)]->attach(
        {*cpus[0], *memory[0], *command[nic], *umr[nic], *tables[nic], *fault_path_, queue_pairs[0]->port()});
}

void Kernel::start_of_simulation() {
  for (const auto& device : devices_) device->start();
  note_memory(processes_, frames_, scheduler_.now());
}

MemorySeries Kernel::memory_series() const {
  MemorySeries series = processes_.series;
  // Rings and tables take frames beside the processes.
  series.note(scheduler_.now(), processes_.levels(frames_));
  return series;
}

ports::Cpus::Run Kernel::system_call(verbs::Thread thread, Time beyond_entry) {
  return cpus->run(thread, ports::Work::syscall, params_.syscall + beyond_entry);
}

ports::Cpus::Run Kernel::work_locked(verbs::Thread thread, Time span) {
  return cpus->run(thread, ports::Work::syscall,
                   span + processes_.of(thread).shared.count_mmap_lock(thread, scheduler_.now(), params_.line_transfer));
}

Kernel::Answer Kernel::reg_mr(verbs::Thread thread, verbs::RegMrRequest request) {
  const Pd* pd = process_.pds.find(request.pd);
  return devices_[pd == nullptr ? 0 : pd->device]->reg_path().reg_mr(thread, request);
}
Kernel::Answer Kernel::rereg_mr(verbs::Thread thread, verbs::ReregMrRequest request) {
  return of_mr(request.mr).reg_path().rereg_mr(thread, request);
}
Kernel::Answer Kernel::dereg_mr(verbs::Thread thread, verbs::Handle mr) { return of_mr(mr).reg_path().dereg_mr(thread, mr); }
Kernel::Answer Kernel::alloc_mw(verbs::Thread thread, verbs::Handle pd, std::uint8_t type) {
  const Pd* found = process_.pds.find(pd);
  return devices_[found == nullptr ? 0 : found->device]->window_path().alloc_mw(thread, pd, type);
}
Kernel::Answer Kernel::dealloc_mw(verbs::Thread thread, verbs::Handle mw) { return of_mr(mw).window_path().dealloc_mw(thread, mw); }
Kernel::Answer Kernel::advise_mr(verbs::Thread thread, verbs::AdviseMrRequest request) {
  const Pd* pd = process_.pds.find(request.pd);
  return devices_[pd == nullptr ? 0 : pd->device]->reg_path().on_demand().advise_mr(thread, request);
}

}  // namespace mtsim::kernel
