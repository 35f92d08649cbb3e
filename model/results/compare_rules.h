// What the rule sets say of an operation that ended otherwise on one side.
#pragma once

#include <optional>
#include <string>

#include "results/compare_operations.h"
#include "results/report.h"
#include "verbs/rules.h"

namespace mtsim::results {

/// What a comparison needs of the configuration of a report.
struct Origin {
  std::optional<std::string> rules;  ///< the set that it names; nothing where it names none
  std::uint64_t runs = 1;            ///< of which the report is (mtsim replay --repeat); operations files hold one of them
};
Origin origin_of(const Report& report);

/// `rxe-6.1 answers LOC_QP_OP_ERR where ib answers LOC_PROT_ERR (requester.gather_key)`: the rules in which the set that A was run under
/// and the one that B claims part ways just like that. Rules that have these answers need not be what was at work. Empty where none have.
std::string licence(const OperationDifference& difference, const verbs::Rules& a, const verbs::Rules& b);

}  // namespace mtsim::results
