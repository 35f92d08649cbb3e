// Flows that wait for one and the same thing to happen. When it does, all of them go on, in order of arrival.
#pragma once

#include <coroutine>
#include <utility>

namespace mtsim::engine {

class Waiters {
 public:
  /// Lives in the frame of the flow that waits.
  class Wait {
   public:
    explicit Wait(Waiters& waiters) : waiters_(waiters) {}
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> flow) {
      flow_ = flow;
      (waiters_.first_ ? waiters_.last_->next_ : waiters_.first_) = this;
      waiters_.last_ = this;
    }
    void await_resume() const {}

   private:
    friend class Waiters;
    Waiters& waiters_;
    std::coroutine_handle<> flow_;
    Wait* next_ = nullptr;
  };

  Waiters() = default;
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  /// `co_await waiters.wait()`: goes on with resume_all().
  Wait wait() { return Wait(*this); }
  void resume_all() {
    for (Wait* wait = std::exchange(first_, nullptr); wait != nullptr;) {
      // The frame that it lies in is about to run: nothing of it is touched after this.
      Wait* next = wait->next_;
      wait->flow_.resume();
      wait = next;
    }
  }
  bool empty() const { return first_ == nullptr; }
  /// How many there are, one by one: for reports.
  unsigned count() const {
    unsigned n = 0;
    for (const Wait* wait = first_; wait != nullptr; wait = wait->next_) ++n;
    return n;
  }

 private:
  Wait* first_ = nullptr;
  Wait* last_ = nullptr;
};

}  // namespace mtsim::engine
