// Asynchronous events of a host's devices, in order, and the threads that wait for one (core/uverbs_main.c, ib_uverbs_async_handler and
// ib_uverbs_event_read).
#pragma once

#include <coroutine>
#include <deque>

#include "verbs/event.h"

namespace mtsim::kernel {

class EventQueue {
 public:
  /// `co_await`: the next event, which goes to the threads in the order in which they asked.
  class Take {
   public:
    explicit Take(EventQueue& queue) : queue_(queue) {}
    bool await_ready() const { return !queue_.events_.empty(); }
    void await_suspend(std::coroutine_handle<> waiter) {
      waiter_ = waiter;
      queue_.waiters_.push_back(this);
    }
    verbs::Event await_resume() {
      if (waiter_) return event_;
      const verbs::Event first = queue_.events_.front();
      queue_.events_.pop_front();
      return first;
    }

   private:
    friend EventQueue;
    EventQueue& queue_;
    std::coroutine_handle<> waiter_;
    verbs::Event event_ = verbs::Event::none;
  };

  bool empty() const { return events_.empty(); }
  Take take() { return Take(*this); }
  /// Whoever has waited longest goes on at once.
  void add(verbs::Event event) {
    if (waiters_.empty()) {
      events_.push_back(event);
      return;
    }
    Take& first = *waiters_.front();
    waiters_.pop_front();
    first.event_ = event;
    first.waiter_.resume();
  }

 private:
  std::deque<verbs::Event> events_;
  std::deque<Take*> waiters_;
};

}  // namespace mtsim::kernel
