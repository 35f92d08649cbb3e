// The command queue with the firmware behind it, and the UMR queue pair: how the kernel's table writers reach the NIC.
#pragma once

#include "base/units.h"
#include "engine/semaphore.h"
#include "engine/server.h"
#include "nic/params.h"
#include "ports/dma.h"
#include "ports/memory.h"
#include "ports/nic.h"
#include "ports/pcie.h"

namespace mtsim::nic {

class Firmware : public sc_core::sc_module, public ports::Command, public ports::Umr {
 public:
  sc_core::sc_port<ports::Mmio> mmio;
  sc_core::sc_port<ports::Dma> dma;
  sc_core::sc_port<ports::HostMemory> memory;
  sc_core::sc_port<ports::Tables> tables;

  Firmware(sc_core::sc_module_name name, engine::Scheduler& scheduler, Clock clock, const FirmwareParams& params, std::uint32_t host_rank);

  engine::Task<int> execute(const ports::Command::Request& request) override;
  engine::Task<int> post(const ports::Umr::Request& request) override;

  struct Counts {
    std::uint64_t commands = 0, mailboxes = 0, umr_wqes = 0, table_bytes = 0;
  };
  const Counts& counts() const { return counts_; }
  const engine::Server& processor() const { return processor_; }
  const engine::Server& umr_unit() const { return umr_unit_; }
  const engine::Semaphore& slots() const { return slots_; }
  /// Draws commands and UMR requests from now on, and what serves them.
  void draw(Timeline& timeline, const std::string& process);

 private:
  void end_of_elaboration() override;
  /// Hands table contents to the DMA engine, then lets them hold: look-ups that come after see them.
  void write_tables(const translate::TableWrites& writes);

  engine::Scheduler& scheduler_;
  Clock clock_;
  FirmwareParams params_;
  std::uint32_t host_rank_;
  engine::Semaphore slots_;
  engine::Server processor_, umr_unit_;
  Pa queue_, mailboxes_, events_, umr_ring_;
  std::uint64_t serial_ = 0;
  Counts counts_;
  TimelineRow command_row_, umr_row_;
};

}  // namespace mtsim::nic
