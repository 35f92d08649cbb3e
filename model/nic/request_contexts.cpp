#include "nic/request_contexts.h"

#include <algorithm>

namespace mtsim::nic {

RequestContexts::RequestContexts(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, const RequestCacheParams& params)
    : sc_module(module_name), dma("dma"), scheduler_(scheduler), cache_("cache", params), fetches_(scheduler, params.fetches) {}

engine::Task<int> RequestContexts::fetch(Qp& qp, std::uint32_t index, bool keep) {
  const Time since = scheduler_.now();
  const std::uint32_t life = qp.life;
  ++misses_.count;
  co_await fetches_.take();
  co_await ports::DmaRead(*dma.operator->(), qp.attributes.ring->address(index), Bytes(qp.wqe(index).basic_blocks * 64),
                          ports::Agent::control, qp.requester_order);
  fetches_.give();
  if (keep && qp.lives(life)) begin(qp, index);
  const Time waited = scheduler_.now() - since;
  misses_.total += waited;
  misses_.longest = std::max(misses_.longest, waited);
  co_return 0;
}

}  // namespace mtsim::nic
