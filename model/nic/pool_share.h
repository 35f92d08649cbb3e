// What one kind of line has of a cache that several kinds share: numbers of its own in it, and the ways that it may take.
#pragma once

#include "nic/cache.h"

namespace mtsim::nic {

class PoolShare final : public ports::LineCache, private ports::LineSource {
 public:
  /// Its lines have the numbers from `first` on in the pool.
  PoolShare(Cache& pool, std::uint64_t first, WayMask ways) : pool_(pool), first_(first), ways_(ways) {}

  const translate::Content* find(std::uint64_t tag) override { return pool_.find(first_ + tag); }
  bool holds(std::uint64_t tag) const override { return pool_.holds(first_ + tag); }
  void fill(std::uint64_t tag, translate::Content content, std::uint32_t pd) override { pool_.put(first_ + tag, content, pd, ways_); }
  void drop(std::uint64_t first, std::uint64_t count) override { pool_.drop(first_ + first, count); }
  void written(std::uint64_t first, std::uint64_t count, const ports::LineSource& table) override {
    table_ = &table;
    pool_.written(first_ + first, count, *this);
  }

 private:
  translate::Content content(std::uint64_t tag) const override { return table_->content(tag - first_); }

  Cache& pool_;
  std::uint64_t first_;
  WayMask ways_;
  const ports::LineSource* table_ = nullptr;  ///< during written()
};

}  // namespace mtsim::nic
