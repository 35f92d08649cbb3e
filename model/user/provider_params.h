// What the provider library's data path costs a CPU.
#pragma once

#include "base/parameter.h"
#include "base/units.h"

namespace mtsim::user {

struct ProviderParams {
  Time post, wqe, sge, inline_byte, doorbell;
  Time poll_empty, poll_cqe;
  Time find_page_size;
  Bytes blueflame;
  static void declare(Declaration<ProviderParams>& d);
};

}  // namespace mtsim::user
