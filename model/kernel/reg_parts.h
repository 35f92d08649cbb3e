// What the registration paths of a host work with.
#pragma once

#include "kernel/call.h"
#include "kernel/dma_mapping.h"
#include "kernel/driver_params.h"
#include "kernel/kernel_params.h"
#include "kernel/key_keeper.h"
#include "kernel/process.h"
#include "kernel/table_writer.h"

namespace mtsim::kernel {

/// References outlive the paths.
struct RegParts {
  engine::Scheduler& scheduler;
  ports::Cpus& cpus;
  const KernelParams& kernel;
  const DriverParams& driver;
  Process& process;
  TableWriter& writer;
  KeyKeeper& keys;
  DmaMapper& dma;
  const FramePool& frames;
  TableWriterContext device;
  std::uint32_t host_rank = 0;

  /// Whether the device has on-demand paging.
  bool on_demand() const { return driver.on_demand != OnDemand::none && writer.changes_entries(); }
};

/// Takes note of calls that have ended.
class EndedCalls {
 public:
  virtual void close(Call& call, int error, Bytes length) = 0;

 protected:
  ~EndedCalls() = default;
};

}  // namespace mtsim::kernel
