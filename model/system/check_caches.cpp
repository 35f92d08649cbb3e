#include "system/check_caches.h"

#include <fmt/format.h>

#include "nic/index_function.h"
#include "nic/replacement.h"
#include "system/require.h"

namespace mtsim::system {
namespace {

void check_level(const Config& config, const std::string& path, const nic::CacheLevelParams& cache) {
  if (cache.ways != 0 && cache.lines > cache.ways && cache.lines % cache.ways != 0)
    config.fail(path + ".lines", "must be a multiple of the ways, which are " + std::to_string(cache.ways));
  if (cache.pd_ways != 0 && cache.ways == 0)
    config.fail(path + ".pd_ways", "a quota counts the ways of a set, and a fully associative cache has one set of all lines");
  require_known(config, replacement_key(path), cache.replacement);
  require_known(config, index_key(path), cache.index);
  nic::CacheShape shape;
  const auto index = nic::IndexFunctions::make(cache.index, shape.rows);
  shape.skewed = index != nullptr && index->skewed();
  if (shape.skewed && nic::ReplacementPolicies::entries().count(cache.replacement) != 0 &&
      nic::ReplacementPolicies::make(cache.replacement, shape) == nullptr)
    config.fail(path + ".replacement",
                fmt::format("{} keeps something for each set, and with the index {} there are no sets", cache.replacement, cache.index));
}

void check_first_level(const Config& config, const std::string& path, const nic::CacheParams& cache) {
  require_power_of_two(config, path + ".line", cache.line.raw);
  check_level(config, path, cache);
  require_known(config, prefetch_key(path), cache.prefetch);
  if (cache.interval == Time())
    for (const auto& [name, number] : {std::pair{".banks", cache.banks}, std::pair{".ports", cache.ports}})
      if (number != 1)
        config.fail(path + name, fmt::format("without {}.interval no look-up waits for another, however many there are", path));
  if (cache.lines == 0 && cache.prefetch != "none")
    config.fail(path + ".prefetch", "a cache without lines has no room for what is fetched ahead");
}

void check_partition(const Config& config, const nic::CachePoolParams& pool) {
  for (const auto& [name, ways] :
       {std::pair{"nic.cache_pool.mpt_ways", pool.mpt_ways}, std::pair{"nic.cache_pool.mtt_ways", pool.mtt_ways}}) {
    if (ways == 0) continue;
    if (pool.ways == 0) config.fail(name, "a fully associative pool has no ways to share out");
    else if (ways > pool.ways || pool.lines < pool.ways)
      config.fail(name, fmt::format("a set of the pool has {} ways", std::min(pool.ways, pool.lines)));
  }
}

}  // namespace

void check_caches(const Config& config, const nic::NicSettings& nic) {
  check_first_level(config, "nic.mpt_cache", nic.mpt_cache);
  check_first_level(config, "nic.mtt_cache", nic.mtt_cache);
  check_first_level(config, "nic.icm_cache", nic.icm_cache);
  check_level(config, "nic.mpt_cache.level2", nic.mpt_level2);
  check_level(config, "nic.mtt_cache.level2", nic.mtt_level2);
  check_level(config, "nic.qp_cache", nic.qp_cache);
  check_level(config, "nic.qp_cache.level2", nic.qp_level2);
  check_level(config, "nic.request_cache", nic.request_cache);
  if (!nic.qp_cache.enabled && nic.qp_level2.lines != 0)
    config.fail("nic.qp_cache.level2.lines", "without nic.qp_cache.enabled every context is always at hand, and no cache holds any");
  const nic::CachePoolParams& pool = nic.cache_pool;
  check_level(config, "nic.cache_pool", pool);
  if (pool.lines == 0) return;
  check_partition(config, pool);
  if (nic.mpt_cache.line != nic.mtt_cache.line)
    config.fail("nic.cache_pool.lines", "a pool holds lines of one size, and nic.mpt_cache.line is not nic.mtt_cache.line");
  for (const auto& [name, lines] :
       {std::pair{"nic.mpt_cache.level2.lines", nic.mpt_level2.lines}, std::pair{"nic.mtt_cache.level2.lines", nic.mtt_level2.lines},
        std::pair{"nic.qp_cache.level2.lines", nic.qp_level2.lines}})
    if (lines != 0) config.fail(name, "nic.cache_pool is the second level already; a kind of line has one");
}

}  // namespace mtsim::system
