// A QP keeps its turn for some requests, as long as it has any.
#include "nic/qp_order.h"

namespace mtsim::nic {
namespace {

class Burst final : public QpOrder {
 public:
  explicit Burst(std::uint32_t requests) : requests_(requests) {}
  bool goes_on(std::uint32_t taken) override { return taken < requests_; }

 private:
  std::uint32_t requests_;
};

const QpOrders::Entrant registered("burst", "by turns of nic.requester.burst requests each",
                                   [](std::uint32_t requests) { return std::make_unique<Burst>(requests); });

}  // namespace
}  // namespace mtsim::nic
