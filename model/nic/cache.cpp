#include "nic/cache.h"

#include <algorithm>
#include <bit>

namespace mtsim::nic {

Cache::Cache(sc_core::sc_module_name module_name, const CacheParams& params)
    : sc_module(module_name), ways_(std::clamp(params.lines, 1u, params.ways)), sets_(params.lines / ways_) {
  power_of_two_ = std::has_single_bit(sets_);
  ways_of_.resize(sets_ * ways_);
}

const translate::Content* Cache::find(std::uint64_t tag) {
  ++counts_.lookups;
  if (!ways_of_.empty()) {
    Way* set = set_of(tag);
    for (std::uint32_t i = 0; i < ways_; ++i)
      if (set[i].tag == tag) {
        set[i].used = ++serial_;
        ++counts_.hits;
        return &set[i].content;
      }
  }
  classify(tag);
  return nullptr;
}

bool Cache::holds(std::uint64_t tag) const {
  if (ways_of_.empty()) return false;
  const Way* set = &ways_of_[index_of(tag) * ways_];
  return std::any_of(set, set + ways_, [tag](const Way& way) { return way.tag == tag; });
}

// A miss is cold the first time the line is asked for; else it is a matter of capacity once the cache has been filled, and of the index
// function while there was still room elsewhere.
void Cache::classify(std::uint64_t tag) {
  if (tag >= seen_.size()) seen_.resize(std::max<std::uint64_t>(tag + 1, seen_.size() * 2));
  if (!seen_[tag]) {
    seen_[tag] = true;
    ++counts_.cold;
  } else if (held_ == ways_of_.size()) {
    ++counts_.capacity;
  } else {
    ++counts_.conflict;
  }
}

void Cache::fill(std::uint64_t tag, translate::Content content) {
  if (ways_of_.empty()) return;
  Way* set = set_of(tag);
  Way* victim = set;
  for (std::uint32_t i = 0; i < ways_; ++i) {
    if (set[i].tag == tag) {
      set[i].content = content;
      return;
    }
    if (set[i].used < victim->used) victim = &set[i];
  }
  if (victim->used == 0) ++held_;
  else ++counts_.evictions;
  *victim = {tag, ++serial_, content};
}

void Cache::drop(std::uint64_t first, std::uint64_t count) {
  // What the table holds there is new: the next look-up is as cold as the first.
  if (first < seen_.size()) {
    const auto begin = seen_.begin() + static_cast<std::ptrdiff_t>(first);
    std::fill(begin, begin + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(count, seen_.size() - first)), false);
  }
  if (held_ == 0) return;
  const auto forget = [this](Way& way) {
    way = Way{};
    --held_;
    ++counts_.dropped;
  };
  if (count >= ways_of_.size()) {
    for (Way& way : ways_of_)
      if (way.used != 0 && way.tag - first < count) forget(way);
    return;
  }
  for (std::uint64_t tag = first; tag < first + count; ++tag) {
    Way* set = set_of(tag);
    for (std::uint32_t i = 0; i < ways_; ++i)
      if (set[i].used != 0 && set[i].tag == tag) forget(set[i]);
  }
}

}  // namespace mtsim::nic
