// The kernel driver of the NIC, as a set of choices and costs: an overlay of these parameters is a driver.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/units.h"
#include "kernel/key_policy.h"
#include "kernel/pin_plan.h"

namespace mtsim::kernel {

/// What a driver answers to an MR that is larger than it allows.
enum class SizeRefusal : std::uint8_t { einval, enomem };

/// On-demand paging, as far as a device has it.
enum class OnDemand : std::uint8_t { none, explicit_only, implicit };

struct DriverParams {
  std::string table_writer, keys;
  std::uint64_t most_keys{}, key_seed{};
  std::string cache_limits;
  std::uint32_t cache_in_flight{};
  Time cache_age, cache_temporary_age;
  bool cache_prefill{};
  PageSizeChoice page_size{};
  Bytes largest_page, largest_segment, largest_mr;
  SizeRefusal largest_mr_error{};
  OnDemand on_demand{};
  Time page_fault_queue;
  Time key;
  Time umr_post, list_entry;
  std::uint64_t umr_entries{};
  std::uint32_t umr_requests{};
  Time command_post, mailbox;
  Time create_key, create_key_latency, destroy_key, destroy_key_latency;
  Time store_entry, map_chunk, push_message;
  Bytes table_chunk, context_chunk;
  bool keep_chunks{};
  std::uint64_t push_entries{};
  static void declare(Declaration<DriverParams>& d);

  PinRules pin_rules() const;
  /// The driver's own answer to an MR of this length, before anything is pinned: 0 or an errno value.
  int refusal(Bytes length) const;
  KeyPolicyOptions key_options() const;
  /// What `cache_limits` says, or nothing when it is not of its form.
  std::optional<std::vector<std::uint32_t>> cache_limit_list() const;
  static constexpr const char* cache_limits_form =
      "takes up to 40 numbers with spaces between them, each up to 65535; 250x12 stands for twelve of them";
};

}  // namespace mtsim::kernel
