#include "results/waits.h"

#include <algorithm>
#include <cmath>

namespace mtsim::results {

void WaitTable::open(std::uint32_t kind) {
  if (kind >= kinds_.size()) kinds_.resize(kind + 1);
  kinds_[kind] = std::make_unique<Histogram>();
}

void WaitTable::merge(const WaitTable& other) {
  for (std::uint32_t kind = 0; kind < other.kinds_.size(); ++kind) {
    if (other.kinds_[kind] == nullptr) continue;
    if (kind >= kinds_.size() || kinds_[kind] == nullptr) open(kind);
    kinds_[kind]->merge(*other.kinds_[kind]);
  }
}

WaitStats WaitTable::stats_of(const Histogram& waits, std::string name, std::uint64_t operations) {
  WaitStats out;
  out.name = std::move(name);
  out.operations = waits.count();
  out.total = waits.sum();
  out.longest = waits.max();
  // Operations that did not wait come first in the order of waits.
  const auto rank = static_cast<std::uint64_t>(std::ceil(0.99 * static_cast<double>(operations)));
  const std::uint64_t without = operations - std::min(operations, out.operations);
  if (rank > without) out.p99 = waits.quantile(static_cast<double>(rank - without) / static_cast<double>(out.operations));
  return out;
}

}  // namespace mtsim::results
