// A buffer of bytes whose releases are known ahead (a packet leaves the wire at a known time). Room is taken in order of arrival; an
// event exists only while somebody waits.
#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>

#include "engine/scheduler.h"
#include "engine/usage.h"

namespace mtsim::engine {

class Buffer : Timer {
 public:
  Buffer(Scheduler& scheduler, Bytes capacity, Order by) : scheduler_(scheduler), capacity_(capacity.raw), free_(capacity.raw) {
    order = by;
    fire = [](Timer& t) { static_cast<Buffer&>(t).wake(); };
  }

  class Take {
   public:
    Take(Buffer& buffer, std::uint64_t bytes) : buffer_(buffer), bytes_(bytes) {}
    bool await_ready() {
      ++buffer_.usage_.requests;
      if (buffer_.first_ != nullptr) return false;
      buffer_.collect();
      if (buffer_.free_ < bytes_) return false;
      buffer_.grant(bytes_);
      return true;
    }
    void await_suspend(std::coroutine_handle<> waiter) {
      waiter_ = waiter;
      since_ = buffer_.scheduler_.now();
      const bool alone = buffer_.first_ == nullptr;
      (alone ? buffer_.first_ : buffer_.last_->next_) = this;
      buffer_.last_ = this;
      if (alone) buffer_.arm();
    }
    void await_resume() const {}

   private:
    friend class Buffer;
    Buffer& buffer_;
    std::uint64_t bytes_;
    Time since_;
    std::coroutine_handle<> waiter_;
    Take* next_ = nullptr;
  };

  /// A piece larger than the whole buffer waits until the buffer is empty.
  Take take(Bytes n) { return Take(*this, std::min(n.raw, capacity_)); }

  /// `n` bytes become free at `at`. Room comes free in the order of these calls: never before that of an earlier one.
  void give_at(Time at, Bytes n) {
    if (!releases_.empty()) at = std::max(at, releases_.back().at);
    releases_.push_back({at, std::min(n.raw, capacity_)});
    if (first_ != nullptr && !armed_) arm();
  }

  const Usage& usage() const { return usage_; }
  Bytes capacity() const { return Bytes(capacity_); }
  /// Now: what has become free and was not asked for yet does not count.
  Bytes in_use() const {
    std::uint64_t used = capacity_ - free_;
    for (const Release& release : releases_)
      if (release.at <= scheduler_.now()) used -= release.bytes;
    return Bytes(used);
  }

 private:
  struct Release {
    Time at;
    std::uint64_t bytes;
  };

  void collect() {
    while (!releases_.empty() && releases_.front().at <= scheduler_.now()) {
      free_ += releases_.front().bytes;
      releases_.pop_front();
    }
  }
  void grant(std::uint64_t n) {
    free_ -= n;
    usage_.most = std::max(usage_.most, capacity_ - free_);
  }
  void arm() {
    if (releases_.empty()) return;
    armed_ = true;
    scheduler_.arm(*this, std::max(releases_.front().at, scheduler_.now()));
  }
  void wake() {
    armed_ = false;
    collect();
    while (first_ != nullptr && first_->bytes_ <= free_) {
      Take& taker = *first_;
      first_ = taker.next_;
      grant(taker.bytes_);
      usage_.wait(scheduler_.now() - taker.since_);
      taker.waiter_.resume();
    }
    if (first_ != nullptr && !armed_) arm();
  }

  Scheduler& scheduler_;
  std::uint64_t capacity_, free_;
  std::deque<Release> releases_;
  Take* first_ = nullptr;
  Take* last_ = nullptr;
  bool armed_ = false;
  Usage usage_;
};

}  // namespace mtsim::engine
