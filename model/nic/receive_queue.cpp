#include "nic/receive_queue.h"

#include <algorithm>
#include <utility>

namespace mtsim::nic {

std::uint32_t ReceiveQueue::pop() {
  const std::uint32_t slot = ring_->slot(taken_++);
  if (!fetching_ && fetched_ - taken_ < prefetch_ / 2) scheduler_.spawn(fetch());
  return slot;
}

void ReceiveQueue::enter(Wait& wait) {
  (first_ ? last_->next_ : first_) = &wait;
  last_ = &wait;
  if (!fetching_) scheduler_.spawn(fetch());
}

// The NIC learns from the doorbell record in host memory what has been posted; it reads it when it knows of no more. Receives that stand
// together in the ring come in one read.
engine::Flow ReceiveQueue::fetch() {
  fetching_ = true;
  const std::uint32_t life = life_;
  if (known_ == fetched_) {
    co_await ports::DmaRead(dma_, ring_->record(), Bytes(8), ports::Agent::control, order_);
    if (life == life_) known_ = ring_->producer();
  }
  if (const std::uint32_t most = std::min(known_ - fetched_, prefetch_ - (fetched_ - taken_)); life == life_ && most != 0) {
    const std::uint32_t slot = ring_->slot(fetched_);
    std::uint32_t count = 1;
    while (count < most && ring_->slot(fetched_ + count) == slot + count) ++count;
    ++fetches_;
    co_await ports::DmaRead(dma_, ring_->address(slot), ring_->stride() * count, ports::Agent::control, order_);
    if (life == life_) fetched_ += count;
  }
  fetching_ = false;
  // Each takes its receive before the next is resumed; those who find none get to know that there is none.
  for (Wait* wait = std::exchange(first_, nullptr); wait != nullptr;) {
    Wait* next = wait->next_;
    wait->waiter_.resume();
    wait = next;
  }
}

std::uint32_t ReceiveQueue::pop_posted() {
  const std::uint32_t slot = ring_->slot(taken_++);
  fetched_ = known_ = taken_;
  ++life_;
  return slot;
}

void ReceiveQueue::reset() {
  if (ring_ == nullptr) return;
  taken_ = fetched_ = known_ = ring_->producer();
  ++life_;
}

}  // namespace mtsim::nic
