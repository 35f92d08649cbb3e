// What the provider library's data path costs a CPU.
#pragma once

#include <memory>

#include "base/parameter.h"
#include "base/units.h"
#include "verbs/rules.h"

namespace mtsim::user {

struct ProviderParams {
  Time post, wqe, sge, inline_byte, doorbell;
  Time poll_empty, poll_cqe;
  Time find_page_size;
  Bytes blueflame;
  std::shared_ptr<const verbs::Rules> rules = verbs::the_ib_rules();  ///< whose answers to posts hold
  static void declare(Declaration<ProviderParams>& d);
};

}  // namespace mtsim::user
