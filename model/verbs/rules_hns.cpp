// hns: HiSilicon Hip08 and later.
#include "verbs/rules.h"

namespace mtsim::verbs {
namespace {

const RuleSets::Entrant hns{"hns", "HiSilicon Hip08 and later: as ib, nothing else is known", [] {
                              auto rules = std::make_unique<Rules>(ib_rules());
                              rules->name = "hns";
                              return rules;
                            }};

}  // namespace
}  // namespace mtsim::verbs
