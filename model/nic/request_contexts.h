// The contexts of requests whose WQEs have come into the NIC: as many as a cache holds. Of one that has had to go, the WQE is read again
// when the request is taken up or its answer comes; its QP waits for that, others do not. Reads are bounded. A request that is over leaves
// its context where it is, until another takes the place.
#pragma once

#include "engine/scheduler.h"
#include "engine/semaphore.h"
#include "nic/cache.h"
#include "nic/context_params.h"
#include "nic/units.h"
#include "ports/dma.h"

namespace mtsim::nic {

class RequestContexts : public sc_core::sc_module, public RequestStore {
 public:
  sc_core::sc_port<ports::Dma> dma;

  RequestContexts(sc_core::sc_module_name name, engine::Scheduler& scheduler, const RequestCacheParams& params);

  void begin(Qp& qp, std::uint32_t index) override { cache_.fill(place(qp, index), 0, qp.attributes.pd); }
  bool find(Qp& qp, std::uint32_t index) override { return cache_.find(place(qp, index)) != nullptr; }
  engine::Task<int> fetch(Qp& qp, std::uint32_t index, bool keep) override;
  /// The QP begins anew, or is gone.
  void drop(const Qp& qp) { cache_.drop(qp.first_place, qp.outstanding.size()); }

  struct Misses {
    std::uint64_t count = 0;
    Time total, longest;
  };
  const Misses& misses() const { return misses_; }
  const engine::Semaphore& fetches() const { return fetches_; }
  const Cache& cache() const { return cache_; }

 private:
  static std::uint64_t place(const Qp& qp, std::uint32_t index) { return qp.first_place + (index & (qp.outstanding.size() - 1)); }

  engine::Scheduler& scheduler_;
  Cache cache_;
  engine::Semaphore fetches_;
  Misses misses_;
};

}  // namespace mtsim::nic
