// Whose turn it is. The program's side of a replay (what names stand for, which requests are under way, what lines expect) is one state
// that all threads of all hosts share; it was made for one thread at a time. So a thread takes the turn to go on in its program, and
// passes it whenever it is away: in a call of the device, at a barrier, asleep.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace mtsim::replay {

using WallClock = std::chrono::steady_clock;

/// Thrown through an actor when the run has been given up: its thread ends.
struct GivenUp {};

class Turn {
 public:
  void take() { mutex_.lock(); }
  void pass() { mutex_.unlock(); }

  /// While it lives the calling thread, which had the turn, is away.
  class Away {
   public:
    explicit Away(Turn& turn) : turn_(turn) { turn_.pass(); }
    ~Away() { turn_.take(); }
    Away(const Away&) = delete;
    Away& operator=(const Away&) = delete;

   private:
    Turn& turn_;
  };

  /// How long nothing at all may go on before whoever waits for something gives up.
  void set_limit(WallClock::duration limit) { limit_ = limit; }
  WallClock::duration limit() const { return limit_; }
  /// Some thread got on: a call ended, a completion was taken, a barrier opened. Needs the turn.
  void got_on() { last_ = own_ = WallClock::now(); }
  /// The same was said of a thread of another process.
  void others_got_on() { last_ = WallClock::now(); }
  /// When a thread of this process got on last.
  WallClock::time_point got_on_at() const { return own_; }
  bool out_of_patience() const { return WallClock::now() - last_ > limit_; }
  /// Waits, away, until `ready()`; false when patience is at an end. Throws GivenUp.
  template <class Ready>
  bool wait_for(Ready ready) {
    while (!wait_until(last_ + limit_, ready))
      if (out_of_patience()) return false;
    return true;
  }

  /// Waits, away, until `ready()` or the deadline; whether it is ready. Throws GivenUp.
  template <class Ready>
  bool wait_until(WallClock::time_point deadline, Ready ready) {
    std::unique_lock lock(mutex_, std::adopt_lock);
    const bool met = changed_.wait_until(lock, deadline, [&] { return given_up() || ready(); });
    lock.release();
    check();
    return met;
  }
  /// The same where it does not matter whether the run has been given up: does not throw.
  template <class Ready>
  bool settle_until(WallClock::time_point deadline, Ready ready) {
    std::unique_lock lock(mutex_, std::adopt_lock);
    const bool met = changed_.wait_until(lock, deadline, ready);
    lock.release();
    return met;
  }
  /// Something that others may wait for has come about.
  void announce() { changed_.notify_all(); }

  /// Ends the run: every thread stops at its next call or wait. The first reason is kept. Needs the turn.
  void give_up(std::string reason) {
    if (given_up_.exchange(true)) return;
    reason_ = std::move(reason);
    announce();
    if (told_) told_(reason_);
  }
  /// Who is told of it when the run is given up: processes elsewhere.
  void tell(std::function<void(const std::string& reason)> told) { told_ = std::move(told); }
  bool given_up() const { return given_up_.load(std::memory_order_relaxed); }
  /// Throws GivenUp if the run has been given up.
  void check() const {
    if (given_up()) throw GivenUp{};
  }
  const std::string& reason() const { return reason_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> given_up_{false};
  WallClock::duration limit_{};
  WallClock::time_point last_ = WallClock::now(), own_ = last_;
  std::string reason_;
  std::function<void(const std::string&)> told_;
};

}  // namespace mtsim::replay
