// The work requests of one host that may still complete, and the completions set aside for a later `poll wr=`. It tells a poll that
// waits for something still to come from one that would wait for ever.
//
// Requests of a send queue, and of a receive queue of a QP's own, complete in the order in which they were posted; a poll by `wr=` waits
// for that very one. Receives of a shared queue do not: the message that comes next takes the receive posted next, whoever sent it, and
// of two messages under way the later may be whole first. Another timing gives another order, so to wait for the very receive could be
// to wait for ever. What no timing changes is how many messages come to each CQ before the program goes on. Hence the rule:
//
//   A poll by `wr=` of a receive of a shared queue takes one completion of a receive of that queue from its CQ, whichever comes; its own
//   if that was set aside, else the first of those set aside, else the next to come. Its `expect=` judges the completion that it took.
//
// The j-th such poll on a CQ thus waits for j messages in all, beside those that polls by `n=` took. A trace that was recorded had them
// there; if each very receive comes in turn, as in the recording, the rule says the same as for other requests. A receive may be polled
// by its number once, also when another poll has taken its completion. The numbers of those whose completion a poll by `n=` took are
// forgotten after a while (SharedQueue::keep_name), so that memory does not grow with the length of a trace.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "program/actor_shared.h"
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
    for (Slot& s : slots_)
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
  /// The number of no queue.
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  explicit Requests(std::uint32_t threads) : threads_(threads) {}

  /// A send queue, or a QP's own receive queue, whose completions go to `cq`. The number is given again after close().
  std::uint32_t open(NameId cq);
  /// A shared receive queue.
  std::uint32_t open_shared(std::uint32_t depth);
  /// What stands for the receive queue of a QP that takes its receives from `shared` and completes them on `cq`; nothing is posted to it.
  std::uint32_t open_use(std::uint32_t shared, NameId cq);
  /// Nothing of this queue completes any more: its QP was destroyed or reset.
  void forget(std::uint32_t queue);
  void close(std::uint32_t queue);

  /// `thread` came to the line of request `wr` (numbers rise along an actor): it posts no smaller one from now on.
  void passed(verbs::Thread thread, std::uint64_t wr) { threads_[thread].lowest = wr + 1; }
  void ended(verbs::Thread thread) { threads_[thread].ended = true; }
  void posted(std::uint64_t wr, std::uint32_t queue);
  /// A receive of a shared queue was refused, if it was said to be posted.
  void withdrawn(std::uint64_t wr);
  /// A queue completes in order, so all that was posted before `wr` there has completed too, silently or not. For a receive of a shared
  /// queue gives that queue: then exactly one of claim(), consumed() and set_aside() must follow with what it says of the completion.
  std::uint32_t taken(std::uint64_t wr);
  /// Whether request `wr` may still complete on `cq`, as thread `asker` sees it: posted and not yet taken, or possibly still to be
  /// posted by another thread.
  bool may_complete(std::uint64_t wr, NameId cq, verbs::Thread asker);

  /// Whether the poll of request `wr` takes the completion of `by`, a receive of `shared`; then `wr` has been polled.
  bool claim(std::uint64_t wr, std::uint32_t shared, std::uint64_t by);
  /// A poll by number took the completion of `wr`, a receive of `shared`.
  void consumed(std::uint64_t wr, std::uint32_t shared);

  /// `shared`: what taken() gave.
  void set_aside(NameId cq, const verbs::Completion& c, std::uint32_t shared = none);
  std::optional<verbs::Completion> take_aside(NameId cq, std::uint64_t wr);
  void drop_aside(NameId cq);

  std::size_t outstanding() const { return posted_.size(); }

 private:
  struct Posted {
    std::uint32_t queue = 0;
    // Of a shared queue only; the entry goes when both are over.
    bool coming = false;     ///< its completion has not been taken
    bool named = false;      ///< it has not been polled by its number
    std::uint64_t next = 0;  ///< the request posted after it on its queue, when there is one
  };
  struct Queue {
    NameId cq = 0;
    bool empty = true;
    bool shared = false;        ///< itself a shared queue
    std::uint32_t pool = none;  ///< of a shared queue and of its uses: index into pools_
    std::uint64_t oldest = 0, newest = 0;
  };
  struct Poster {
    std::uint64_t lowest = 0;  ///< the smallest number that the thread may still post
    bool ended = false;
  };
  struct Aside {
    verbs::Completion completion;
    NameId cq = 0;
  };

  void close_shared(Queue&, std::uint32_t number);
  std::uint32_t taken_shared(Posted&);
  bool may_be_taken(const Posted&, NameId cq, verbs::Thread asker) const;
  void drop_name(Posted&, std::uint64_t wr);
  std::optional<verbs::Completion> claim_aside(NameId cq, std::uint64_t wr);

  WrMap<Posted> posted_;
  WrMap<Aside> aside_;  ///< but for those of shared queues
  std::vector<Queue> queues_;
  std::vector<std::uint32_t> free_;
  std::deque<SharedQueue> pools_;
  std::vector<std::uint32_t> free_pools_;
  std::vector<Poster> threads_;
};

}  // namespace mtsim::program
