// In which order QPs with work have their turns: pure state. A policy is one file that registers itself.
#pragma once

#include <cstdint>

#include "base/registry.h"

namespace mtsim::nic {

class QpOrder {
 public:
  virtual ~QpOrder() = default;
  /// A QP has work left after `taken` of its requests have been taken up in this turn. Whether its turn goes on, so that it comes before
  /// those who wait; otherwise it lines up behind them.
  virtual bool goes_on(std::uint32_t taken) = 0;
};

/// Made with the length of a turn, in requests. A policy whose turns all end with one piece of a request gives null.
using QpOrders = Registry<QpOrder, std::uint32_t>;

}  // namespace mtsim::nic
