#include "system/component_keys.h"

#include "kernel/dma_mapping.h"
#include "kernel/key_policy.h"
#include "kernel/table_writer.h"
#include "program/workload.h"
#include "translate/architecture.h"

namespace mtsim::system {
namespace {

template <class Components>
std::map<std::string, std::string> registered() {
  std::map<std::string, std::string> out;
  for (const auto& [name, entry] : Components::entries()) out[name] = entry.meaning;
  return out;
}

}  // namespace

std::vector<std::string> ComponentKey::names() const {
  std::vector<std::string> out;
  for (const auto& entry : known) out.push_back(entry.first);
  return out;
}

ComponentKey rules_key() {
  return {"rules", "set of rules", {{"ib", "the InfiniBand Architecture Specification"}}, "The protection rules that hold."};
}
ComponentKey workload_key() {
  return {"workload.kind", "kind of workload", registered<program::Workloads>(), "The kind of the generated program."};
}
ComponentKey translation_key() { return {"nic.translation", "translation architecture", registered<translate::Architectures>(), {}}; }
ComponentKey table_writer_key() { return {"driver.table_writer", "table writer", registered<kernel::TableWriters>(), {}}; }
ComponentKey key_policy_key() { return {"driver.keys", "key policy", registered<kernel::KeyPolicies>(), {}}; }
ComponentKey iommu_key() { return {"host.iommu.mode", "mode of an IOMMU", registered<kernel::DmaMappers>(), {}}; }

std::vector<ComponentKey> component_keys() {
  return {rules_key(), workload_key(), translation_key(), table_writer_key(), key_policy_key(), iommu_key()};
}

}  // namespace mtsim::system
