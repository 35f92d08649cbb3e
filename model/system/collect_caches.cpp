#include "system/collect_caches.h"

#include <algorithm>

namespace mtsim::system {
namespace {

/// `miss_time`: from look-up to content, over all misses.
void add_cache(const std::string& name, const nic::Cache* cache, Time miss_time, Time miss_longest, const engine::Semaphore& walks,
               results::Report& report) {
  if (cache == nullptr) return;
  const nic::Cache::Counts& c = cache->counts();
  results::CacheStats s;
  s.name = name;
  s.lookups = c.lookups;
  s.hits = c.hits;
  s.misses_cold = c.cold;
  s.misses_capacity = c.capacity;
  s.misses_conflict = c.conflict;
  s.evictions = c.evictions;
  s.fetches_most = walks.usage().most;
  s.miss_time = results::total(miss_time);
  s.miss_longest = miss_longest;
  report.caches.push_back(s);
}

/// What a cache counts beyond look-ups, where it is set up to do such things.
void add_updates(const std::string& name, const nic::Cache* cache, const nic::CacheLevelParams& params, results::Report& report) {
  if (cache == nullptr || params.table_write != nic::TableWrite::update) return;
  report.counters.push_back({name + ".lines_updated", "count", "lines that took new content from a table write", cache->counts().updated});
}

void add_prefetches(const std::string& name, const nic::Cache* cache, const nic::CacheParams& params, const nic::Walker::Ahead& ahead,
                    results::Report& report) {
  if (cache == nullptr || params.prefetch == "none") return;
  const nic::Cache::Counts& c = cache->counts();
  const auto add = [&](const char* what, const char* meaning, std::uint64_t value) {
    report.counters.push_back({name + what, "count", meaning, value});
  };
  add(".prefetches", "lines fetched ahead", c.ahead + ahead.late);
  add(".prefetches_useful", "of these, found by a look-up", c.useful);
  add(".prefetches_late", "of these, asked for while they were under way", ahead.late);
  add(".prefetches_useless", "of these, gone before any look-up asked for them", c.useless);
  add(".prefetches_left_out", "lines not fetched ahead as no walk or PCIe tag was free", ahead.left_out);
}

void add_qp_contexts(const std::string& on, const nic::QpContexts* contexts, results::Report& report) {
  if (contexts == nullptr) return;
  const nic::QpContexts::Misses& misses = contexts->misses();
  const std::string name = on + ".qp_cache";
  add_cache(name, &contexts->first(), misses.total + misses.second, misses.longest, contexts->fetches(), report);
  add_cache(name + ".level2", contexts->second(), misses.total, misses.longest, contexts->fetches(), report);
  const auto add = [&](const char* what, const char* unit, const char* meaning, std::uint64_t value) {
    report.counters.push_back({name + what, unit, meaning, value});
  };
  add(".fetches", "count", "QP contexts read from host memory", contexts->fetches().usage().requests);
  add(".merged", "count", "look-ups of a QP's context that waited for a read under way", misses.merged);
  add(".write_backs", "count", "writes of QP contexts, or lines of them, that left the NIC", contexts->write_backs());
  add(".written_bytes", "bytes", "bytes of these writes", contexts->written_bytes());
}

/// A context was there once: no miss is cold.
void add_request_contexts(const std::string& on, const nic::RequestContexts* contexts, results::Report& report) {
  if (contexts == nullptr) return;
  const nic::RequestContexts::Misses& misses = contexts->misses();
  add_cache(on + ".request_cache", &contexts->cache(), misses.total, misses.longest, contexts->fetches(), report);
  results::CacheStats& stats = report.caches.back();
  stats.misses_capacity += stats.misses_cold;
  stats.misses_cold = 0;
  report.counters.push_back(
      {on + ".request_cache.fetches", "count", "WQEs read again, as their requests were taken up or answered", misses.count});
}

}  // namespace

void collect_caches(const std::string& on, const nic::Nic& nic, const nic::NicSettings& settings, results::Report& report) {
  const nic::Walker& walker = nic.walker;
  const nic::Walker::Misses &mpt = walker.misses(0), &mtt = walker.misses(1);
  const std::string mpt_cache = on + ".mpt_cache", mtt_cache = on + ".mtt_cache", icm_cache = on + ".icm_cache", pool = on + ".cache_pool";
  add_cache(mpt_cache, nic.mpt_cache.get(), mpt.total + mpt.second, mpt.longest, walker.walks(), report);
  add_cache(mpt_cache + ".level2", nic.mpt_level2.get(), mpt.total, mpt.longest, walker.walks(), report);
  add_cache(mtt_cache, nic.mtt_cache.get(), mtt.total + mtt.second, mtt.longest, walker.walks(), report);
  add_cache(mtt_cache + ".level2", nic.mtt_level2.get(), mtt.total, mtt.longest, walker.walks(), report);
  if (nic.icm_cache) add_cache(icm_cache, nic.icm_cache.get(), walker.misses(2).total, walker.misses(2).longest, walker.walks(), report);
  add_cache(pool, nic.cache_pool.get(), mpt.total + mtt.total, std::max(mpt.longest, mtt.longest), walker.walks(), report);
  add_qp_contexts(on, nic.qp_contexts.get(), report);
  add_request_contexts(on, nic.request_contexts.get(), report);
  add_updates(mpt_cache, nic.mpt_cache.get(), settings.mpt_cache, report);
  add_updates(mpt_cache + ".level2", nic.mpt_level2.get(), settings.mpt_level2, report);
  add_updates(mtt_cache, nic.mtt_cache.get(), settings.mtt_cache, report);
  add_updates(mtt_cache + ".level2", nic.mtt_level2.get(), settings.mtt_level2, report);
  add_updates(icm_cache, nic.icm_cache.get(), settings.icm_cache, report);
  add_updates(pool, nic.cache_pool.get(), settings.cache_pool, report);
  add_prefetches(mpt_cache, nic.mpt_cache.get(), settings.mpt_cache, walker.ahead(0), report);
  add_prefetches(mtt_cache, nic.mtt_cache.get(), settings.mtt_cache, walker.ahead(1), report);
  if (nic.icm_cache) add_prefetches(icm_cache, nic.icm_cache.get(), settings.icm_cache, walker.ahead(2), report);
}

}  // namespace mtsim::system
