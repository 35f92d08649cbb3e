#include "nic/cache_params.h"

#include "base/sections.h"
#include "nic/cache_policies.h"

namespace mtsim::nic {
namespace {

const Sections::Entrant<MptCacheParams> mpt_declared;
const Sections::Entrant<MttCacheParams> mtt_declared;
const Sections::Entrant<IcmCacheParams> icm_declared;
const Sections::Entrant<MptLevel2Params> mpt_level2_declared;
const Sections::Entrant<MttLevel2Params> mtt_level2_declared;
const Sections::Entrant<CachePoolParams> pool_declared;

/// What caches of table lines have at every level.
template <class Params>
void declare_level(Declaration<Params>& d) {
  declare_policies(d, {"8", "N5: bits of the page number on ConnectX-4"});
  d.choice("table_write", static_cast<TableWrite Params::*>(&Params::table_write),
           {{"invalidate", TableWrite::invalidate}, {"update", TableWrite::update}})
      .standard("invalidate")
      .means("What becomes of cached lines that the NIC writes to the table: they are forgotten, or take the new content.")
      .source("estimate; not published");
}

template <class Params>
void declare_first_level(Declaration<Params>& d) {
  d.template field<std::string>("prefetch", &Params::prefetch)
      .standard("none")
      .means("Which line is fetched ahead when a look-up misses or finds a line that was fetched ahead.")
      .source("estimate; not published");
  d.template field<Time>("interval", &Params::interval)
      .standard("0ns")
      .range("0ns", "1us")
      .means("Between the beginnings of two look-ups at one port, in whole cycles; 0ns: no look-up waits for another.")
      .source("estimate: a pipe takes one look-up a cycle; not published");
  d.template field<std::uint32_t>("banks", &Params::banks)
      .standard("1")
      .range("1", "256")
      .means("Banks, each with ports of its own: a line's number modulo this says its bank.")
      .source("estimate; not published");
  d.template field<std::uint32_t>("ports", &Params::ports)
      .standard("1")
      .range("1", "16")
      .means("Look-ups that a bank can begin at a time.")
      .source("estimate; not published");
  d.choice("on_miss", static_cast<OnMiss Params::*>(&Params::on_miss), {{"pass", OnMiss::pass}, {"stall", OnMiss::stall}})
      .standard("pass")
      .means("pass: look-ups go on beside one that misses (hit under miss); stall: they wait until its line has come.")
      .source("estimate; Jingzhao's pipe of three stages stalls");
  declare_level(d);
}

template <class Params>
void declare_second_level(Declaration<Params>& d) {
  d.template field<std::uint32_t>("lines", &Params::lines)
      .standard("0")
      .range("0", "16777216")
      .means("Lines held; 0: there is no such cache.")
      .source("modelling choice");
  d.template field<Time>("latency", &Params::latency)
      .standard("20ns")
      .range("0ns", "1us")
      .means("Of a look-up, after that of the first level.")
      .source("estimate; not published");
  declare_level(d);
}

}  // namespace

void MptCacheParams::declare(Declaration<MptCacheParams>& d) {
  d.section("nic.mpt_cache", "Cache of memory protection table lines (mkey contexts).");
  d.field<std::uint32_t>("lines", &MptCacheParams::lines)
      .standard("4096")
      .range("0", "16777216")
      .means("Lines held.")
      .source("estimate (N4: about 2 MB for all kinds together)");
  d.field<Bytes>("line", &MptCacheParams::line)
      .standard("64B")
      .range("64B", "512B")
      .means("Bytes fetched on a miss; a context has 64.")
      .source("size of an mkey context");
  d.field<Time>("latency", &MptCacheParams::latency)
      .standard("8ns")
      .range("0ns", "1us")
      .means("Of a look-up, judgement included.")
      .source("estimate; not published");
  declare_first_level(d);
}

void MttCacheParams::declare(Declaration<MttCacheParams>& d) {
  d.section("nic.mtt_cache", "Cache of memory translation table lines.");
  d.field<std::uint32_t>("lines", &MttCacheParams::lines)
      .standard("8192")
      .range("0", "16777216")
      .means("Lines held.")
      .source("estimate (N5: 1,024 sets of 64 B lines on ConnectX-4; N4)");
  d.field<Bytes>("line", &MttCacheParams::line)
      .standard("64B")
      .range("8B", "512B")
      .means("Bytes fetched on a miss; an entry has 8.")
      .source("N5: 64 B lines of 8 entries");
  d.field<Time>("latency", &MttCacheParams::latency)
      .standard("6ns")
      .range("0ns", "1us")
      .means("Of a look-up.")
      .source("estimate; not published");
  declare_first_level(d);
}

void IcmCacheParams::declare(Declaration<IcmCacheParams>& d) {
  d.section("nic.icm_cache", "Cache of lines of the map of the tables themselves: with nic.translation 'mapped_icm' only.");
  d.field<std::uint32_t>("lines", &IcmCacheParams::lines)
      .standard("256")
      .range("0", "16777216")
      .means("Lines held.")
      .source("estimate; not published");
  d.field<Bytes>("line", &IcmCacheParams::line)
      .standard("64B")
      .range("8B", "512B")
      .means("Bytes fetched on a miss; an entry has 8.")
      .source("estimate: as the others");
  d.field<Time>("latency", &IcmCacheParams::latency)
      .standard("6ns")
      .range("0ns", "1us")
      .means("Of a look-up.")
      .source("estimate; not published");
  declare_first_level(d);
}

void MptLevel2Params::declare(Declaration<MptLevel2Params>& d) {
  d.section("nic.mpt_cache.level2", "Second level behind nic.mpt_cache, of the same lines.");
  declare_second_level(d);
}

void MttLevel2Params::declare(Declaration<MttLevel2Params>& d) {
  d.section("nic.mtt_cache.level2", "Second level behind nic.mtt_cache, of the same lines.");
  declare_second_level(d);
}

void CachePoolParams::declare(Declaration<CachePoolParams>& d) {
  d.section("nic.cache_pool",
            "One cache for table lines of all kinds, behind those of each kind or, where these have no lines, in their place.");
  declare_second_level(d);
  d.field("mpt_ways", &CachePoolParams::mpt_ways)
      .standard("0")
      .range("0", "64")
      .means("Ways of each set that MPT lines may take, the lowest; 0: all.")
      .source("modelling choice");
  d.field("mtt_ways", &CachePoolParams::mtt_ways)
      .standard("0")
      .range("0", "64")
      .means("Ways of each set that MTT lines may take, the highest; 0: all.")
      .source("modelling choice");
}

}  // namespace mtsim::nic
