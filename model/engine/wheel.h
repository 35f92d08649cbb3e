// A timing wheel: slots of a fixed span of about four nanoseconds, each sorted by (time, order); a heap for what lies beyond the horizon.
// Equal (time, order) leave in the order in which they came.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "engine/timer.h"

namespace mtsim::engine {

class Wheel {
 public:
  /// `timer.when` must not lie before the last limit given to `take`, nor before the last timer taken.
  void push(Timer& timer) {
    const std::int64_t slot = timer.when.raw >> slot_shift;
    if (slot < base_ + slot_count) [[likely]]
      place(timer, slot);
    else push_far(timer);
    ++size_;
  }

  /// Takes the earliest timer if it is due by `limit`; else null. The wheel never turns past `limit`, so that a timer may still be pushed
  /// for any time from `limit` on.
  Timer* take(Time limit) {
    Slot* slot = &slots_[base_ & slot_mask];
    if (slot->head == nullptr) {
      if (!turn(limit)) return nullptr;
      slot = &slots_[base_ & slot_mask];
    }
    Timer* head = slot->head;
    if (head->when > limit) return nullptr;
    slot->head = head->next;
    if (slot->head == nullptr) clear_bit(base_ & slot_mask);
    --size_;
    return head;
  }

  /// When the earliest timer is due; the wheel must not be empty.
  Time earliest() const;

  std::uint64_t size() const { return size_; }

 private:
  static constexpr int slot_shift = 12;
  static constexpr std::int64_t slot_count = 2048;
  static constexpr std::int64_t slot_mask = slot_count - 1;

  struct Slot {
    Timer* head = nullptr;
    Timer* tail = nullptr;
  };
  struct Far {
    Time when;
    Order order;
    std::uint64_t serial;
    Timer* timer;
  };

  static bool before(const Timer& a, const Timer& b) { return a.when < b.when || (a.when == b.when && a.order < b.order); }

  void place(Timer& timer, std::int64_t number) {
    const auto index = number & slot_mask;
    Slot& slot = slots_[index];
    if (slot.head == nullptr) {
      timer.next = nullptr;
      slot.head = slot.tail = &timer;
      words_[index >> 6] |= std::uint64_t{1} << (index & 63);
      summary_ |= std::uint32_t{1} << (index >> 6);
    } else if (!before(timer, *slot.tail)) {
      timer.next = nullptr;
      slot.tail->next = &timer;
      slot.tail = &timer;
    } else {
      Timer** link = &slot.head;
      while (!before(timer, **link)) link = &(*link)->next;
      timer.next = *link;
      *link = &timer;
    }
  }

  void clear_bit(std::int64_t index) {
    words_[index >> 6] &= ~(std::uint64_t{1} << (index & 63));
    if (words_[index >> 6] == 0) summary_ &= ~(std::uint32_t{1} << (index >> 6));
  }

  /// Makes the next slot with timers the current one, unless there is none or it lies beyond `limit`.
  bool turn(Time limit) {
    std::int64_t target = summary_ != 0 ? next_occupied() : INT64_MAX;
    // A far timer can be due before what the wheel holds: the horizon may have moved since it was pushed.
    if (far_slot_ < target) [[unlikely]]
      target = far_slot_ < base_ ? base_ : far_slot_;
    if (target > limit.raw >> slot_shift) return false;
    base_ = target;
    if (far_slot_ < base_ + slot_count) [[unlikely]]
      draw_in();
    return true;
  }
  void draw_in();
  void push_far(Timer& timer);
  /// Slot number of the first occupied slot from base_ on; at least one is occupied.
  std::int64_t next_occupied() const {
    const auto start = static_cast<std::uint64_t>(base_ & slot_mask);
    if (const std::uint64_t here = words_[start >> 6] >> (start & 63)) [[likely]]
      return base_ + std::countr_zero(here);
    return next_occupied_word();
  }
  std::int64_t next_occupied_word() const;

  std::array<Slot, slot_count> slots_{};
  std::array<std::uint64_t, slot_count / 64> words_{};
  std::uint32_t summary_ = 0;
  std::int64_t base_ = 0;  ///< number (time >> slot_shift) of the slot that is being served
  std::uint64_t size_ = 0;
  std::vector<Far> far_;               ///< a heap, earliest first
  std::int64_t far_slot_ = INT64_MAX;  ///< slot number of its earliest
  std::uint64_t far_serial_ = 0;
};

}  // namespace mtsim::engine
