// A rule set written out, field by field: for `mtsim describe rules`, the table in docs/rules.md, and the tests.
#pragma once

#include <string>
#include <vector>

#include "verbs/rules.h"

namespace mtsim::verbs {

struct RuleField {
  std::string name;   ///< `requester.gather_key`, as Rules::Evidence names it
  std::string value;  ///< `LOC_PROT_ERR`, `EINVAL`, `yes`; of a refusal `NAK / status of the receive / event`; - is nothing
  friend bool operator==(const RuleField&, const RuleField&) = default;
};
/// Every field, in the order of Rules.
std::vector<RuleField> fields(const Rules& rules);
/// The name of the field that says what comes of a check that fails: `responder.key`.
std::string check_field(Check check);

/// What is said of each set: one line a field in which it differs from `ib` or which evidence confirms, with the evidence. Of `ib` itself
/// every field. Columns are set apart by two spaces or more.
std::string describe_rules();

}  // namespace mtsim::verbs
