// Two results of one program held against each other: a simulated one (A) and a measured one (B), or any two.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/compare_operations.h"
#include "results/report.h"
#include "results/text.h"

namespace mtsim::results {

/// Version of the JSON's layout. It rises when a reader of the older layout would misread the newer.
inline constexpr unsigned comparison_schema_version = 1;

/// What is compared, and what is said of it.
struct ComparedSide {
  std::string name;  ///< of the file, with the variant where one was chosen
  std::string trace, version;
  std::string measured_on;           ///< empty: a simulation
  std::optional<std::string> rules;  ///< under which it was run, or which it claims
  std::uint64_t runs = 1;            ///< that its report adds up
};

/// A figure that must be the same on both sides. Where their reports are of different numbers of runs, A's is taken as often as B has runs
/// and the other way round.
struct CountRow {
  std::string name;  ///< `write completed`
  std::uint64_t a = 0, b = 0;
  bool differs() const { return a != b; }
};

/// Times of one kind in ns: what both sides have, and how they differ.
struct TimesComparison {
  std::string name;          ///< `write`, `write 4096`, `reg_mr`
  bool part = false;         ///< a class of sizes of the kind before it
  bool approximate = false;  ///< from the bins of histograms, which are 0.4 % wide
  std::uint64_t n_a = 0, n_b = 0;
  struct Figures {
    double min = 0, median = 0, p90 = 0, p99 = 0, mean = 0;
  };
  Figures a, b;
  double ks = 0, critical = 0;
  statistics::Explanation explanation;
  bool comparable() const { return n_a != 0 && n_b != 0; }
  /// Further apart than two samples of that size of one distribution in a hundred.
  bool differs() const { return comparable() && ks > critical; }
};

struct Comparison {
  ComparedSide a, b;
  std::vector<std::string> notes;  ///< what stands in the way of a fair comparison, a sentence each
  std::vector<CountRow> counts;    ///< all that were compared
  std::optional<OperationsComparison> operations;
  std::vector<TimesComparison> times;
  std::size_t counts_differing() const;
  /// Whether statuses, their order or counts differ. Times may.
  bool differs() const;
};

/// Compares two reports, and operations as far as both are given. Rule sets that are not known by name are told in notes.
Comparison compare(const ComparedSide& a, const Report& report_a, const ComparedSide& b, const Report& report_b,
                   std::optional<OperationsComparison> operations);

/// One of them as a line, without what the rules say: `a q1 wr=1 write: LOC_PROT_ERR in A, LOC_QP_OP_ERR in B`.
std::string described(const OperationDifference& difference);
/// `a q1, send number 3: wr=4 SUCCESS in A, wr=3 SUCCESS in B`.
std::string described(const OrderDifference& difference);
/// `B is A times 41.2: a factor explains 97 % of the difference`, one sentence.
std::string explained(const TimesComparison& times);

/// On one screen, about 50 lines by 100 columns; what does not fit is counted.
std::string to_text(const Comparison&, TextOptions = {});
/// Top level: schema, version, differs, a, b, notes, counts, times; and with operations: operations, first_differing, first_only_a,
/// first_only_b, queues, order. A key ends in its unit, one without is a count. Ends in a newline.
std::string to_json(const Comparison&);

}  // namespace mtsim::results
