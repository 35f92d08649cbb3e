// Who goes first within one picosecond: by host (rank of its name), then unit, then a number of the unit's own.
#pragma once

#include <cstdint>

#include "engine/timer.h"

namespace mtsim::ports {

enum class Unit : std::uint32_t {
  sw,
  link,
  root_complex,
  doorbell,
  firmware,
  walker,
  responder,
  requester,
  completion,
  cpu,
  kernel,
  program
};

inline engine::Order order(std::uint32_t host_rank, Unit unit, std::uint64_t within = 0) {
  return engine::Order(host_rank << 4 | std::uint32_t(unit), within);
}

}  // namespace mtsim::ports
