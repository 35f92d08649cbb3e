#include "kernel/kernel.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/error.h"

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
               FramePool& frames, const IommuParams& iommu)
    : sc_module(module_name),
      scheduler_(scheduler),
      params_(params),
      driver_(driver),
      iommu_(iommu),
      frames_(frames),
      process_(frames, {params.max_map_count, frames.swap(), reserve_of(frames)}) {
  std::vector<std::string> complaints;
  check_name<TableWriters>("driver.table_writer", driver.table_writer, complaints);
  check_name<KeyPolicies>("driver.keys", driver.keys, complaints);
  check_name<DmaMappers>("host.iommu.mode", iommu.mode, complaints);
  if (!driver.cache_limit_list()) complaints.push_back(fmt::format("driver.cache_limits: {}", DriverParams::cache_limits_form));
  if (!complaints.empty()) throw UserError(complaints);
  dma_ = DmaMappers::make(iommu.mode, DmaMapperContext{scheduler_, params_, iommu_, frames_.law()});
  keys_ = KeyPolicies::make(driver.keys, driver.key_options());
}

Kernel::~Kernel() = default;

void Kernel::end_of_elaboration() {
  const TableWriterContext context{scheduler_, driver_, *command[0], *umr[0], *tables[0], *memory[0]};
  keeper_ = std::make_unique<KeyKeeper>(scheduler_, driver_, *keys_, *command[0]);
  writer_ = TableWriters::make(driver_.table_writer, context);
  reg_path_ = std::make_unique<RegPath>(RegPath::Parts{scheduler_, *cpus[0], params_, driver_, process_, *writer_, *keeper_, *dma_, frames_,
                                                       context, queue_pairs[0]->port()});
}

ports::Cpus::Run Kernel::system_call(verbs::Thread thread, Time beyond_entry) {
  return cpus->run(thread, ports::Work::syscall, params_.syscall + beyond_entry);
}

Kernel::Answer Kernel::reg_mr(verbs::Thread thread, verbs::RegMrRequest request) { return reg_path_->reg_mr(thread, request); }
Kernel::Answer Kernel::rereg_mr(verbs::Thread thread, verbs::ReregMrRequest request) { return reg_path_->rereg_mr(thread, request); }
Kernel::Answer Kernel::dereg_mr(verbs::Thread thread, verbs::Handle mr) { return reg_path_->dereg_mr(thread, mr); }
Kernel::Answer Kernel::advise_mr(verbs::Thread thread, verbs::AdviseMrRequest request) {
  return reg_path_->on_demand().advise_mr(thread, request);
}

}  // namespace mtsim::kernel
