#include "results/waits.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mtsim::results {

void WaitTable::open(std::uint32_t kind) {
  if (kind >= kinds_.size()) kinds_.resize(kind + 1);
  kinds_[kind] = std::make_unique<Kind>();
}

void WaitTable::merge(const WaitTable& other) {
  for (std::uint32_t kind = 0; kind < other.kinds_.size(); ++kind) {
    if (other.kinds_[kind] == nullptr) continue;
    if (kind >= kinds_.size() || kinds_[kind] == nullptr) open(kind);
    Kind& to = *kinds_[kind];
    const Kind& from = *other.kinds_[kind];
    if (to.bins.size() < from.bins.size()) to.bins.resize(from.bins.size());
    for (std::size_t bin = 0; bin < from.bins.size(); ++bin) to.bins[bin] += from.bins[bin];
    to.total += from.total;
    to.longest = std::max(to.longest, from.longest);
  }
}

WaitStats WaitTable::stats_of(const Kind& waits, std::string name, std::uint64_t operations) {
  WaitStats out;
  out.name = std::move(name);
  out.operations = std::accumulate(waits.bins.begin(), waits.bins.end(), std::uint64_t{0});
  out.total = waits.total;
  out.longest = waits.longest;
  // Operations that did not wait come first in the order of waits.
  const auto rank = static_cast<std::uint64_t>(std::ceil(0.99 * static_cast<double>(operations)));
  std::uint64_t below = operations - std::min(operations, out.operations);
  for (unsigned bin = 0; bin < waits.bins.size() && below < rank; ++bin) {
    below += waits.bins[bin];
    if (below < rank) continue;
    const unsigned shift = bin < 2 * sub_bins ? 0 : bin / sub_bins - 1;
    const std::uint64_t low = std::uint64_t{bin - shift * sub_bins} << shift, width = std::uint64_t{1} << shift;
    out.p99 = std::min(Time(static_cast<std::int64_t>(low + (width - 1) / 2)), out.longest);
  }
  return out;
}

}  // namespace mtsim::results
