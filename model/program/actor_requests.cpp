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

void Requests::forget(std::uint32_t queue) {
  Queue& q = queues_[queue];
  if (!q.empty) taken(q.newest);
}

void Requests::close(std::uint32_t queue) {
  forget(queue);
  free_.push_back(queue);
}

void Requests::posted(std::uint64_t wr, std::uint32_t queue) {
  assert(!posted_.find(wr) && "request numbers are unique within a host");
  Queue& q = queues_[queue];
  if (q.empty) q.oldest = wr;
  else posted_.find(q.newest)->next = wr;
  q.newest = wr;
  q.empty = false;
  posted_.insert(wr, {queue, 0});
}

void Requests::taken(std::uint64_t wr) {
  const Posted* const found = posted_.find(wr);
  if (!found) return;
  Queue& q = queues_[found->queue];
  for (;;) {
    const std::uint64_t oldest = q.oldest;
    q.oldest = posted_.find(oldest)->next;
    q.empty = oldest == q.newest;
    posted_.erase(oldest);
    if (oldest == wr) return;
  }
}

bool Requests::may_complete(std::uint64_t wr, NameId cq, verbs::Thread asker) {
  if (const Posted* const found = posted_.find(wr)) return queues_[found->queue].cq == cq;
  for (verbs::Thread t = 0; t < threads_.size(); ++t)
    if (t != asker && !threads_[t].ended && threads_[t].lowest <= wr) return true;
  return false;
}

std::optional<verbs::Completion> Requests::take_aside(NameId cq, std::uint64_t wr) {
  const Aside* const found = aside_.find(wr);
  if (!found || found->cq != cq) return std::nullopt;
  const verbs::Completion c = found->completion;
  aside_.erase(wr);
  return c;
}

}  // namespace mtsim::program
