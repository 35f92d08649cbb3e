// The work requests of one host that may still complete, and the completions set aside for a later `poll wr=`. It tells a poll that
// waits for something still to come from one that would wait for ever.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "program/op.h"
#include "verbs/device.h"

namespace mtsim::program {

/// A map from work request numbers, open addressed: what is in flight at once is small, and no node is allocated for each request.
template <class Value>
class WrMap {
 public:
  Value* find(std::uint64_t wr) {
    if (used_ == 0) return nullptr;
    for (std::size_t i = home(wr); slots_[i].used; i = next(i))
      if (slots_[i].wr == wr) return &slots_[i].value;
    return nullptr;
  }

  void insert(std::uint64_t wr, const Value& value) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    std::size_t i = home(wr);
    while (slots_[i].used && slots_[i].wr != wr) i = next(i);
    if (!slots_[i].used) ++used_;
    slots_[i] = {wr, value, true};
  }

  void erase(std::uint64_t wr) {
    if (used_ == 0) return;
    std::size_t hole = home(wr);
    while (slots_[hole].used && slots_[hole].wr != wr) hole = next(hole);
    if (!slots_[hole].used) return;
    // Close the gap, so that no search ends early at it.
    for (std::size_t i = next(hole); slots_[i].used; i = next(i)) {
      const std::size_t mask = slots_.size() - 1;
      if (((i - home(slots_[i].wr)) & mask) >= ((i - hole) & mask)) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole].used = false;
    --used_;
  }

  template <class Condition>
  void erase_if(Condition condition) {
    std::vector<std::uint64_t> doomed;
    for (const Slot& s : slots_)
      if (s.used && condition(s.value)) doomed.push_back(s.wr);
    for (const std::uint64_t wr : doomed) erase(wr);
  }

  std::size_t size() const { return used_; }

 private:
  struct Slot {
    std::uint64_t wr = 0;
    Value value{};
    bool used = false;
  };

  // Fibonacci hashing: numbers that rise by one, or by a power of two, spread evenly.
  std::size_t home(std::uint64_t wr) const { return static_cast<std::size_t>((wr * 0x9E3779B97F4A7C15u) >> 32) & (slots_.size() - 1); }
  std::size_t next(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    used_ = 0;
    for (const Slot& s : old)
      if (s.used) insert(s.wr, s.value);
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

class Requests {
 public:
  explicit Requests(std::uint32_t threads) : threads_(threads) {}

  /// A send queue whose completions go to `cq`. The number is given again after close().
  std::uint32_t open(NameId cq);
  /// Nothing of this queue completes any more: its QP was destroyed or reset.
  void forget(std::uint32_t queue);
  void close(std::uint32_t queue);

  /// `thread` came to the line of request `wr` (numbers rise along an actor): it posts no smaller one from now on.
  void passed(verbs::Thread thread, std::uint64_t wr) { threads_[thread].lowest = wr + 1; }
  void ended(verbs::Thread thread) { threads_[thread].ended = true; }
  void posted(std::uint64_t wr, std::uint32_t queue);
  /// A send queue completes in order, so all that was posted before `wr` there has completed too, silently or not.
  void taken(std::uint64_t wr);
  /// Whether request `wr` may still complete on `cq`, as thread `asker` sees it: posted and not yet taken, or possibly still to be
  /// posted by another thread.
  bool may_complete(std::uint64_t wr, NameId cq, verbs::Thread asker);

  void set_aside(NameId cq, const verbs::Completion& c) { aside_.insert(c.wr, {c, cq}); }
  std::optional<verbs::Completion> take_aside(NameId cq, std::uint64_t wr);
  void drop_aside(NameId cq) {
    aside_.erase_if([cq](const Aside& a) { return a.cq == cq; });
  }

  std::size_t outstanding() const { return posted_.size(); }

 private:
  struct Posted {
    std::uint32_t queue = 0;
    std::uint64_t next = 0;  ///< the request posted after it on its queue, when there is one
  };
  struct Queue {
    NameId cq = 0;
    std::uint64_t oldest = 0, newest = 0;
    bool empty = true;
  };
  struct Poster {
    std::uint64_t lowest = 0;  ///< the smallest number that the thread may still post
    bool ended = false;
  };
  struct Aside {
    verbs::Completion completion;
    NameId cq = 0;
  };

  WrMap<Posted> posted_;
  WrMap<Aside> aside_;
  std::vector<Queue> queues_;
  std::vector<std::uint32_t> free_;
  std::vector<Poster> threads_;
};

}  // namespace mtsim::program
