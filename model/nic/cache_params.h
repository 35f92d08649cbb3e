// The parameters of the NIC's caches of table lines.
#pragma once

#include <string>

#include "base/parameter.h"

namespace mtsim::nic {

enum class TableWrite : std::uint8_t { invalidate, update };
enum class MissCauses : std::uint8_t { estimate, exact };
enum class OnMiss : std::uint8_t { pass, stall };

/// What caches of every level have.
struct CacheLevelParams {
  std::uint32_t lines{}, ways{};  ///< no lines: there is none; no ways: fully associative
  Time latency{};
  std::string replacement, index;
  std::uint64_t seed{};
  std::uint32_t pd_ways{};
  TableWrite table_write{};
  MissCauses miss_causes{};
};

/// Of a kind of line: the first level.
struct CacheParams : CacheLevelParams {
  Bytes line{};
  std::string prefetch;
  Time interval{};  ///< between two look-ups of a port; 0: none waits for another
  std::uint32_t banks{}, ports{};
  OnMiss on_miss{};
};
struct MptCacheParams : CacheParams {
  static void declare(Declaration<MptCacheParams>& d);
};
struct MttCacheParams : CacheParams {
  static void declare(Declaration<MttCacheParams>& d);
};

/// Of the third kind of line, where the architecture has one. It has neither a second level nor a share of the pool.
struct IcmCacheParams : CacheParams {
  static void declare(Declaration<IcmCacheParams>& d);
};

/// The second level of one kind of line.
struct MptLevel2Params : CacheLevelParams {
  static void declare(Declaration<MptLevel2Params>& d);
};
struct MttLevel2Params : CacheLevelParams {
  static void declare(Declaration<MttLevel2Params>& d);
};

/// One for all kinds, behind the first level.
struct CachePoolParams : CacheLevelParams {
  std::uint32_t mpt_ways{}, mtt_ways{};
  static void declare(Declaration<CachePoolParams>& d);
};

}  // namespace mtsim::nic
