// Marks that the requester makes on requests.
#pragma once

#include "ports/queues.h"

namespace mtsim::nic {

inline Time& stamp(ports::Wqe& wqe, ports::Step step) { return wqe.stamp[unsigned(step)]; }

/// `waits` follow those up to the fetch of the WQE.
inline void keep(ports::Wqe& wqe, const ports::Waits& waits) {
  wqe.waits.drop_from(ports::Step::retry);
  wqe.waits.append(waits);
}

}  // namespace mtsim::nic
