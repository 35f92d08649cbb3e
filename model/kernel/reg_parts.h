// What the registration paths of a host work with.
#pragma once

#include <cerrno>

#include "kernel/call.h"
#include "kernel/dma_mapping.h"
#include "kernel/driver_params.h"
#include "kernel/fault_path.h"
#include "kernel/kernel_params.h"
#include "kernel/key_keeper.h"
#include "kernel/processes.h"
#include "kernel/table_writer.h"

namespace mtsim::kernel {

/// What the registrations of a host came to.
struct RegistrationTotals {
  std::uint64_t reg_mr = 0, rereg_mr = 0, dereg_mr = 0;                      ///< calls, failed ones included
  ports::RegistrationCost reg_cost, rereg_cost, dereg_cost, on_demand_cost;  ///< the last: of prefetches and invalidations
  Bytes pinned_now, pinned_most;
};

/// References outlive the paths.
struct RegParts {
  engine::Scheduler& scheduler;
  ports::Cpus& cpus;
  const KernelParams& kernel;
  const DriverParams& driver;
  Process& process;  ///< whose PDs they are
  Processes& processes;
  FaultPath& faults;
  TableWriter& writer;
  KeyKeeper& keys;
  DmaMapper& dma;
  const FramePool& frames;
  RegistrationTotals& totals;  ///< of the host: paths of several devices add to it
  std::uint32_t number, of;    ///< this device's number, of so many
  TableWriterContext device;
  std::uint32_t host_rank = 0;

  /// Whether the device has on-demand paging.
  bool on_demand() const { return driver.on_demand != OnDemand::none && writer.changes_entries(); }
  /// What the kernel answers to on-demand paging where the device has none; 0 where it has.
  int without_on_demand() const { return on_demand() ? 0 : kernel.without_on_demand == WithoutOnDemand::einval ? EINVAL : EOPNOTSUPP; }
};

/// Takes note of calls that have ended.
class EndedCalls {
 public:
  virtual void close(Call& call, int error, Bytes length) = 0;

 protected:
  ~EndedCalls() = default;
};

}  // namespace mtsim::kernel
