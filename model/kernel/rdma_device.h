// One NIC as the kernel of its host knows it: whatever a driver keeps for each of its devices. Memory, CPUs and the process are the
// kernel's, and all devices share them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernel/dma_mapping.h"
#include "kernel/driver_params.h"
#include "kernel/iommu_params.h"
#include "kernel/kernel_params.h"
#include "kernel/key_keeper.h"
#include "kernel/object_table.h"
#include "kernel/queue_pin.h"
#include "kernel/reg_path.h"
#include "kernel/table_writer.h"
#include "kernel/window_path.h"
#include "ports/cpu.h"
#include "ports/memory.h"
#include "ports/nic.h"

namespace mtsim::kernel {

class RdmaDevice {
 public:
  struct Cq {
    QueuePin pin;
    std::uint32_t users = 0;  ///< QPs
  };
  struct Srq {
    verbs::Handle pd = 0;
    QueuePin pin;
    std::uint32_t users = 0;  ///< QPs
  };
  struct Qp {
    std::uint32_t qpn = 0;
    ports::Kernel::QpObjects objects;
    QueuePin pin;
  };

  /// Of the kernel. All of it outlives the device.
  struct Shared {
    engine::Scheduler& scheduler;
    const KernelParams& kernel;
    const DriverParams& driver;
    const IommuParams& iommu;
    Process& process;  ///< whose PDs they are
    Processes& processes;
    const FramePool& frames;
    RegistrationTotals& totals;
  };
  /// The device of that number, of so many: both tell its handles from those of others. The names of components must be known ones.
  RdmaDevice(const Shared& shared, std::uint32_t number, std::uint32_t of)
      : cqs(number, of),
        srqs(number, of),
        qps(number, of),
        shared_(shared),
        number_(number),
        of_(of),
        keys_(KeyPolicies::make(shared.driver.keys, shared.driver.key_options())),
        dma_(DmaMappers::make(shared.iommu.mode, DmaMapperContext{shared.scheduler, shared.kernel, shared.iommu, shared.frames.law()})) {}

  /// The NIC and what it shares its host with; once, after elaboration.
  struct Ports {
    ports::Cpus& cpus;
    ports::HostMemory& memory;
    ports::Command& command;
    ports::Umr& umr;
    ports::Tables& tables;
    FaultPath& faults;
    std::uint32_t rank = 0;  ///< of the host
  };
  void attach(const Ports& ports) {
    ports_.emplace(ports);
    const TableWriterContext context{shared_.scheduler, shared_.driver, ports.command, ports.umr, ports.tables, ports.memory};
    keeper_ = std::make_unique<KeyKeeper>(shared_.scheduler, shared_.driver, *keys_, ports.command);
    writer_ = TableWriters::make(shared_.driver.table_writer, context);
    const RegParts parts{shared_.scheduler, ports.cpus, shared_.kernel, shared_.driver, shared_.process, shared_.processes,
                         ports.faults,      *writer_,   *keeper_,       *dma_,          shared_.frames,  shared_.totals,
                         number_,           of_,        context,        ports.rank};
    reg_path_ = std::make_unique<RegPath>(parts);
    window_path_ = std::make_unique<WindowPath>(parts);
  }
  void start() { keeper_->start(); }

  RegPath& reg_path() { return *reg_path_; }
  const RegPath& reg_path() const { return *reg_path_; }
  /// Asks the firmware, where there is one, for the state of an object; its thread is asleep meanwhile. The answer is 0.
  engine::Task<int> query(verbs::Thread thread);
  WindowPath& window_path() { return *window_path_; }
  std::vector<TableWriter::Lock> table_locks() const { return writer_->locks(); }
  const DmaMapper& dma_mapper() const { return *dma_; }
  std::vector<KeyCount> key_counts() const { return keeper_->counts(); }

  ObjectTable<Cq> cqs;
  ObjectTable<Srq> srqs;
  ObjectTable<Qp> qps;

 private:
  const Shared shared_;
  const std::uint32_t number_, of_;
  std::optional<Ports> ports_;
  std::unique_ptr<KeyPolicy> keys_;
  std::unique_ptr<KeyKeeper> keeper_;
  std::unique_ptr<TableWriter> writer_;
  std::unique_ptr<DmaMapper> dma_;
  std::unique_ptr<RegPath> reg_path_;
  std::unique_ptr<WindowPath> window_path_;
};

}  // namespace mtsim::kernel
