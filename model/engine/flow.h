// Operation flows as C++20 coroutines. A Flow is a whole operation that runs on its own (a work request's life, a registration);
// a Task<T> is a part of one that its flow awaits (a translation). Frames come from a pool.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "engine/frame_pool.h"

namespace mtsim::engine {

class Flows;

class [[nodiscard]] Flow {
 public:
  struct promise_type : PooledFrame {
    promise_type* previous = nullptr;
    promise_type* next = nullptr;
    Flows* owner = nullptr;

    Flow get_return_object() { return Flow(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct End {
      bool await_ready() noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> self) noexcept;
      void await_resume() noexcept {}
    };
    End final_suspend() noexcept { return {}; }
    void return_void() {}
    // An exception that leaves a flow is a fault of ours with nobody to catch it.
    [[noreturn]] void unhandled_exception() { std::terminate(); }
  };

  Flow(Flow&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Flow(const Flow&) = delete;
  Flow& operator=(Flow&&) = delete;
  Flow& operator=(const Flow&) = delete;
  ~Flow() {
    if (handle_) handle_.destroy();
  }

 private:
  friend class Flows;
  explicit Flow(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

/// The flows under way: owns their frames, so that a run that ends early leaves nothing behind.
class Flows {
 public:
  Flows() = default;
  Flows(const Flows&) = delete;
  Flows& operator=(const Flows&) = delete;
  ~Flows() {
    while (head_) {
      auto* flow = head_;
      remove(*flow);
      std::coroutine_handle<Flow::promise_type>::from_promise(*flow).destroy();
    }
  }

  void adopt(Flow flow) {
    auto handle = std::exchange(flow.handle_, {});
    auto& promise = handle.promise();
    promise.owner = this;
    promise.next = head_;
    if (head_) head_->previous = &promise;
    head_ = &promise;
    handle.resume();
  }

  void remove(Flow::promise_type& promise) {
    (promise.previous ? promise.previous->next : head_) = promise.next;
    if (promise.next) promise.next->previous = promise.previous;
  }

 private:
  Flow::promise_type* head_ = nullptr;
};

inline void Flow::promise_type::End::await_suspend(std::coroutine_handle<promise_type> self) noexcept {
  self.promise().owner->remove(self.promise());
  self.destroy();
}

template <class T>
class [[nodiscard]] Task {
 public:
  struct promise_type : PooledFrame {
    T value{};
    std::coroutine_handle<> continuation;

    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct End {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept { return self.promise().continuation; }
      void await_resume() noexcept {}
    };
    End final_suspend() noexcept { return {}; }
    void return_value(T result) { value = std::move(result); }
    [[noreturn]] void unhandled_exception() { std::terminate(); }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task(const Task&) = delete;
  Task& operator=(Task&&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) noexcept {
    handle_.promise().continuation = waiter;
    return handle_;
  }
  T await_resume() { return std::move(handle_.promise().value); }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace mtsim::engine
