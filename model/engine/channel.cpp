#include "engine/channel.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace mtsim::engine {
namespace {

/// Whole cells in a span. Small numbers, as both nearly always are, take a fraction of the time to divide.
std::uint32_t whole(Time span, Time cell) {
  const auto n = static_cast<std::uint64_t>(span.raw), each = static_cast<std::uint64_t>(cell.raw);
  if ((n | each) >> 32 == 0) return static_cast<std::uint32_t>(n) / static_cast<std::uint32_t>(each);
  return static_cast<std::uint32_t>(n / each);
}

}  // namespace

void Channel::more_trains() {
  constexpr std::size_t slab = 64;
  slabs_.push_back(std::make_unique<Train[]>(slab));
  for (std::size_t i = 0; i < slab; ++i) recycle(slabs_.back()[i]);
}

void Channel::recycle(Train& train) {
  train.behind = spare_;
  spare_ = &train;
}

void Channel::submit(unsigned agent, const Shape& shape, Notice* notice, Time extra, bool of_first) {
  assert(agent < agents && shape.cells > 0);
  const Time now = scheduler_.now();
  if (watcher_ != nullptr) [[unlikely]]
    watcher_->submitted(agent);
  if (free_ <= now) settle(now);
  ++usage_.requests;
  extra += latency_;
  // An idle channel sends the first cell at once, whoever comes next. Where that is all that the notice waits for, nothing is left to find
  // out when its time has come. (A watcher is told of whole trains.)
  const bool alone = shape.cells == 1;
  if (active_ == 0 && free_ <= now && (alone || (of_first && notice != nullptr)) && watcher_ == nullptr) {
    const Time cell = alone ? shape.last : shape.cell;
    if (notice != nullptr) {
      notice->waited = {};
      scheduler_.arm(*notice, now + cell + extra);
    }
    free_ = now + cell;
    sent_[agent] += cell.raw;
    sender_ = agent;
    usage_.busy += cell;
    turn_ = (agent + 1) % agents;
    if (!alone) enqueue(agent, {shape.cells - 1, shape.cell, shape.last}).begun = true;
    return;
  }
  Train& train = enqueue(agent, shape);
  if (notice == nullptr) return;
  train.notice = notice;
  train.of_first = of_first && !alone;
  train.own = train.of_first ? shape.cell : shape.length();
  train.before = sent_;
  train.before[sender_] -= (free_ - now).raw;  // of a cell that is being sent, what is still to come
  train.extra = extra;
  train.order = notice->order;
  train.fire = [](Timer& t) {
    auto& self = static_cast<Train&>(t);
    self.channel->told(self);
  };
  const Time end = queues_[agent].bound;
  scheduler_.arm(train, (train.of_first ? end - shape.length() + shape.cell : end) + extra);
}

Channel::Train& Channel::enqueue(unsigned agent, const Shape& shape) {
  const Time now = scheduler_.now();
  if (spare_ == nullptr) [[unlikely]]
    more_trains();
  Train& train = *spare_;
  spare_ = train.behind;
  train.channel = this;
  train.agent = agent;
  train.left = shape.cells;
  train.of_first = train.begun = train.marked = false;
  train.cell = shape.cell;
  train.last = shape.last;
  train.since = now;
  train.notice = nullptr;
  train.behind = nullptr;

  if (free_ < now) free_ = now;  // an idle channel begins with what comes first
  Queue& queue = queues_[agent];
  queue.bound = (queue.head ? std::max(free_, queue.bound) : free_) + shape.length();
  (queue.head ? queue.tail->behind : queue.head) = &train;
  queue.tail = &train;
  active_ |= 1u << agent;
  return train;
}

/// The cells that the notice waits for end at `at`, and what stands in `sent_` went before them, but for `counted` of their own.
inline void Channel::mark(Train& train, Time at, Time counted) {
  train.mark = at;
  train.marked = true;
  if (train.notice == nullptr) return;
  Notice& notice = *train.notice;
  notice.waited = at - train.since - train.own;
  if (notice.waited.raw == 0) return;
  for (unsigned agent = 0; agent < agents; ++agent) notice.behind[agent] = sent_[agent] - train.before[agent];
  notice.behind[train.agent] -= counted.raw;
}

[[gnu::always_inline]] inline void Channel::send(Train& train, std::uint32_t cells) {
  if (!train.begun) {
    train.begun = true;
    usage_.wait(free_ - train.since);
    train.start = free_;
    if (train.of_first) mark(train, free_ + train.cell, {});
  }
  const Time span = cells == train.left ? train.rest() : Time(train.cell.raw * cells);
  free_ += span;
  sent_[train.agent] += span.raw;
  sender_ = train.agent;
  usage_.busy += span;
  train.left -= cells;
}

[[gnu::always_inline]] inline void Channel::finish(Queue& queue) {
  Train& train = *queue.head;
  queue.head = train.behind;
  if (queue.head == nullptr) active_ &= ~(1u << train.agent);
  if (!train.marked) mark(train, free_, train.own);
  if (train.notice == nullptr) recycle(train);
  // Last, so that nothing need be kept across the call. A train that was given back still says what it was.
  if (watcher_ != nullptr) [[unlikely]]
    watcher_->sent(train.agent, train.start, free_);
}

// Decisions that fall before or at `until`: at each the next agent in turn sends one cell; alone, an agent sends on without decisions.
// Those who ask look first whether there is any: mostly there is none.
void Channel::settle(Time until) {
  while (active_ != 0 && free_ <= until) {
    if ((active_ & (active_ - 1)) == 0) {
      Queue& queue = queues_[std::countr_zero(active_)];
      Train& train = *queue.head;
      std::uint32_t fit = train.left;
      // The division only where the train is not over by then.
      if (free_ + train.rest() > until + train.last) fit = whole(until - free_, std::max(train.cell, ps(1))) + 1;
      send(train, std::min(train.left, fit));
      turn_ = (train.agent + 1) % agents;
      if (train.left == 0) finish(queue);
    } else {
      while ((active_ >> turn_ & 1) == 0) turn_ = (turn_ + 1) % agents;
      Queue& queue = queues_[turn_];
      turn_ = (turn_ + 1) % agents;
      send(*queue.head, 1);
      if (queue.head->left == 0) finish(queue);
    }
  }
}

// What stands before it in its own queue must go first; others can only delay it further.
Time Channel::earliest_mark(const Train& train) const {
  Time at = free_;
  for (const Train* t = queues_[train.agent].head; t != &train; t = t->behind) at += t->rest();
  return at + (train.of_first ? train.cell : train.rest());
}

void Channel::told(Train& train) {
  const Time now = scheduler_.now();
  if (free_ <= now - train.extra) settle(now - train.extra);
  const Time due = (train.marked ? train.mark : earliest_mark(train)) + train.extra;
  if (due > now) return scheduler_.arm(train, due);
  Notice& notice = *train.notice;
  if (train.left == 0) recycle(train);
  else train.notice = nullptr;  // told of its first cell; recycled when the last has gone
  notice.arrived(notice);
}

Time Channel::backlog(unsigned agent) {
  if (free_ <= scheduler_.now()) settle(scheduler_.now());
  Time left;
  for (const Train* train = queues_[agent].head; train != nullptr; train = train->behind) left += train->rest();
  return left;
}

const Usage& Channel::usage() {
  settle(scheduler_.now());
  return usage_;
}

}  // namespace mtsim::engine
