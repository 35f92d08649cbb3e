// The least recently used line goes.
#include "nic/use_order.h"

namespace mtsim::nic {
namespace {

template <class Order>
class Lru final : public ReplacementPolicy {
 public:
  explicit Lru(const CacheShape& shape) : order_(shape) {}
  void used(Slot slot) override { order_.touch(slot); }
  void filled(Slot slot) override { order_.touch(slot); }
  Slot victim(const Candidates& candidates) override { return order_.oldest(candidates); }

 private:
  Order order_;
};

const ReplacementPolicies::Entrant registered("lru", "the line used longest ago goes", with_order<Lru>);

}  // namespace
}  // namespace mtsim::nic
