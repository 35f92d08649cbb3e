// Places for tags, in sets: the state of an IOTLB, of a paging-structure cache, of a last-level cache. Pure; no time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace mtsim::host {

enum class Eviction : std::uint8_t { lru, fifo, random };

class TagStore {
 public:
  /// `entries` places in sets of `ways` (a divisor); 0 ways: any place serves any tag.
  TagStore(std::uint64_t entries, std::uint32_t ways, Eviction by = Eviction::lru)
      : ways_(ways == 0 ? entries : ways), sets_(ways_ == 0 ? 0 : entries / ways_), by_(by), places_(entries) {}

  /// The place of a tag that is there; it counts as used.
  std::optional<std::size_t> find(std::uint64_t tag) {
    const std::optional<std::size_t> at = place_of(tag);
    if (at && by_ == Eviction::lru) places_[*at].age = ++clock_;
    return at;
  }
  bool holds(std::uint64_t tag) const { return place_of(tag).has_value(); }

  /// Puts a tag in, in one of the first `among` ways of its set where something must give way; its place, nothing where there is none.
  std::optional<std::size_t> put(std::uint64_t tag, std::uint64_t among = ~std::uint64_t{0}) {
    if (const auto known = find(tag)) return known;
    const std::size_t begin = first_of(tag), end = begin + std::min(among, ways_);
    if (sets_ == 0 || begin == end) return std::nullopt;
    std::size_t victim = begin;
    for (std::size_t i = begin; i != end; ++i) {
      if (!places_[i].used) {
        victim = i;
        break;
      }
      if (places_[i].age < places_[victim].age) victim = i;
    }
    if (by_ == Eviction::random && places_[victim].used) victim = begin + draw() % (end - begin);
    held_ += !places_[victim].used;
    places_[victim] = {tag, ++clock_, true};
    return victim;
  }

  bool drop(std::uint64_t tag) {
    const auto at = place_of(tag);
    if (at) places_[*at].used = false;
    held_ -= at.has_value();
    return at.has_value();
  }
  template <class Which>
  void drop_if(Which which) {
    for (Place& place : places_)
      if (place.used && which(place.tag)) {
        place.used = false;
        --held_;
      }
  }
  std::uint64_t held() const { return held_; }

 private:
  struct Place {
    std::uint64_t tag = 0, age = 0;
    bool used = false;
  };
  std::size_t first_of(std::uint64_t tag) const { return sets_ <= 1 ? 0 : static_cast<std::size_t>(tag % sets_ * ways_); }
  std::optional<std::size_t> place_of(std::uint64_t tag) const {
    const std::size_t begin = first_of(tag), end = sets_ == 0 ? begin : begin + static_cast<std::size_t>(ways_);
    for (std::size_t i = begin; i != end; ++i)
      if (places_[i].tag == tag && places_[i].used) return i;
    return std::nullopt;
  }
  /// xorshift64 (Marsaglia 2003).
  std::uint64_t draw() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    return random_ ^= random_ << 17;
  }

  std::uint64_t ways_, sets_;
  Eviction by_;
  std::vector<Place> places_;
  std::uint64_t clock_ = 0, held_ = 0, random_ = 0x9E3779B97F4A7C15u;
};

}  // namespace mtsim::host
