#include "system/operation_flows.h"

#include <algorithm>

namespace mtsim::system {

void OperationFlows::add(const OperationKey& key, Anchor anchor) {
  const auto found = outstanding_.find(key);
  if (found != outstanding_.end()) found->second.anchors.push_back(anchor);
}

std::vector<OperationFlows::Anchor> OperationFlows::ended(const OperationKey& key) {
  const auto found = outstanding_.find(key);
  if (found == outstanding_.end() || --found->second.requests > 0) return {};
  std::vector<Anchor> anchors = std::move(found->second.anchors);
  outstanding_.erase(found);
  // Spans on a link are laid out ahead, so they were not told in order.
  std::stable_sort(anchors.begin(), anchors.end(), [](const Anchor& a, const Anchor& b) { return a.at < b.at; });
  return anchors;
}

}  // namespace mtsim::system
