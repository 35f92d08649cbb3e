// The NIC's parameters, by unit.
#pragma once

#include "base/parameter.h"
#include "base/units.h"
#include "nic/cache_params.h"
#include "nic/context_params.h"
#include "nic/transfers.h"
#include "translate/architecture.h"
#include "verbs/rules.h"

namespace mtsim::nic {

struct NicParams {
  Frequency clock{};
  std::string translation;
  Bytes table_space{}, write_buffer{}, icm_page{}, child{};
  bool deepest_first{};
  std::uint32_t walks{}, contexts{}, inline_entries{};
  translate::Allocation table_allocation{};
  std::uint64_t table_entries{};
  Time window_change{};
  static void declare(Declaration<NicParams>& d);
};

/// A pipe that takes up a request every `interval`, keeps it for `service` before its look-ups, and has room for `contexts` between
/// taking up and the end of the translation.
struct PipeParams {
  Time interval{}, service{};
  std::uint32_t contexts{};
  // Not the pipe's own:
  bool measures = true;  ///< whether it is noted what operations wait for
  std::shared_ptr<const verbs::Rules> rules = verbs::the_ib_rules();
};
enum class PrefetchAt : std::uint8_t { doorbell, turn };
struct RequesterParams : PipeParams {
  Bytes buffer{};
  std::uint32_t prefetch{}, wqe_fetches{}, burst{}, qp_pieces = 1;
  PrefetchAt prefetch_at{};
  bool translate_ahead = false;
  std::string qp_order;
  static void declare(Declaration<RequesterParams>& d);
};
struct ResponderParams : PipeParams {
  Time read_service{};
  Bytes buffer{};
  std::uint32_t receive_prefetch{}, atomic_locks{};
  static void declare(Declaration<ResponderParams>& d);
};

struct FirmwareParams {
  std::uint32_t command_slots{};
  Time umr{};
  static void declare(Declaration<FirmwareParams>& d);
};

/// All of them.
struct NicSettings {
  NicParams nic;
  MptCacheParams mpt_cache;
  MttCacheParams mtt_cache;
  IcmCacheParams icm_cache;
  RequesterParams requester;
  ResponderParams responder;
  FirmwareParams firmware;
  // None of these unless they have lines.
  MptLevel2Params mpt_level2 = {};
  MttLevel2Params mtt_level2 = {};
  CachePoolParams cache_pool = {};
  TransferParams transfers = defaults<TransferParams>();
  QpCacheParams qp_cache = {};
  QpLevel2Params qp_level2 = {};
  RequestCacheParams request_cache = {};
};

}  // namespace mtsim::nic
