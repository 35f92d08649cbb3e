// What a fully associative cache of as many lines, least recently used, would hold: tells a miss that more room would have spared from
// one that another place would have. Its contents are tags alone.
#pragma once

#include "nic/slot_map.h"

namespace mtsim::nic {

class ShadowDirectory {
 public:
  explicit ShadowDirectory(std::uint32_t lines) : map_(lines), nodes_(lines + 1), end_(lines), free_(lines == 0 ? no_slot : 0) {
    nodes_[end_].before = nodes_[end_].after = end_;
    for (Slot node = 0; node < lines; ++node) nodes_[node].after = node + 1 < lines ? node + 1 : no_slot;
  }

  bool holds(std::uint64_t tag) const { return map_.find(tag) != no_slot; }
  /// The line is used; it comes in if it is not there.
  void touch(std::uint64_t tag) {
    if (end_ == 0) return;
    const Slot last = nodes_[end_].before;
    if (last != end_ && nodes_[last].tag == tag) return;
    Slot node = map_.find(tag);
    if (node == no_slot) {
      node = free_;
      if (node != no_slot) {
        free_ = nodes_[node].after;
        ++held_;
      } else {
        node = nodes_[end_].after;
        map_.erase(nodes_[node].tag);
        unlink(node);
      }
      nodes_[node].tag = tag;
      map_.insert(tag, node);
    } else {
      unlink(node);
    }
    nodes_[node].before = nodes_[end_].before;
    nodes_[node].after = end_;
    nodes_[nodes_[node].before].after = node;
    nodes_[end_].before = node;
  }
  /// Forgets `count` lines from `first` on.
  void drop(std::uint64_t first, std::uint64_t count) {
    if (held_ == 0) return;
    if (count >= end_) {
      for (Slot node = nodes_[end_].after; node != end_;) {
        const Slot next = nodes_[node].after;
        if (nodes_[node].tag - first < count) forget(node);
        node = next;
      }
      return;
    }
    for (std::uint64_t tag = first; tag < first + count; ++tag)
      if (const Slot node = map_.find(tag); node != no_slot) forget(node);
  }

 private:
  struct Node {
    std::uint64_t tag = 0;
    Slot before = no_slot, after = no_slot;
  };
  void unlink(Slot node) {
    nodes_[nodes_[node].before].after = nodes_[node].after;
    nodes_[nodes_[node].after].before = nodes_[node].before;
  }
  void forget(Slot node) {
    map_.erase(nodes_[node].tag);
    unlink(node);
    nodes_[node].after = free_;
    free_ = node;
    --held_;
  }

  SlotMap map_;
  std::vector<Node> nodes_;  ///< a ring from the oldest to the youngest with `end_` between them, and the free ones by `after`
  Slot end_, free_;
  std::uint32_t held_ = 0;
};

}  // namespace mtsim::nic
