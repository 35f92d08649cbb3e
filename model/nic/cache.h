// A cache of table lines in the NIC: set-associative, skewed or fully associative, with an index function and a replacement policy of their
// own. State only; the look-up time is the Walker's to spend.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "nic/cache_params.h"
#include "nic/index_function.h"
#include "nic/replacement.h"
#include "nic/shadow_directory.h"
#include "nic/slot_map.h"
#include "ports/line_cache.h"

namespace mtsim::nic {

class Cache : public sc_core::sc_module, public ports::LineCache {
 public:
  struct Counts {
    std::uint64_t lookups = 0, hits = 0, cold = 0, capacity = 0, conflict = 0, evictions = 0, dropped = 0, updated = 0;
    /// Lines that were fetched ahead: all, those that a look-up has found, those that went unused.
    std::uint64_t ahead = 0, useful = 0, useless = 0;
  };

  /// `lines` are a multiple of `ways`, or one set of fewer; no lines means that every look-up misses. The names are registered ones that
  /// suit each other.
  Cache(sc_core::sc_module_name name, const CacheLevelParams& params);

  const translate::Content* find(std::uint64_t tag) override;
  bool holds(std::uint64_t tag) const override;
  /// Puts a line in; where there is no room, in the place of the one that the replacement policy names.
  void fill(std::uint64_t tag, translate::Content content, std::uint32_t pd) override;
  void fill_ahead(std::uint64_t tag, translate::Content content, std::uint32_t pd) override;
  bool found_ahead() const override { return found_ahead_; }
  void drop(std::uint64_t first, std::uint64_t count) override;
  void written(std::uint64_t first, std::uint64_t count, const ports::LineSource& table) override;
  /// A fill that may take only some ways; all of them in a fully associative cache.
  void put(std::uint64_t tag, translate::Content content, std::uint32_t pd, WayMask allowed);

  /// Is told of each line that had to make room for another, once that is in.
  class Evictions {
   public:
    virtual void evicted(std::uint64_t tag) = 0;

   protected:
    ~Evictions() = default;
  };
  void tell(Evictions& listener) { evictions_ = &listener; }

  const Counts& counts() const { return counts_; }
  std::uint64_t capacity() const { return tags_.size(); }
  std::uint64_t held() const { return held_; }

 private:
  static constexpr std::uint64_t no_tag = ~std::uint64_t{0}, no_mask = ~std::uint64_t{0};
  enum class Lookup : std::uint8_t { nothing, sets, skewed, map };

  std::uint32_t row(std::uint64_t tag) const {
    return row_mask_ != no_mask ? static_cast<std::uint32_t>(tag & row_mask_) : index_->row(tag, 0);
  }
  Slot locate(std::uint64_t tag) const;
  Slot locate_otherwise(std::uint64_t tag) const;
  /// A place for a line that is not there, empty or to be emptied.
  Slot room(std::uint64_t tag, std::uint32_t pd, WayMask allowed);
  /// The ways that the quota leaves to a protection domain.
  WayMask within_quota(const Candidates& candidates, std::uint32_t pd) const;
  void classify(std::uint64_t tag);
  /// What a use does beyond ageing.
  void watch(std::uint64_t tag, Slot slot);
  /// The line there is about to go.
  void left(Slot slot);
  /// `act(slot)` for each line held of a range.
  template <class Act>
  void each_held(std::uint64_t first, std::uint64_t count, Act act);

  CacheShape shape_;
  Lookup lookup_;
  std::uint32_t pd_ways_;
  TableWrite table_write_;
  std::unique_ptr<IndexFunction> index_;
  std::uint64_t row_mask_;  ///< where there are sets, and the index function is no more than that
  std::unique_ptr<ReplacementPolicy> policy_;
  // By place.
  std::vector<std::uint64_t> tags_;
  std::vector<translate::Content> contents_;
  std::vector<std::uint32_t> pds_;  ///< empty without a quota
  std::vector<bool> ahead_;         ///< fetched ahead and not found yet
  bool any_ahead_ = false;          ///< has there been one?
  bool watched_ = false;            ///< a use does more than age: there is a shadow, or has been a line fetched ahead
  bool found_ahead_ = false;
  Slot last_ = 0;             ///< found by the last look-up that found anything
  std::vector<Slot> places_;  ///< of the line in hand in each way, in a skewed cache
  // Of a fully associative cache.
  std::optional<SlotMap> map_;
  std::vector<Slot> spare_;

  std::vector<bool> seen_;  ///< lines whose next miss is not cold
  std::optional<ShadowDirectory> shadow_;
  std::uint64_t held_ = 0;
  Counts counts_;
  Evictions* evictions_ = nullptr;
};

}  // namespace mtsim::nic
