// A slow and obvious cache, for comparison: lists and maps, written from the definitions of the policies and without the model's code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mtsim::test {

struct SlowShape {
  std::uint32_t lines = 0, ways = 0;  ///< no ways: fully associative
  std::string replacement = "lru", index = "modulo";
  std::uint64_t seed = 1;
  std::uint32_t pd_ways = 0;
};

class SlowCache {
 public:
  using Place = std::pair<std::uint32_t, std::uint32_t>;  ///< row, way

  explicit SlowCache(const SlowShape& shape) : shape_(shape), random_(shape.seed) {
    ways_ = shape.ways == 0 ? shape.lines : std::min(shape.lines, shape.ways);
    rows_ = ways_ == 0 ? 0 : shape.lines / ways_;
    for (std::uint32_t way = ways_; shape.ways == 0 && way != 0; --way) spare_.push_back(way - 1);
  }

  std::uint64_t hits = 0, cold = 0, capacity = 0, conflict = 0, evictions = 0, dropped = 0;

  std::optional<std::uint64_t> find(std::uint64_t tag) {
    for (auto& [place, line] : lines_) {
      if (line.tag != tag) continue;
      ++hits;
      if (shape_.replacement == "lru") move_to_end(place);
      if (shape_.replacement == "plru") climb(place);
      line.interval = 0;
      shadow_touch(tag);
      return line.content;
    }
    if (fetched_.count(tag) == 0) {
      ++cold;
    } else if (std::find(shadow_.begin(), shadow_.end(), tag) != shadow_.end()) {
      ++conflict;
      shadow_touch(tag);
    } else {
      ++capacity;
    }
    return std::nullopt;
  }

  void fill(std::uint64_t tag, std::uint64_t content, std::uint32_t pd, std::uint64_t allowed) {
    fetched_.insert(tag);
    shadow_touch(tag);
    if (rows_ == 0) return;
    for (auto& [place, line] : lines_)
      if (line.tag == tag) {
        line.content = content;
        return;
      }
    std::vector<Place> places;
    std::vector<Place> own;
    for (std::uint32_t way = 0; way < ways_; ++way) {
      if (ways_ <= 64 && (allowed >> way) % 2 == 0) continue;
      places.emplace_back(row(tag, way), way);
      const auto there = lines_.find(places.back());
      if (there != lines_.end() && there->second.pd == pd) own.push_back(places.back());
    }
    if (shape_.pd_ways != 0 && own.size() >= shape_.pd_ways) places = own;
    Place to = {0, 0};
    const auto empty = std::find_if(places.begin(), places.end(), [this](const Place& p) { return lines_.count(p) == 0; });
    if (empty == places.end()) {
      to = victim(places);
      ++evictions;
    } else if (shape_.ways == 0) {
      to = {0, spare_.back()};
      spare_.pop_back();
    } else {
      to = *empty;
    }
    order_.remove(to);
    order_.push_back(to);
    if (shape_.replacement == "plru") climb(to);
    lines_[to] = {tag, content, pd, interval_of_new(to.first)};
  }

  void drop(std::uint64_t first, std::uint64_t count) {
    std::vector<Place> gone;
    for (const auto& [place, line] : lines_)
      if (line.tag >= first && line.tag - first < count) gone.push_back(place);
    if (count < shape_.lines)
      std::sort(gone.begin(), gone.end(), [this](const Place& a, const Place& b) { return lines_[a].tag < lines_[b].tag; });
    for (const Place& place : gone) {
      lines_.erase(place);
      if (shape_.ways == 0) spare_.push_back(place.second);
      ++dropped;
    }
    fetched_.erase(fetched_.lower_bound(first), fetched_.lower_bound(first + count));
    shadow_.remove_if([&](std::uint64_t tag) { return tag >= first && tag - first < count; });
  }

  void update(std::uint64_t first, std::uint64_t count, std::uint64_t content) {
    for (auto& [place, line] : lines_)
      if (line.tag >= first && line.tag - first < count) line.content = content;
  }

  std::set<std::uint64_t> tags() const {
    std::set<std::uint64_t> out;
    for (const auto& [place, line] : lines_) out.insert(line.tag);
    return out;
  }

 private:
  struct Line {
    std::uint64_t tag, content;
    std::uint32_t pd;
    int interval;
  };

