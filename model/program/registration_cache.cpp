#include "program/registration_cache.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace mtsim::program {

RegistrationCache::Answer RegistrationCache::look_up(std::uint64_t begin, std::uint64_t end) {
  Answer answer;
  auto after = by_begin_.upper_bound(begin);
  if (after != by_begin_.begin()) {
    Entry& before = std::prev(after)->second;
    if (before.region.end >= end) {
      uses_.splice(uses_.end(), uses_, before.use);
      answer.hit = true;
      answer.region = before.region;
      return answer;
    }
  }
  Region made{begin / rules_.granule * rules_.granule, (end + rules_.granule - 1) / rules_.granule * rules_.granule, 0};
  // What it overlaps becomes part of it (ucs_rcache_check_overlap), and with `merge` what it touches too.
  const auto meets = [&](const Region& r) {
    return rules_.merge ? r.begin <= made.end && made.begin <= r.end : r.begin < made.end && made.begin < r.end;
  };
  auto entry = by_begin_.upper_bound(made.begin);
  if (entry != by_begin_.begin() && meets(std::prev(entry)->second.region)) --entry;
  while (entry != by_begin_.end() && meets(entry->second.region)) {
    made.begin = std::min(made.begin, entry->second.region.begin);
    made.end = std::max(made.end, entry->second.region.end);
    const auto next = std::next(entry);
    answer.drop.push_back(remove(entry));
    entry = next;
  }
  const std::uint64_t size = made.end - made.begin;
  const auto crowded = [&] {
    return (rules_.most_regions != 0 && by_begin_.size() >= rules_.most_regions) ||
           (rules_.most_bytes != 0 && bytes_ + size > rules_.most_bytes);
  };
  while (!by_begin_.empty() && crowded()) answer.drop.push_back(remove(by_begin_.find(uses_.front())));

  made.slot = take_slot();
  by_begin_.emplace(made.begin, Entry{made, uses_.insert(uses_.end(), made.begin)});
  bytes_ += size;
  answer.region = made;
  return answer;
}

std::vector<RegistrationCache::Slot> RegistrationCache::invalidate(std::uint64_t begin, std::uint64_t end) {
  std::vector<Slot> out;
  auto entry = by_begin_.upper_bound(begin);
  if (entry != by_begin_.begin() && std::prev(entry)->second.region.end > begin) --entry;
  while (entry != by_begin_.end() && entry->second.region.begin < end) {
    const auto next = std::next(entry);
    out.push_back(remove(entry));
    entry = next;
  }
  return out;
}

RegistrationCache::Slot RegistrationCache::take_slot() {
  if (free_.empty()) return slots_++;
  std::pop_heap(free_.begin(), free_.end(), std::greater<>());
  const Slot slot = free_.back();
  free_.pop_back();
  return slot;
}

RegistrationCache::Slot RegistrationCache::remove(Entries::iterator entry) {
  const Region region = entry->second.region;
  uses_.erase(entry->second.use);
  by_begin_.erase(entry);
  bytes_ -= region.end - region.begin;
  free_.push_back(region.slot);
  std::push_heap(free_.begin(), free_.end(), std::greater<>());
  return region.slot;
}

}  // namespace mtsim::program
