#include "engine/wheel.h"

#include <algorithm>

namespace mtsim::engine {
namespace {

constexpr auto later = [](const auto& a, const auto& b) {
  if (a.when != b.when) return a.when > b.when;
  if (a.order != b.order) return a.order > b.order;
  return a.serial > b.serial;
};

}  // namespace

void Wheel::push_far(Timer& timer) {
  far_.push_back({timer.when, timer.order, far_serial_++, &timer});
  std::push_heap(far_.begin(), far_.end(), later);
}

std::int64_t Wheel::next_occupied() const {
  const auto start = static_cast<std::uint64_t>(base_ & slot_mask);
  const auto word = start >> 6;
  const auto distance = [&](std::uint64_t index) { return static_cast<std::int64_t>((index - start) & slot_mask); };
  if (const std::uint64_t here = words_[word] >> (start & 63)) return base_ + std::countr_zero(here);
  const auto others = std::rotr(summary_, static_cast<int>(word)) & ~std::uint64_t{1};
  // Only the part of the first word that lies before `start` is left: it wraps round to the far end of the horizon.
  const std::uint64_t next = others ? (word + static_cast<unsigned>(std::countr_zero(others))) & 63 : word;
  return base_ + distance(next << 6 | static_cast<unsigned>(std::countr_zero(words_[next])));
}

Time Wheel::earliest() const {
  if (summary_ == 0) return far_.front().when;
  const Time near = slots_[next_occupied() & slot_mask].head->when;
  return far_.empty() ? near : std::min(near, far_.front().when);
}

Timer* Wheel::turn(Time limit) {
  const std::int64_t last = limit.raw >> slot_shift;
  std::int64_t target = summary_ != 0 ? next_occupied() : far_.front().when.raw >> slot_shift;
  // The horizon may have moved since a far timer was pushed: it can be due before what the wheel holds.
  if (!far_.empty()) target = std::min(target, std::max(base_, far_.front().when.raw >> slot_shift));
  if (target > last) return nullptr;
  base_ = target;
  while (!far_.empty() && (far_.front().when.raw >> slot_shift) < base_ + slot_count) {
    Timer& timer = *far_.front().timer;
    std::pop_heap(far_.begin(), far_.end(), later);
    far_.pop_back();
    place(timer, timer.when.raw >> slot_shift);
  }
  Timer* head = slots_[base_ & slot_mask].head;
  return head->when <= limit ? head : nullptr;
}

}  // namespace mtsim::engine
