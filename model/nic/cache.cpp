#include "nic/cache.h"

#include <algorithm>

namespace mtsim::nic {
namespace {

CacheShape shape_of(const CacheLevelParams& params) {
  CacheShape shape;
  shape.ways = std::max(params.ways == 0 ? params.lines : std::min(params.lines, params.ways), 1u);
  shape.rows = std::max(params.lines / shape.ways, 1u);
  shape.seed = params.seed;
  return shape;
}

inline void mark(std::vector<bool>& lines, std::uint64_t tag) {
  if (tag >= lines.size()) [[unlikely]]
    lines.resize(std::max<std::uint64_t>(tag + 1, lines.size() * 2));
  lines[tag] = true;
}

/// In which of a set's ways a line is; their number when it is in none.
inline std::uint32_t way_of(const std::uint64_t* tags, std::uint32_t ways, std::uint64_t tag) {
  return static_cast<std::uint32_t>(std::find(tags, tags + ways, tag) - tags);
}

}  // namespace

Cache::Cache(sc_core::sc_module_name module_name, const CacheLevelParams& params)
    : sc_module(module_name),
      shape_(shape_of(params)),
      pd_ways_(params.pd_ways),
      table_write_(params.table_write),
      index_(IndexFunctions::make(params.index, shape_.rows)),
      row_mask_(no_mask),
      tags_(params.lines, no_tag),
      contents_(params.lines),
      pds_(params.pd_ways == 0 ? 0 : params.lines) {
  shape_.skewed = index_->skewed();
  policy_ = ReplacementPolicies::make(params.replacement, shape_);
  if (params.miss_causes == MissCauses::exact) shadow_.emplace(params.lines);
  lookup_ = params.lines == 0 ? Lookup::nothing : params.ways == 0 ? Lookup::map : shape_.skewed ? Lookup::skewed : Lookup::sets;
  if (lookup_ == Lookup::sets) row_mask_ = index_->mask().value_or(no_mask);
  watched_ = shadow_.has_value();
  if (lookup_ == Lookup::skewed) places_.resize(shape_.ways);
  if (lookup_ != Lookup::map) return;
  map_.emplace(params.lines);
  for (Slot slot = params.lines; slot != 0; --slot) spare_.push_back(slot - 1);
}

// The short way is for what most caches are.
[[gnu::always_inline]] inline Slot Cache::locate(std::uint64_t tag) const {
  if (row_mask_ == no_mask) [[unlikely]]
    return locate_otherwise(tag);
  // The same line again.
  if (tags_[last_] == tag) return last_;
  const Slot first = static_cast<Slot>(tag & row_mask_) * shape_.ways;
  const std::uint32_t way = way_of(&tags_[first], shape_.ways, tag);
  return way != shape_.ways ? first + way : no_slot;
}

Slot Cache::locate_otherwise(std::uint64_t tag) const {
  if (lookup_ == Lookup::nothing) return no_slot;
  if (lookup_ == Lookup::map) return map_->find(tag);
  for (std::uint32_t way = 0; way < shape_.ways; ++way)
    if (const Slot slot = index_->row(tag, way) * shape_.ways + way; tags_[slot] == tag) return slot;
  return no_slot;
}

bool Cache::holds(std::uint64_t tag) const { return locate(tag) != no_slot; }

const translate::Content* Cache::find(std::uint64_t tag) {
  ++counts_.lookups;
  const Slot slot = locate(tag);
  if (slot == no_slot) {
    classify(tag);
    return nullptr;
  }
  ++counts_.hits;
  last_ = slot;
  policy_->used(slot);
  if (watched_) [[unlikely]]
    watch(tag, slot);
  return &contents_[slot];
}

void Cache::watch(std::uint64_t tag, Slot slot) {
  if (shadow_) shadow_->touch(tag);
  if (!any_ahead_) return;
  found_ahead_ = ahead_[slot];
  counts_.useful += found_ahead_;
  ahead_[slot] = false;
}

// A miss is cold when the line has not come in since it was last written. Otherwise it is the index function's or the replacement policy's
// fault if a fully associative cache of as many lines, least recently used, would have held the line, and a matter of capacity if not. A
// look-up of a line that is under way has the same cause as the one that fetches it.
//
// The estimate does without that cache: a miss is cold the first time the line is asked for; else it is a matter of capacity once the cache
// has been filled, and of the index function while there was still room elsewhere.
void Cache::classify(std::uint64_t tag) {
  const bool cold = tag >= seen_.size() || !seen_[tag];
  if (cold) ++counts_.cold;
  if (!shadow_) {
    if (cold) mark(seen_, tag);
    else ++(held_ == tags_.size() ? counts_.capacity : counts_.conflict);
  } else if (!cold && shadow_->holds(tag)) {
    ++counts_.conflict;
    shadow_->touch(tag);
  } else if (!cold) {
    ++counts_.capacity;
  }
}

/// What goes with the line that is leaving a place.
[[gnu::always_inline]] inline void Cache::left(Slot slot) {
  if (lookup_ == Lookup::map) map_->erase(tags_[slot]);
  if (!any_ahead_ || !ahead_[slot]) return;
  ahead_[slot] = false;
  ++counts_.useless;
}

[[gnu::always_inline]] inline Slot Cache::room(std::uint64_t tag, std::uint32_t pd, WayMask allowed) {
  Candidates candidates;
  candidates.ways = shape_.ways;
  candidates.allowed = allowed;
  if (lookup_ == Lookup::map) {
    if (spare_.empty()) return policy_->victim(candidates);
    const Slot slot = spare_.back();
    spare_.pop_back();
    return slot;
  }
  if (lookup_ == Lookup::skewed) {
    for (std::uint32_t way = 0; way < shape_.ways; ++way) places_[way] = index_->row(tag, way) * shape_.ways + way;
    candidates.slots = places_.data();
  } else {
    candidates.first = row(tag) * shape_.ways;
    if (allowed == all_ways && pd_ways_ == 0) [[likely]] {
      const std::uint32_t way = way_of(&tags_[candidates.first], shape_.ways, no_tag);
      return way != shape_.ways ? candidates.first + way : policy_->victim(candidates);
    }
  }
  if (pd_ways_ != 0) candidates.allowed = within_quota(candidates, pd);
  for (std::uint32_t way = 0; way < candidates.ways; ++way)
    if (candidates.allows(way) && tags_[candidates.slot(way)] == no_tag) return candidates.slot(way);
  return policy_->victim(candidates);
}

void Cache::put(std::uint64_t tag, translate::Content content, std::uint32_t pd, WayMask allowed) {
  if (shadow_) [[unlikely]] {
    mark(seen_, tag);
    shadow_->touch(tag);
  }
  if (lookup_ == Lookup::nothing) return;
  Slot slot = locate(tag);
  if (slot != no_slot) {
    contents_[slot] = content;
    return;
  }
  slot = room(tag, pd, allowed);
  const std::uint64_t before = tags_[slot];
  if (before == no_tag) {
    ++held_;
  } else {
    ++counts_.evictions;
    left(slot);
  }
  tags_[slot] = tag;
  contents_[slot] = content;
  if (lookup_ == Lookup::map) map_->insert(tag, slot);
  if (pd_ways_ != 0) pds_[slot] = pd;
  policy_->filled(slot);
  if (evictions_ != nullptr && before != no_tag) evictions_->evicted(before);
}

void Cache::fill(std::uint64_t tag, translate::Content content, std::uint32_t pd) { put(tag, content, pd, all_ways); }

void Cache::fill_ahead(std::uint64_t tag, translate::Content content, std::uint32_t pd) {
  fill(tag, content, pd);
  const Slot slot = locate(tag);
  if (slot == no_slot) return;
  any_ahead_ = watched_ = true;
  ahead_.resize(tags_.size());
  ahead_[slot] = true;
  ++counts_.ahead;
}

WayMask Cache::within_quota(const Candidates& candidates, std::uint32_t pd) const {
  WayMask own = 0;
  std::uint32_t held = 0;
  for (std::uint32_t way = 0; way < candidates.ways; ++way) {
    const Slot slot = candidates.slot(way);
    if (!candidates.allows(way) || tags_[slot] == no_tag || pds_[slot] != pd) continue;
    own |= WayMask{1} << way;
    ++held;
  }
  return held < pd_ways_ ? candidates.allowed : own;
}

template <class Act>
void Cache::each_held(std::uint64_t first, std::uint64_t count, Act act) {
  if (held_ == 0) return;
  if (count >= tags_.size()) {
    for (Slot slot = 0; slot < tags_.size(); ++slot)
      if (tags_[slot] != no_tag && tags_[slot] - first < count) act(slot);
    return;
  }
  for (std::uint64_t tag = first; tag < first + count; ++tag)
    if (const Slot slot = locate(tag); slot != no_slot) act(slot);
}

void Cache::drop(std::uint64_t first, std::uint64_t count) {
  // What the table holds there is new: the next look-up is as cold as the first.
  if (first < seen_.size()) {
    const auto begin = seen_.begin() + static_cast<std::ptrdiff_t>(first);
    std::fill(begin, begin + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(count, seen_.size() - first)), false);
  }
  if (shadow_) shadow_->drop(first, count);
  const bool plain = lookup_ != Lookup::map && !any_ahead_;
  std::uint64_t gone = 0;
  each_held(
      first, count, [&](Slot slot) __attribute__((always_inline)) {
        if (!plain) {
          left(slot);
          if (lookup_ == Lookup::map) spare_.push_back(slot);
        }
        tags_[slot] = no_tag;
        ++gone;
      });
  held_ -= gone;
  counts_.dropped += gone;
}

// A cache that is kept up to date misses no more for a write than without it: what it knows of causes stays.
void Cache::written(std::uint64_t first, std::uint64_t count, const ports::LineSource& table) {
  if (table_write_ == TableWrite::invalidate) return drop(first, count);
  each_held(first, count, [&](Slot slot) {
    contents_[slot] = table.content(tags_[slot]);
    ++counts_.updated;
  });
}

}  // namespace mtsim::nic
