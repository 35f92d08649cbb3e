// Each QP in turn, one piece of a request at a time.
#include "nic/qp_order.h"

namespace mtsim::nic {
namespace {

const QpOrders::Entrant registered("round_robin", "by turns, one piece of a request each", [](std::uint32_t) { return nullptr; });

}  // namespace
}  // namespace mtsim::nic
