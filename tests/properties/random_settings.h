// Workloads and hardware drawn from a seed: small runs of every kind, with limits that bite.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

namespace mtsim::test {

class RandomSettings {
 public:
  explicit RandomSettings(unsigned seed) : random_(seed) {
    choose("workload.kind", {"pool", "per_op", "uniform", "sequential"});
    const bool per_op = text("workload.kind") == "per_op";
    const bool reaches_regions = text("workload.kind") == "uniform" || text("workload.kind") == "sequential";
    choose("workload.clients", {"1", "2", "3"});
    choose("workload.threads", {"1", "2"});
    choose("workload.qps", {"1", "2", "5"});
    choose("workload.window", {"4", "7", "16"});
    choose("workload.signal_every", {"1", "2", "4"});
    choose("workload.operations", {per_op ? "23" : "151"});
    choose("workload.block", {"64B", "1000B", "4096B", "20000B"});
    choose("workload.page", {"4K", "2M"});
    choose("workload.mtu", {"0B", "256B", "1KiB"});
    if (per_op) choose("workload.depth", {"1", "3"});
    if (reaches_regions) choose("workload.opcode", {"read", "write"});
    if (text("workload.kind") == "uniform") values_["workload.seed"] = std::to_string(seed);
    choose("network.rate", {"10Gb/s", "100Gb/s", "400Gb/s"});
    choose("network.train", {"0B", "4KiB"});
    choose("pcie.lanes", {"1", "8", "16"});
    choose("pcie.tags", {"1", "64"});
    choose("nic.walks", {"1", "3", "32"});
    choose("nic.mtt_cache.lines", {"0", "8", "8192"});
    choose("nic.mpt_cache.lines", {"0", "8", "4096"});
    choose("nic.requester.contexts", {"1", "64"});
    choose("nic.responder.contexts", {"1", "64"});
    choose("nic.requester.prefetch", {"1", "16"});
    choose("driver.table_writer", {"umr", "command"});
    choose("host.memory.run_pages", {"1", "7", "1000"});
    choose("host.iommu.mode", {"off", "passthrough", "translate"});
    choose("host.iommu.invalidation", {"strict", "lazy"});
    for (const std::string cache : {"nic.mpt_cache", "nic.mtt_cache"}) {
      choose(cache + ".index", {"modulo", "hashed", "skewed"});
      choose(cache + ".replacement", {"lru", "fifo", "random", "srrip"});
      choose(cache + ".prefetch", {"none", "next_line", "stride"});
      if (number(cache + ".lines") == 0) values_[cache + ".prefetch"] = "none";
      choose(cache + ".ways", {"0", "2", "8"});
      choose(cache + ".table_write", {"invalidate", "update"});
      choose(cache + ".miss_causes", {"estimate", "exact"});
    }
    choose("nic.mtt_cache.level2.lines", {"0", "16"});
    choose("nic.mtt_cache.level2.replacement", {"plru", "drrip"});
    if (number("nic.mtt_cache.level2.lines") == 0) choose("nic.cache_pool.lines", {"0", "32"});
    choose("host.iommu.iotlb_entries", {"0", "5", "112"});
    choose("host.iommu.structure_entries", {"0", "4"});
    choose("host.iommu.walks", {"1", "6"});
    choose("host.llc.size", {"0B", "1MiB"});
    choose("host.llc.ways", {"16"});
    choose("pcie.read_credits", {"0", "1", "16"});
    choose("pcie.write_credits", {"0", "1", "16"});
    choose("pcie.completion_buffer", {"0B", "4KiB"});
    choose("nic.qp_cache.enabled", {"true", "false"});
    choose("nic.qp_cache.lines", {"0", "1", "3"});
    choose("nic.qp_cache.fetches", {"1", "8"});
    choose("nic.qp_cache.agent", {"tables", "control"});
    choose("nic.qp_cache.write_back", {"true", "false"});
    const bool pool = values_.count("nic.cache_pool.lines") != 0 && number("nic.cache_pool.lines") != 0;
    if (text("nic.qp_cache.enabled") == "true" && !pool) choose("nic.qp_cache.level2.lines", {"0", "2"});
    choose("nic.request_cache.lines", {"0", "1", "8"});
    choose("nic.request_cache.replacement", {"lru", "random"});
    choose("nic.request_cache.fetches", {"1", "16"});
    choose("nic.requester.qp_order", {"round_robin", "burst", "exhaustive"});
    choose("nic.requester.prefetch_at", {"doorbell", "turn"});
    choose("nic.requester.translate_ahead", {"false", "true"});
    choose("nic.requester.qp_pieces", {"1", "3", "16"});
    choose("nic.responder.read_service", {"0ns", "20ns"});
    choose("nic.requester.wqe_fetches", {"0", "1", "3"});
  }

  const std::string& text(const std::string& path) const { return values_.at(path); }
  /// The number that the text begins with.
  std::uint64_t number(const std::string& path) const { return std::stoull(text(path)); }
  /// As `--set` takes them.
  std::vector<std::string> sets() const {
    std::vector<std::string> out;
    for (const auto& [path, value] : values_) out.push_back(path + "=" + value);
    return out;
  }
  std::string listed() const {
    std::string out;
    for (const std::string& set : sets()) out += set + ' ';
    return out;
  }

 private:
  void choose(const std::string& path, const std::vector<std::string>& among) { values_[path] = among[random_() % among.size()]; }

  std::mt19937 random_;
  std::map<std::string, std::string> values_;
};

}  // namespace mtsim::test
