// Which spans of a timeline belong to one operation: the call that posts it, its packets, its completion.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "results/timeline_file.h"

namespace mtsim::system {

/// What tells an operation apart while it is outstanding. Requests of one list that carry the same wr are taken for one.
struct OperationKey {
  std::uint32_t port = 0, qpn = 0;
  Time begin;
  std::uint64_t wr = 0;
  friend bool operator==(const OperationKey&, const OperationKey&) = default;
  std::uint64_t hash() const {
    return ((std::uint64_t{port} << 32 | qpn) * 0x9e3779b97f4a7c15 ^ static_cast<std::uint64_t>(begin.raw)) * 0x9e3779b97f4a7c15 ^ wr;
  }
};

/// Remembers the drawn spans of operations that are outstanding, and no more of each than its first and last packets.
class OperationFlows {
 public:
  using Anchor = results::TimelineFile::Anchor;

  void posted(const OperationKey& key) { ++outstanding_[key].requests; }
  bool knows(const OperationKey& key) const { return outstanding_.count(key) != 0; }
  /// Nothing for an operation that is not outstanding.
  void add(const OperationKey& key, Anchor anchor);
  /// Ends it. Its anchors in order of time; none when a request of the same key is still outstanding.
  std::vector<Anchor> ended(const OperationKey& key);

 private:
  struct Outstanding {
    std::uint32_t requests = 0;
    std::vector<Anchor> anchors;
  };
  struct Hash {
    std::size_t operator()(const OperationKey& key) const { return key.hash(); }
  };
  std::unordered_map<OperationKey, Outstanding, Hash> outstanding_;
};

}  // namespace mtsim::system
