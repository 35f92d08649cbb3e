#include "program/actor_requests.h"

#include <cassert>

namespace mtsim::program {

std::uint32_t Requests::open(NameId cq) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(queues_.size()));
    queues_.emplace_back();
  }
  const std::uint32_t queue = free_.back();
  free_.pop_back();
  queues_[queue] = {};
  queues_[queue].cq = cq;
  return queue;
}

std::uint32_t Requests::open_shared(std::uint32_t depth) {
  const std::uint32_t number = open(0);
  Queue& q = queues_[number];
  q.shared = true;
  if (free_pools_.empty()) {
    q.pool = static_cast<std::uint32_t>(pools_.size());
    pools_.emplace_back(depth);
  } else {
    q.pool = free_pools_.back();
    free_pools_.pop_back();
    pools_[q.pool] = SharedQueue(depth);
  }
  return number;
}

std::uint32_t Requests::open_use(std::uint32_t shared, NameId cq) {
  const std::uint32_t number = open(cq);
  queues_[number].pool = queues_[shared].pool;
  if (queues_[number].pool != none) pools_[queues_[number].pool].attach(cq);
  return number;
}

void Requests::forget(std::uint32_t queue) {
  Queue& q = queues_[queue];
  if (!q.empty) taken(q.newest);
}

void Requests::close(std::uint32_t queue) {
  Queue& q = queues_[queue];
  if (q.shared) {
    close_shared(q, queue);
    return;
  }
  forget(queue);
  if (q.pool != none) pools_[q.pool].detach(q.cq);
  free_.push_back(queue);
}

/// Receives of it that were set aside stay for polls of its numbers; without any, all of it goes.
void Requests::close_shared(Queue& q, std::uint32_t number) {
  const std::uint32_t index = q.pool;
  SharedQueue& pool = pools_[index];
  pool.closed = true;
  pool.coming = 0;
  posted_.erase_if([&](Posted& p) {
    if (p.queue != number) return false;
    p.coming = false;
    return !p.named || !pool.has_aside();
  });
  if (pool.has_aside()) return;
  // A device refuses to destroy a queue that QPs use; should one not, they lose it.
  for (Queue& other : queues_)
    if (other.pool == index) other.pool = none;
  free_pools_.push_back(index);
  free_.push_back(number);
}

void Requests::posted(std::uint64_t wr, std::uint32_t queue) {
  assert(!posted_.find(wr) && "request numbers are unique within a host");
  Queue& q = queues_[queue];
  if (q.shared) {
    ++pools_[q.pool].coming;
    posted_.insert(wr, {queue, true, true, 0});
    return;
  }
  if (q.empty) q.oldest = wr;
  else posted_.find(q.newest)->next = wr;
  q.newest = wr;
  q.empty = false;
  posted_.insert(wr, {queue, false, false, 0});
}

void Requests::withdrawn(std::uint64_t wr) {
  Posted* const found = posted_.find(wr);
  if (!found || taken_shared(*found) == none) return;
  posted_.erase(wr);
}

std::uint32_t Requests::taken(std::uint64_t wr) {
  Posted* const found = posted_.find(wr);
  if (!found) return none;
  Queue& q = queues_[found->queue];
  if (q.shared) return taken_shared(*found);
  for (;;) {
    const std::uint64_t oldest = q.oldest;
    q.oldest = posted_.find(oldest)->next;
    q.empty = oldest == q.newest;
    posted_.erase(oldest);
    if (oldest == wr) return none;
  }
}

std::uint32_t Requests::taken_shared(Posted& p) {
  // Not twice, nor once the queue has been destroyed.
  if (!p.coming) return none;
  p.coming = false;
  --pools_[queues_[p.queue].pool].coming;
  return p.queue;
}

bool Requests::may_complete(std::uint64_t wr, NameId cq, verbs::Thread asker) {
  if (const Posted* const found = posted_.find(wr)) {
    const Queue& q = queues_[found->queue];
    return q.shared ? may_be_taken(*found, cq, asker) : q.cq == cq;
  }
  for (verbs::Thread t = 0; t < threads_.size(); ++t)
    if (t != asker && !threads_[t].ended && threads_[t].lowest <= wr) return true;
  return false;
}

bool Requests::may_be_taken(const Posted& p, NameId cq, verbs::Thread asker) const {
  const SharedQueue& pool = pools_[queues_[p.queue].pool];
  if (!p.named || pool.closed) return false;
  if (pool.coming != 0 && pool.serves(cq)) return true;
  // Another thread may still post a receive, or make a QP that takes it.
  for (verbs::Thread t = 0; t < threads_.size(); ++t)
    if (t != asker && !threads_[t].ended) return true;
  return false;
}

bool Requests::claim(std::uint64_t wr, std::uint32_t shared, std::uint64_t by) {
  Posted* const found = posted_.find(wr);
  if (!found || found->queue != shared || !found->named) return false;
  drop_name(*found, wr);
  if (wr != by) consumed(by, shared);
  return true;
}

void Requests::consumed(std::uint64_t wr, std::uint32_t shared) {
  Posted* const found = posted_.find(wr);
  if (!found) return;
  if (!found->named) {
    posted_.erase(wr);
    return;
  }
  const auto forgotten = pools_[queues_[shared].pool].keep_name(wr);
  if (!forgotten) return;
  if (Posted* const old = posted_.find(*forgotten)) drop_name(*old, *forgotten);
}

void Requests::drop_name(Posted& p, std::uint64_t wr) {
  p.named = false;
  if (!p.coming) posted_.erase(wr);
}

void Requests::set_aside(NameId cq, const verbs::Completion& c, std::uint32_t shared) {
  if (shared == none) aside_.insert(c.wr, {c, cq});
  else pools_[queues_[shared].pool].set_aside(cq, c);
}

std::optional<verbs::Completion> Requests::take_aside(NameId cq, std::uint64_t wr) {
  const Aside* const found = aside_.find(wr);
  if (!found || found->cq != cq) return pools_.empty() ? std::nullopt : claim_aside(cq, wr);
  const verbs::Completion c = found->completion;
  aside_.erase(wr);
  return c;
}

std::optional<verbs::Completion> Requests::claim_aside(NameId cq, std::uint64_t wr) {
  const Posted* const found = posted_.find(wr);
  if (!found || !queues_[found->queue].shared || !found->named) return std::nullopt;
  const std::uint32_t shared = found->queue;
  const auto c = pools_[queues_[shared].pool].take_aside(cq, wr);
  if (c) claim(wr, shared, c->wr);
  return c;
}

void Requests::drop_aside(NameId cq) {
  aside_.erase_if([cq](const Aside& a) { return a.cq == cq; });
  for (SharedQueue& pool : pools_) pool.drop_aside(cq);
}

}  // namespace mtsim::program
