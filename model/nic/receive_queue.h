// The NIC's side of a receive queue, of one QP or shared: receives that it has fetched ahead, and messages that wait for one.
#pragma once

#include <coroutine>
#include <memory>

#include "engine/flow.h"
#include "engine/scheduler.h"
#include "ports/dma.h"
#include "ports/queues.h"

namespace mtsim::nic {

class ReceiveQueue {
 public:
  /// `ring` may be null: then there never is a receive. `prefetch` receives are held ahead at most.
  ReceiveQueue(engine::Scheduler& scheduler, ports::Dma& dma, std::shared_ptr<ports::ReceiveRing> ring, std::uint32_t prefetch,
               engine::Order order)
      : scheduler_(scheduler), dma_(dma), ring_(std::move(ring)), prefetch_(prefetch), order_(order) {}

  const std::shared_ptr<ports::ReceiveRing>& ring() const { return ring_; }
  bool has() const { return taken_ != fetched_; }
  /// The slot of the oldest receive, which must be there. Fetches more when few are left.
  std::uint32_t pop();

  /// `co_await queue.wait()`: when there is none in the NIC, looks into host memory. Whoever goes on asks has() again: if it still says
  /// no, nothing was posted.
  class Wait {
   public:
    explicit Wait(ReceiveQueue& queue) : queue_(queue) {}
    bool await_ready() const { return queue_.has() || queue_.ring_ == nullptr; }
    void await_suspend(std::coroutine_handle<> waiter) {
      waiter_ = waiter;
      queue_.enter(*this);
    }
    void await_resume() const {}

   private:
    friend class ReceiveQueue;
    ReceiveQueue& queue_;
    std::coroutine_handle<> waiter_;
    Wait* next_ = nullptr;
  };
  Wait wait() { return Wait(*this); }

  /// Slots of all that is posted and not taken, fetched or not, one at a time: for a QP that flushes its queue.
  bool any_posted() const { return ring_ != nullptr && taken_ != ring_->producer(); }
  std::uint32_t pop_posted();
  /// Forgets all that is posted.
  void reset();

  std::uint64_t fetches() const { return fetches_; }

 private:
  void enter(Wait& wait);
  engine::Flow fetch();

  engine::Scheduler& scheduler_;
  ports::Dma& dma_;
  std::shared_ptr<ports::ReceiveRing> ring_;
  std::uint32_t prefetch_;
  engine::Order order_;
  // Positions in the ring: taken <= fetched <= known <= producer.
  std::uint32_t taken_ = 0, fetched_ = 0, known_ = 0;
  std::uint32_t life_ = 0;  ///< counts flushes and resets: what is being fetched then is void
  bool fetching_ = false;
  Wait* first_ = nullptr;
  Wait* last_ = nullptr;
  std::uint64_t fetches_ = 0;
};

}  // namespace mtsim::nic
