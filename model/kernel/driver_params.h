// The kernel driver of the NIC, as a set of choices and costs: an overlay of these parameters is a driver.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/units.h"
#include "kernel/key_policy.h"
#include "kernel/pin_plan.h"
#include "verbs/rules.h"

namespace mtsim::kernel {

/// What a driver answers to an MR that is larger than it allows.
enum class SizeRefusal : std::uint8_t { einval, enomem };
/// Where operations find an MR, what its rkey is, what rereg_mr can change: see the parameters of these names.
enum class MrStart : std::uint8_t { iova, address };
enum class Rkey : std::uint8_t { lkey, own, lkey_if_remote };
enum class Rereg : std::uint8_t { all, rights, none };

/// Where an MR begins.
struct MrPlace {
  Iova start;  ///< as operations see it
  Bytes lead;  ///< of a zero-based one: offset of its first byte within its page, which `start` does not tell
  Iova told;   ///< as the program believes
};

/// On-demand paging, as far as a device has it.
enum class OnDemand : std::uint8_t { none, explicit_only, implicit };

struct DriverParams {
  std::string table_writer, keys;
  std::shared_ptr<const verbs::Rules> rules = verbs::the_ib_rules();
  std::uint64_t most_keys{}, key_seed{};
  std::string cache_limits;
  std::uint32_t cache_in_flight{};
  Time cache_age, cache_temporary_age;
  bool cache_prefill{};
  PageSizeChoice page_size{};
  Bytes largest_page, largest_segment;
  Bytes largest_mr;
  SizeRefusal largest_mr_error{};
  std::string refused_access, own_key_access;
  bool refuses_empty{}, own_memlock{}, flush{}, zero_based{};
  MrStart mr_start{};
  Rkey rkey{};
  Rereg rereg{};
  OnDemand on_demand{};
  Time page_fault_queue;
  Time key;
  Time umr_post, list_entry;
  std::uint64_t umr_entries{};
  std::uint32_t umr_requests{};
  Time command_post, mailbox;
  Time create_key, create_key_latency, destroy_key, destroy_key_latency, query_qp;
  Time store_entry, map_chunk, push_message;
  Bytes table_chunk, context_chunk;
  bool keep_chunks{};
  std::uint64_t push_entries{};
  bool pins_queues{};
  static void declare(Declaration<DriverParams>& d);

  PinRules pin_rules() const;
  /// The driver's own answer to an MR of that access and length, before anything is pinned: 0 or an errno value.
  int refusal(verbs::Access access, Bytes length) const;
  MrPlace place(verbs::Access access, Va address, Iova asked) const;
  Key rkey_of(Key lkey, verbs::Access access) const;
  /// The bits of a key's variant in which an rkey differs from its lkey.
  std::uint8_t rkey_bits() const;
  /// Those of an MR's flags that `own_key_access` names.
  verbs::Access fixed_access(verbs::Access access) const;
  /// What `refused_access` and `own_key_access` say, or nothing when that is not of their form.
  std::optional<verbs::Access> refused_access_flags() const;
  std::optional<verbs::Access> own_key_access_flags() const;
  static constexpr const char* access_form = "takes access flags of lw rr rw ra mw zb od ht ro fg fp with spaces between them";
  KeyPolicyOptions key_options() const;
  /// What `cache_limits` says, or nothing when it is not of its form.
  std::optional<std::vector<std::uint32_t>> cache_limit_list() const;
  static constexpr const char* cache_limits_form =
      "takes up to 40 numbers with spaces between them, each up to 65535; 250x12 stands for twelve of them";

 private:
  static void declare_checks(Declaration<DriverParams>& d);
};

}  // namespace mtsim::kernel
