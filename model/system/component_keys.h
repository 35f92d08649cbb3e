// The keys of a configuration whose value is the name of something registered: what is checked, and what the schema lists.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

namespace mtsim::system {

/// Sections of the NIC's caches.
inline constexpr std::array cache_sections{"nic.mpt_cache",        "nic.mtt_cache",        "nic.icm_cache",
                                           "nic.mpt_cache.level2", "nic.mtt_cache.level2", "nic.cache_pool",
                                           "nic.qp_cache",         "nic.qp_cache.level2",  "nic.request_cache"};

struct ComponentKey {
  std::string path;                          ///< `nic.translation`
  std::string kind;                          ///< what is named, for errors: "translation architecture"
  std::map<std::string, std::string> known;  ///< names, each with its meaning
  std::string meaning;                       ///< of the key, where it is no declared parameter

  std::vector<std::string> names() const;
};

ComponentKey rules_key();
ComponentKey workload_key();
ComponentKey translation_key();
ComponentKey table_writer_key();
ComponentKey key_policy_key();
ComponentKey iommu_key();
ComponentKey qp_order_key();
/// Of the cache whose section is `cache`.
ComponentKey replacement_key(const std::string& cache);
ComponentKey index_key(const std::string& cache);
ComponentKey prefetch_key(const std::string& cache);

/// All of them.
std::vector<ComponentKey> component_keys();

}  // namespace mtsim::system
