// A QP keeps its turn until it has no work left. Others may starve.
#include "nic/qp_order.h"

namespace mtsim::nic {
namespace {

class Exhaustive final : public QpOrder {
 public:
  bool goes_on(std::uint32_t) override { return true; }
};

const QpOrders::Entrant registered("exhaustive", "a turn lasts until the QP has no work left",
                                   [](std::uint32_t) { return std::make_unique<Exhaustive>(); });

}  // namespace
}  // namespace mtsim::nic
