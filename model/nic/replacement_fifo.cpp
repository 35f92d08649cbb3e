// The line that came first goes, however often it was used since.
#include "nic/use_order.h"

namespace mtsim::nic {
namespace {

template <class Order>
class Fifo final : public ReplacementPolicy {
 public:
  explicit Fifo(const CacheShape& shape) : order_(shape) {}
  void used(Slot) override {}
  void filled(Slot slot) override { order_.touch(slot); }
  Slot victim(const Candidates& candidates) override { return order_.oldest(candidates); }

 private:
  Order order_;
};

const ReplacementPolicies::Entrant registered("fifo", "the line fetched longest ago goes", with_order<Fifo>);

}  // namespace
}  // namespace mtsim::nic
