// The kernel driver of the NIC, as a set of choices and costs: an overlay of these parameters is a driver.
#pragma once

#include <string>

#include "base/parameter.h"
#include "base/units.h"
#include "kernel/pin_plan.h"

namespace mtsim::kernel {

struct DriverParams {
  std::string table_writer, keys;
  std::uint64_t most_keys{};
  PageSizeChoice page_size{};
  Bytes largest_page, largest_segment;
  Time key;
  Time umr_post, list_entry;
  std::uint64_t umr_entries{};
  std::uint32_t umr_requests{};
  Time command_post, mailbox;
  Time create_key, create_key_latency, destroy_key, destroy_key_latency;
  Time store_entry;
  static void declare(Declaration<DriverParams>& d);

  PinRules pin_rules() const;
};

}  // namespace mtsim::kernel
