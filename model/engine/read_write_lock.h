// A lock that readers share and a writer has alone: granted in order of arrival, so that a reader who comes after a waiting writer waits,
// too. On a release those whose turn it is are served first, in order, within the same picosecond.
#pragma once

#include <coroutine>
#include <cstdint>

#include "engine/scheduler.h"
#include "engine/usage.h"

namespace mtsim::engine {

class ReadWriteLock {
 public:
  enum class Mode : std::uint8_t { read, write };

  explicit ReadWriteLock(Scheduler& scheduler) : scheduler_(scheduler) {}
  ReadWriteLock(const ReadWriteLock&) = delete;
  ReadWriteLock& operator=(const ReadWriteLock&) = delete;

  class Take {
   public:
    Take(ReadWriteLock& lock, Mode mode) : lock_(lock), mode_(mode) {}
    bool await_ready() {
      ++lock_.usage_.requests;
      if (lock_.must_wait(mode_)) return false;
      lock_.grant(mode_);
      return true;
    }
    void await_suspend(std::coroutine_handle<> waiter) {
      waiter_ = waiter;
      since_ = lock_.scheduler_.now();
      lock_.settle();
      (lock_.first_ ? lock_.last_->next_ : lock_.first_) = this;
      lock_.last_ = this;
    }
    void await_resume() const {}

   private:
    friend class ReadWriteLock;
    ReadWriteLock& lock_;
    Mode mode_;
    Time since_;
    std::coroutine_handle<> waiter_;
    Take* next_ = nullptr;
  };

  Take take(Mode mode) { return Take(*this, mode); }
  /// Whether one who asks now has to wait.
  bool must_wait(Mode mode) const { return first_ != nullptr || !admits(mode); }

  void give(Mode mode) {
    settle();
    if (mode == Mode::write) writer_ = false;
    else --readers_;
    serve();
  }
  /// The writer goes on as a reader.
  void downgrade() {
    settle();
    writer_ = false;
    ++readers_;
    serve();
  }

  std::uint32_t readers() const { return readers_; }
  bool has_writer() const { return writer_; }
  /// `busy` is the time in which nobody else could come in: a writer had the lock or waited for it. Readers by themselves keep no reader
  /// out.
  Usage usage() const {
    Usage u = usage_;
    if (closed()) u.busy += scheduler_.now() - since_;
    return u;
  }

 private:
  bool admits(Mode mode) const { return !writer_ && (mode == Mode::read || readers_ == 0); }
  bool closed() const { return writer_ || first_ != nullptr; }
  void settle() {
    if (closed()) usage_.busy += scheduler_.now() - since_;
    since_ = scheduler_.now();
  }
  void grant(Mode mode) {
    settle();
    if (mode == Mode::write) writer_ = true;
    else ++readers_;
  }
  void serve() {
    while (first_ != nullptr && admits(first_->mode_)) {
      Take* next = first_;
      grant(next->mode_);
      first_ = next->next_;
      usage_.wait(scheduler_.now() - next->since_);
      // The awaiter lives in the frame that is about to run: nothing of it is touched after this.
      next->waiter_.resume();
    }
  }

  Scheduler& scheduler_;
  std::uint32_t readers_ = 0;
  bool writer_ = false;
  Take* first_ = nullptr;
  Take* last_ = nullptr;
  Usage usage_;
  Time since_;
};

}  // namespace mtsim::engine
