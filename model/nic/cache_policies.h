// What caches of every kind and level declare, sizes and times apart.
#pragma once

#include "base/parameter.h"
#include "nic/cache_params.h"

namespace mtsim::nic {

/// Where kinds of caches differ.
struct PolicyTexts {
  const char* ways;          ///< the default
  const char* index_source;  ///< of the index function
};

template <class Params>
void declare_policies(Declaration<Params>& d, const PolicyTexts& texts) {
  d.template field<std::uint32_t>("ways", &Params::ways)
      .standard(texts.ways)
      .range("0", "64")
      .means("Ways of each set; 0: one set of all lines (fully associative).")
      .source("estimate; not published");
  d.template field<std::string>("replacement", &Params::replacement)
      .standard("lru")
      .means("Which line of a set goes when another comes in.")
      .source("estimate; not published");
  d.template field<std::string>("index", &Params::index)
      .standard("modulo")
      .means("How a line's number says its set.")
      .source(texts.index_source);
  d.template field<std::uint64_t>("seed", &Params::seed).standard("1").means("Of replacement by chance.").source("modelling choice");
  d.template field<std::uint32_t>("pd_ways", &Params::pd_ways)
      .standard("0")
      .range("0", "64")
      .means("Lines of one protection domain in a set at most, beyond which it displaces its own; 0: no quota.")
      .source("modelling choice; no device is known to have it");
  d.choice("miss_causes", static_cast<MissCauses Params::*>(&Params::miss_causes),
           {{"estimate", MissCauses::estimate}, {"exact", MissCauses::exact}})
      .standard("estimate")
      .means(
          "How misses that are not cold are told apart in the report. estimate: capacity once the cache has been full; exact: by a "
          "fully associative directory beside it, at some per cent more run time. Nothing else changes.")
      .source("modelling choice");
}

}  // namespace mtsim::nic
