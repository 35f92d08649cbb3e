#include "system/component_keys.h"

#include "kernel/dma_mapping.h"
#include "kernel/key_policy.h"
#include "kernel/table_writer.h"
#include "nic/index_function.h"
#include "nic/prefetcher.h"
#include "nic/qp_order.h"
#include "nic/replacement.h"
#include "program/workload.h"
#include "translate/architecture.h"
#include "verbs/rules.h"

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

ComponentKey rules_key() { return {"rules", "set of rules", registered<verbs::RuleSets>(), "The protection rules that hold."}; }
ComponentKey workload_key() {
  return {"workload.kind", "kind of workload", registered<program::Workloads>(), "The kind of the generated program."};
}
ComponentKey translation_key() { return {"nic.translation", "translation architecture", registered<translate::Architectures>(), {}}; }
ComponentKey table_writer_key() { return {"driver.table_writer", "table writer", registered<kernel::TableWriters>(), {}}; }
ComponentKey key_policy_key() { return {"driver.keys", "key policy", registered<kernel::KeyPolicies>(), {}}; }
ComponentKey iommu_key() { return {"host.iommu.mode", "mode of an IOMMU", registered<kernel::DmaMappers>(), {}}; }
ComponentKey replacement_key(const std::string& cache) {
  return {cache + ".replacement", "replacement policy", registered<nic::ReplacementPolicies>(), {}};
}
ComponentKey index_key(const std::string& cache) { return {cache + ".index", "index function", registered<nic::IndexFunctions>(), {}}; }
ComponentKey qp_order_key() { return {"nic.requester.qp_order", "order of QPs", registered<nic::QpOrders>(), {}}; }
ComponentKey prefetch_key(const std::string& cache) { return {cache + ".prefetch", "prefetcher", registered<nic::Prefetchers>(), {}}; }

std::vector<ComponentKey> component_keys() {
  std::vector<ComponentKey> keys{rules_key(),      workload_key(), translation_key(), table_writer_key(),
                                 key_policy_key(), iommu_key(),    qp_order_key()};
  for (const char* cache : cache_sections) {
    keys.push_back(replacement_key(cache));
    keys.push_back(index_key(cache));
  }
  for (const char* cache : {"nic.mpt_cache", "nic.mtt_cache", "nic.icm_cache"}) keys.push_back(prefetch_key(cache));
  return keys;
}

}  // namespace mtsim::system
