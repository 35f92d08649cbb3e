// A pool of equal places (walks in flight, command slots, tags): taken in order of arrival, none overtakes. On a release waiters are
// served first, in order, within the same picosecond.
#pragma once

#include <coroutine>
#include <cstdint>

#include "base/timeline.h"
#include "engine/scheduler.h"
#include "engine/usage.h"

namespace mtsim::engine {

class Semaphore {
 public:
  Semaphore(Scheduler& scheduler, std::uint64_t places) : scheduler_(scheduler), places_(places), free_(places) {}

  class Take {
   public:
    Take(Semaphore& pool, std::uint64_t n) : pool_(pool), n_(n) {}
    bool await_ready() {
      ++pool_.usage_.requests;
      if (pool_.first_ != nullptr || pool_.free_ < n_) return false;
      pool_.grant(n_);
      return true;
    }
    void await_suspend(std::coroutine_handle<> waiter) {
      waiter_ = waiter;
      since_ = pool_.scheduler_.now();
      (pool_.first_ ? pool_.last_->next_ : pool_.first_) = this;
      pool_.last_ = this;
      ++pool_.waiting_;
      pool_.draw_levels();
    }
    void await_resume() const {}

   private:
    friend class Semaphore;
    Semaphore& pool_;
    std::uint64_t n_;
    Time since_;
    std::coroutine_handle<> waiter_;
    Take* next_ = nullptr;
  };

  /// `n` must not exceed the number of places.
  Take take(std::uint64_t n = 1) { return Take(*this, n); }

  void give(std::uint64_t n = 1) {
    settle();
    free_ += n;
    // Not what is taken again at once.
    if (first_ == nullptr) draw_levels();
    while (first_ != nullptr && first_->n_ <= free_) {
      Take* next = first_;
      first_ = next->next_;
      --waiting_;
      grant(next->n_);
      usage_.wait(scheduler_.now() - next->since_);
      // The awaiter lives in the frame that is about to run: nothing of it is touched after this.
      next->waiter_.resume();
    }
  }

  std::uint64_t places() const { return places_; }
  std::uint64_t in_use() const { return places_ - free_; }
  bool has_waiters() const { return first_ != nullptr; }
  /// Draws how many places are in use and how many takers wait, from now on. Whoever may look at a pool may draw it.
  void draw(const TimelineRow& in_use, const TimelineRow& waiting) const {
    busy_row_ = in_use;
    waiting_row_ = waiting;
  }
  /// `busy` counts place-time up to now.
  Usage usage() const {
    Usage u = usage_;
    u.busy += Time(static_cast<std::int64_t>(in_use()) * (scheduler_.now() - since_).raw);
    return u;
  }

 private:
  void settle() {
    usage_.busy += Time(static_cast<std::int64_t>(in_use()) * (scheduler_.now() - since_).raw);
    since_ = scheduler_.now();
  }
  void grant(std::uint64_t n) {
    settle();
    free_ -= n;
    usage_.most = std::max(usage_.most, in_use());
    draw_levels();
  }
  void draw_levels() const {
    if (!busy_row_) [[likely]]
      return;
    busy_row_.level(scheduler_.now(), in_use());
    waiting_row_.level(scheduler_.now(), waiting_);
  }

  Scheduler& scheduler_;
  std::uint64_t places_, free_;
  Take* first_ = nullptr;
  Take* last_ = nullptr;
  std::uint64_t waiting_ = 0;
  Usage usage_;
  Time since_;
  mutable TimelineRow busy_row_, waiting_row_;
};

}  // namespace mtsim::engine
