// The unit that carries out transfers for programs on the NIC itself, between host memory and the device's own: what a DMA benchmark
// drives. It has the DMA engine that all units share behind it.
#pragma once

#include <coroutine>
#include <cstdint>

#include "base/parameter.h"
#include "engine/scheduler.h"
#include "engine/semaphore.h"
#include "engine/server.h"
#include "nic/read_join.h"
#include "nic/units.h"
#include "ports/dma.h"
#include "ports/nic.h"

namespace mtsim::nic {

struct TransferParams {
  Time descriptor, copy, core;
  std::uint32_t depth{};
  static void declare(Declaration<TransferParams>& d);
};

class TransferUnit : public sc_core::sc_module, public ports::Transfers {
 public:
  sc_core::sc_port<ports::Dma> dma;
  sc_core::sc_port<OperationLog> log;

  TransferUnit(sc_core::sc_module_name name, engine::Scheduler& scheduler, const TransferParams& params, std::uint32_t host_rank);

  /// Each transfer is logged as an operation, a READ or a WRITE of host memory, without a QP.
  engine::Task<int> transfer(const verbs::DmaRequest& request, const DmaMap& memory) override;

  const engine::Semaphore& engine_places() const { return places_; }
  const engine::Server& copier() const { return copier_; }

 private:
  /// One request, while its transfers are under way.
  struct Job {
    const verbs::DmaRequest& request;
    const DmaMap& memory;
    std::uint64_t places;  ///< that a transfer may begin at
    Bytes unit;            ///< between two of them
    std::uint64_t random;
    std::uint32_t begun = 0, flows = 0;
    std::coroutine_handle<> waiter;
  };
  class Done;
  static std::uint64_t next_place(Job& job, std::uint32_t number);
  engine::Flow carry_out(Job& job, std::uint32_t flow);
  engine::Task<int> read(const Job& job, Bytes offset, engine::Order order);
  engine::Task<int> write(const Job& job, Bytes offset, engine::Order order, bool wait);
  engine::Flow fetch(Pa address, Bytes length, engine::Order order, ReadJoin& join);
  Time copied(Bytes length);

  engine::Scheduler& scheduler_;
  TransferParams params_;
  std::uint32_t host_rank_;
  engine::Semaphore places_;
  engine::Server copier_;
};

}  // namespace mtsim::nic
