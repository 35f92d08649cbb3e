// The keys of a configuration whose value is the name of something registered: what is checked, and what the schema lists.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace mtsim::system {

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

/// All of them.
std::vector<ComponentKey> component_keys();

}  // namespace mtsim::system
