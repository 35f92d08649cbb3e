// The parameters of what the NIC keeps of QPs and of requests under way: contexts that are in the NIC as far as a cache holds them.
#pragma once

#include "nic/cache_params.h"
#include "ports/dma.h"

namespace mtsim::nic {

/// The first level of QP contexts; one line holds one context.
struct QpCacheParams : CacheLevelParams {
  bool enabled{};
  Bytes context{};
  ports::Agent agent{};
  std::uint32_t fetches{};
  bool write_back{};
  static void declare(Declaration<QpCacheParams>& d);
};

/// The second level.
struct QpLevel2Params : CacheLevelParams {
  static void declare(Declaration<QpLevel2Params>& d);
};

/// Contexts of requests that wait for their answer; one line holds one.
struct RequestCacheParams : CacheLevelParams {
  std::uint32_t fetches{};
  static void declare(Declaration<RequestCacheParams>& d);
};

}  // namespace mtsim::nic
