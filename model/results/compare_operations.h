// The operations of two runs of one program, held against each other one by one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/compare_statistics.h"
#include "results/operations_reader.h"

namespace mtsim::results {

/// One operation that is not the same on both sides, or that one side has alone.
struct OperationDifference {
  std::string host;
  std::uint64_t wr = 0;
  struct Side {
    std::string qp;
    verbs::Opcode opcode = verbs::Opcode::write;
    verbs::Status status = verbs::Status::SUCCESS;
    std::uint64_t bytes = 0;
  };
  std::optional<Side> a, b;
  std::string licence;  ///< what the rule sets say of it; empty: nothing
};

/// The first place at which the sends, or the receives, of a QP do not end as on the other side.
struct OrderDifference {
  std::string host, qp;
  bool receives = false;
  std::uint64_t position = 0;  ///< from 1
  struct Side {
    std::uint64_t wr = 0;
    verbs::Status status = verbs::Status::SUCCESS;
    bool operator==(const Side&) const = default;
  };
  std::optional<Side> a, b;     ///< nothing: that side has ended
  bool statuses_alone = false;  ///< the same operations end in the same order all along
};

/// Times of one kind of operation: of those within the measured window that succeeded.
struct OperationTimes {
  verbs::Opcode opcode = verbs::Opcode::write;
  /// Of which sizes, from the least to the greatest that there is; of all: the class is nothing.
  std::optional<unsigned> size_class;
  std::uint64_t least = 0, most = 0;
  statistics::Sample a, b;
  std::vector<statistics::Pair> pairs;  ///< in ns, of operations that both sides have
};

struct OperationsComparison {
  std::uint64_t rows_a = 0, rows_b = 0, matched = 0;
  std::uint64_t differing_total = 0, only_a_total = 0, only_b_total = 0;
  /// The first of them, in the order in which A has them (B those that it has alone).
  std::vector<OperationDifference> differing, only_a, only_b;
  std::uint64_t queues = 0;            ///< sends and receives of QPs that any side has
  std::vector<OrderDifference> order;  ///< one for each that differs, by host and QP
  /// By opcode; those of an opcode with several classes of size follow it. Class n has the sizes in (2^(n-1), 2^n], class 0 none and one.
  std::vector<OperationTimes> times;
  /// Of the measured window, by opcode: what the report of the same run has as completed.
  std::array<std::uint64_t, verbs::opcode_count> completed_a{}, completed_b{};

  bool differs() const { return differing_total + only_a_total + only_b_total + order.size() != 0; }
};

inline constexpr std::size_t differences_listed = 20;

/// Rows are one operation where host and number (wr) are the same; where one file has a number several times, the first with the first and
/// so on. Both must be in the order in which operations ended, and from read_operations() with the same `names`.
/// `measured`: one side is a device, and what became of a request of which no completion told is not known there: such a row may stand
/// alone.
OperationsComparison compare_operations(std::span<const OperationRow> a, std::span<const OperationRow> b, const Names& names,
                                        bool measured = false);

/// The class of OperationTimes of so many bytes.
unsigned size_class_of(std::uint64_t bytes);

}  // namespace mtsim::results
