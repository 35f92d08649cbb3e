// Reads of a piece's runs, which may come back in any order: who needs all waits for the last.
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

#include "nic/reuse_pool.h"

namespace mtsim::nic {

/// `co_await join`: goes on when every read begun has ended. At most one waits.
class ReadJoin {
 public:
  void begin() { ++left_; }
  void end() {
    if (--left_ != 0) return;
    if (waiter_) std::exchange(waiter_, {}).resume();
    else if (ReusePool<ReadJoin>* pool = std::exchange(forsaken_, nullptr)) pool->give(*this);
  }
  /// Nobody will wait: it goes back to its pool when the last read has ended.
  void forsake(ReusePool<ReadJoin>& pool) {
    if (left_ == 0) pool.give(*this);
    else forsaken_ = &pool;
  }

  bool await_ready() const { return left_ == 0; }
  void await_suspend(std::coroutine_handle<> waiter) { waiter_ = waiter; }
  void await_resume() const {}
  ReadJoin* next_free = nullptr;

 private:
  std::uint32_t left_ = 0;
  std::coroutine_handle<> waiter_;
  ReusePool<ReadJoin>* forsaken_ = nullptr;
};

}  // namespace mtsim::nic
