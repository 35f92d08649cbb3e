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
  far_slot_ = far_.front().when.raw >> slot_shift;
}

// What is left when the first word holds nothing from base_ on.
std::int64_t Wheel::next_occupied_word() const {
  const auto start = static_cast<std::uint64_t>(base_ & slot_mask);
  const auto word = start >> 6;
  const std::uint32_t others = std::rotr(summary_, static_cast<int>(word)) & ~std::uint32_t{1};
  // Only the part of the first word that lies before `start` is left: it wraps round to the far end of the horizon.
  const std::uint64_t next = others ? (word + static_cast<unsigned>(std::countr_zero(others))) & 31 : word;
  const std::uint64_t index = next << 6 | static_cast<unsigned>(std::countr_zero(words_[next]));
  return base_ + static_cast<std::int64_t>((index - start) & slot_mask);
}

Time Wheel::earliest() const {
  if (summary_ == 0) return far_.front().when;
  const Time near = slots_[next_occupied() & slot_mask].head->when;
  return far_.empty() ? near : std::min(near, far_.front().when);
}

// What was beyond the horizon when it was pushed and is within it now.
void Wheel::draw_in() {
  while (!far_.empty() && (far_.front().when.raw >> slot_shift) < base_ + slot_count) {
    Timer& timer = *far_.front().timer;
    std::pop_heap(far_.begin(), far_.end(), later);
    far_.pop_back();
    place(timer, timer.when.raw >> slot_shift);
  }
  far_slot_ = far_.empty() ? INT64_MAX : far_.front().when.raw >> slot_shift;
}

}  // namespace mtsim::engine