  std::uint32_t row(std::uint64_t tag, std::uint32_t way) const {
    if (shape_.index == "modulo") return static_cast<std::uint32_t>(tag % rows_);
    if (shape_.index == "hashed") {
      // Bit by bit: bit i of the number goes into bit i modulo the width of the row's number.
      std::uint32_t width = 0, out = 0;
      while ((1u << width) < rows_) ++width;
      for (std::uint32_t i = 0; i < 64 && width != 0; ++i)
        if (tag >> i & 1) out ^= 1u << i % width;
      return out % rows_;
    }
    std::uint64_t x = tag;
    for (std::uint32_t i = 0; i <= way; ++i) x += 11400714819323198485u;
    x = (x ^ x >> 30) * 13787848793156543929u;
    x = (x ^ x >> 27) * 10723151780598845931u;
    x ^= x >> 31;
    return static_cast<std::uint32_t>(x / 4294967296 * rows_ / 4294967296);
  }

  void move_to_end(const Place& place) {
    order_.remove(place);
    order_.push_back(place);
  }

  void shadow_touch(std::uint64_t tag) {
    shadow_.remove(tag);
    shadow_.push_back(tag);
    if (shadow_.size() > shape_.lines) shadow_.pop_front();
  }

  Place victim(const std::vector<Place>& places) {
    const auto among = [&places](const Place& p) { return std::find(places.begin(), places.end(), p) != places.end(); };
    if (shape_.replacement == "random") return places[random_() % places.size()];
    if (shape_.replacement == "plru") {
      std::uint32_t size = 1;
      while (size < ways_) size *= 2;
      return {places[0].first, descend(places[0].first, 0, size, places)};
    }
    if (shape_.replacement == "srrip" || shape_.replacement == "drrip") {
      for (;;) {
        for (const Place& place : places)
          if (lines_[place].interval == 3) return place;
        for (const Place& place : places) ++lines_[place].interval;
      }
    }
    return *std::find_if(order_.begin(), order_.end(), among);
  }

  /// Tree-PLRU by halves: `right_older_` says of each range of ways whether its right half is the older.
  std::uint32_t descend(std::uint32_t set, std::uint32_t from, std::uint32_t size, const std::vector<Place>& places) {
    if (size == 1) return from;
    const std::uint32_t half = size / 2;
    const auto some = [&](std::uint32_t first) {
      return std::any_of(places.begin(), places.end(), [&](const Place& p) { return p.second >= first && p.second < first + half; });
    };
    bool right = right_older_[{set, {from, size}}];
    if (right && !some(from + half)) right = false;
    else if (!right && !some(from)) right = true;
    return descend(set, right ? from + half : from, half, places);
  }
  void climb(const Place& place) {
    std::uint32_t size = 1;
    while (size < ways_) size *= 2;
    for (; size > 1; size /= 2) {
      const std::uint32_t from = place.second / size * size;
      right_older_[{place.first, {from, size}}] = place.second < from + size / 2;
    }
  }

  int interval_of_new(std::uint32_t set) {
    if (shape_.replacement != "drrip" || rows_ == 1) return 2;
    // Up to 32 pairs of leaders, each pair at the two ends of an equal stretch of sets.
    const std::uint32_t pairs = std::min(32u, rows_ / 2), stretch = rows_ / pairs;
    enum { follows, static_leader, bimodal_leader } role = follows;
    for (std::uint32_t pair = 0; pair < pairs; ++pair) {
      if (set == pair * stretch) role = static_leader;
      if (set == pair * stretch + stretch - 1) role = bimodal_leader;
    }
    bool bimodal = role == bimodal_leader || (role == follows && misses_ >= 512);
    if (role == static_leader) misses_ = std::min(misses_ + 1, 1023);
    if (role == bimodal_leader) misses_ = std::max(misses_ - 1, 0);
    if (!bimodal) return 2;
    return ++bimodal_ % 32 == 0 ? 2 : 3;
  }

  SlowShape shape_;
  std::uint32_t ways_ = 0, rows_ = 0;
  std::mt19937_64 random_;
  std::map<Place, Line> lines_;
  std::list<Place> order_;  ///< the place used (fifo: filled) longest ago first
  std::map<std::pair<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>>, bool> right_older_;
  std::vector<std::uint32_t> spare_;
  int misses_ = 511, bimodal_ = 0;
  std::set<std::uint64_t> fetched_;
  std::list<std::uint64_t> shadow_;
};

}  // namespace mtsim::test
