#include "results/compare_operations.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <tuple>

namespace mtsim::results {
namespace {

using Rows = std::span<const OperationRow>;

/// The rows by host and number, those with the same in their order.
std::vector<std::uint32_t> by_number(Rows rows) {
  std::vector<std::uint32_t> out(rows.size());
  std::iota(out.begin(), out.end(), std::uint32_t{0});
  std::sort(out.begin(), out.end(), [&](std::uint32_t x, std::uint32_t y) {
    return std::tuple(rows[x].host, rows[x].wr, x) < std::tuple(rows[y].host, rows[y].wr, y);
  });
  return out;
}

OperationDifference::Side side_of(const OperationRow& row, const Names& names) {
  return {names[row.qp], row.opcode, row.status, row.bytes};
}

bool same(const OperationRow& a, const OperationRow& b) {
  // What a failed one has moved is not told by a device.
  const bool bytes = a.bytes == b.bytes || a.status != verbs::Status::SUCCESS;
  return a.qp == b.qp && a.opcode == b.opcode && a.status == b.status && bytes;
}

bool counts_as_time(const OperationRow& row) { return row.measured && row.status == verbs::Status::SUCCESS; }

double latency_ns(const OperationRow& row) { return static_cast<double>(row.latency.raw) / 1e3; }

/// Which row of B each row of A is, and the rows that have no other.
struct Matching {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> both;  ///< by A's order
  std::vector<std::uint32_t> only_a, only_b;
};

Matching match(Rows a, Rows b) {
  Matching out;
  const std::vector<std::uint32_t> in_a = by_number(a), in_b = by_number(b);
  auto at_a = in_a.begin(), at_b = in_b.begin();
  const auto key = [](const OperationRow& row) { return std::tuple(row.host, row.wr); };
  while (at_a != in_a.end() || at_b != in_b.end()) {
    const bool ended_a = at_a == in_a.end(), ended_b = at_b == in_b.end();
    if (ended_b || (!ended_a && key(a[*at_a]) < key(b[*at_b]))) out.only_a.push_back(*at_a++);
    else if (ended_a || key(b[*at_b]) < key(a[*at_a])) out.only_b.push_back(*at_b++);
    else out.both.emplace_back(*at_a++, *at_b++);
  }
  std::sort(out.both.begin(), out.both.end());
  std::sort(out.only_a.begin(), out.only_a.end());
  std::sort(out.only_b.begin(), out.only_b.end());
  return out;
}

/// Sends or receives of a QP.
using Queue = std::tuple<std::string, std::string, bool>;
using Sequence = std::vector<OrderDifference::Side>;

std::map<Queue, std::array<Sequence, 2>> sequences(Rows a, Rows b, const Names& names) {
  // By number first: a name is looked at once for each QP, not for each row.
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, std::array<Sequence, 2>> numbered;
  for (const std::size_t side : {0, 1})
    for (const OperationRow& row : side == 0 ? a : b)
      // When one ended that nobody was told of is not known of a device.
      if (row.cqe) numbered[{row.host, row.qp, row.opcode == verbs::Opcode::recv}][side].push_back({row.wr, row.status});
  std::map<Queue, std::array<Sequence, 2>> out;
  for (auto& [queue, both] : numbered) out[{names[std::get<0>(queue)], names[std::get<1>(queue)], std::get<2>(queue)}] = std::move(both);
  return out;
}

void compare_order(Rows a, Rows b, const Names& names, OperationsComparison& out) {
  for (const auto& [queue, both] : sequences(a, b, names)) {
    ++out.queues;
    const auto& [in_a, in_b] = both;
    const auto [at_a, at_b] = std::mismatch(in_a.begin(), in_a.end(), in_b.begin(), in_b.end());
    if (at_a == in_a.end() && at_b == in_b.end()) continue;
    OrderDifference difference{std::get<0>(queue), std::get<1>(queue),
                               std::get<2>(queue), static_cast<std::uint64_t>(at_a - in_a.begin()) + 1,
                               std::nullopt,       std::nullopt};
    if (at_a != in_a.end()) difference.a = *at_a;
    if (at_b != in_b.end()) difference.b = *at_b;
    const auto same_wr = [](const auto& x, const auto& y) { return x.wr == y.wr; };
    difference.statuses_alone = std::equal(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(), same_wr);
    out.order.push_back(std::move(difference));
  }
}

/// Times under way, by opcode and, below it, by class.
struct Collected {
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  std::vector<double> a, b;
  std::vector<statistics::Pair> pairs;
  void size(std::uint64_t bytes) {
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
};

void compare_times(Rows a, Rows b, const Matching& matching, OperationsComparison& out) {
  static constexpr unsigned whole = 0;  // classes are counted from 1 here, so that the opcode itself comes first
  std::map<std::pair<verbs::Opcode, unsigned>, Collected> all;
  const auto groups = [](const OperationRow& row) {
    return std::array{std::pair(row.opcode, whole), std::pair(row.opcode, size_class_of(row.bytes) + 1)};
  };
  for (const auto& [rows, times, completed] :
       {std::tuple(a, &Collected::a, &out.completed_a), std::tuple(b, &Collected::b, &out.completed_b)})
    for (const OperationRow& row : rows) {
      if (row.measured) ++(*completed)[unsigned(row.opcode)];
      if (!counts_as_time(row)) continue;
      for (const auto& group : groups(row)) {
        Collected& c = all[group];
        c.size(row.bytes);
        (c.*times).push_back(latency_ns(row));
      }
    }
  for (const auto& [x, y] : matching.both)
    if (counts_as_time(a[x]) && counts_as_time(b[y]) && same(a[x], b[y]))
      for (const auto& group : groups(a[x]))
        all[group].pairs.push_back({static_cast<double>(a[x].bytes), latency_ns(a[x]), latency_ns(b[y])});
  for (auto& [group, c] : all) {
    const auto& [opcode, size] = group;
    OperationTimes times{opcode, size == whole ? std::nullopt : std::optional(size - 1), c.least, c.most, {}, {}, std::move(c.pairs)};
    times.a = statistics::Sample(std::move(c.a));
    times.b = statistics::Sample(std::move(c.b));
    out.times.push_back(std::move(times));
  }
  // A single class is the opcode once more.
  std::array<unsigned, verbs::opcode_count> classes{};
  for (const OperationTimes& t : out.times) classes[unsigned(t.opcode)] += t.size_class.has_value();
  std::erase_if(out.times, [&](const OperationTimes& t) { return t.size_class && classes[unsigned(t.opcode)] == 1; });
}

}  // namespace

unsigned size_class_of(std::uint64_t bytes) { return bytes <= 1 ? 0 : static_cast<unsigned>(std::bit_width(bytes - 1)); }

OperationsComparison compare_operations(Rows a, Rows b, const Names& names, bool measured) {
  OperationsComparison out;
  out.rows_a = a.size();
  out.rows_b = b.size();
  Matching matching = match(a, b);
  if (measured) {
    std::erase_if(matching.only_a, [&](std::uint32_t row) { return !a[row].cqe; });
    std::erase_if(matching.only_b, [&](std::uint32_t row) { return !b[row].cqe; });
  }
  out.matched = matching.both.size();
  out.only_a_total = matching.only_a.size();
  out.only_b_total = matching.only_b.size();
  for (const auto& [x, y] : matching.both) {
    if (same(a[x], b[y])) continue;
    if (out.differing_total++ < differences_listed)
      out.differing.push_back({names[a[x].host], a[x].wr, side_of(a[x], names), side_of(b[y], names), {}});
  }
  const auto alone = [&](Rows rows, const std::vector<std::uint32_t>& which,
                         std::optional<OperationDifference::Side> OperationDifference::*side, std::vector<OperationDifference>& list) {
    for (std::size_t i = 0; i < std::min(which.size(), differences_listed); ++i) {
      const OperationRow& row = rows[which[i]];
      list.push_back({names[row.host], row.wr, std::nullopt, std::nullopt, {}});
      list.back().*side = side_of(row, names);
    }
  };
  alone(a, matching.only_a, &OperationDifference::a, out.only_a);
  alone(b, matching.only_b, &OperationDifference::b, out.only_b);
  compare_order(a, b, names, out);
  compare_times(a, b, matching, out);
  return out;
}

}  // namespace mtsim::results
