// A completion queue: a ring in host memory that the NIC fills and threads poll.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "ports/cpu.h"
#include "ports/queues.h"
#include "user/work_queue.h"
#include "verbs/rules.h"

namespace mtsim::user {

class CompletionPath;

class CompletionQueue {
 public:
  static constexpr Bytes entry_bytes{64};
  /// mlx5 rounds up to a power of two, with one entry more than was asked for (rdma-core providers/mlx5/verbs.c, create_cq). rxe does so,
  /// too, and leaves one entry free, which tells a full queue from an empty one (Linux sw/rxe: rxe_queue_init).
  static std::uint32_t granted_depth(std::uint32_t asked, const verbs::Rules::Posting& posting);
  static Bytes ring_bytes(std::uint32_t depth) { return entry_bytes * std::bit_ceil(depth); }

  CompletionQueue(Pa base, std::uint32_t depth, ports::Cpus& cpus)
      : base_(base), cpus_(cpus), depth_(depth), entries_(std::bit_ceil(depth)) {}

  bool empty() const { return head_ == tail_; }
  std::uint32_t size() const { return head_ - tail_; }
  std::uint32_t depth() const { return depth_; }
  /// Takes the oldest; its queue gets its room back.
  verbs::Completion take();
  /// The thread spins (ports::Cpus::spin) until something arrives.
  void wait(verbs::Thread thread) { waiting_.push_back(thread); }
  /// Takes out what came from a queue of a QP that is destroyed or reset; its room is given back.
  void forget(const CompletionPath& from);

  Pa next_slot();
  /// Beside those that have come and those on their way to it.
  bool has_room() const { return size() + (slot_ - landed_) < depth(); }
  /// One that was on its way comes to nothing.
  void lapse() { ++landed_; }
  /// A completion that finds no room is lost, as when a CQ overruns in life.
  void arrive(const verbs::Completion& completion, std::uint32_t place, const CompletionPath& from);
  std::uint64_t overruns() const { return overruns_; }

 private:
  struct Entry {
    verbs::Completion completion;
    std::uint32_t place = 0;
    const CompletionPath* from = nullptr;  ///< lives until it is closed and forgotten
  };
  Entry& entry(std::uint32_t index) { return entries_[place(index)]; }
  std::uint32_t place(std::uint32_t index) const { return index & static_cast<std::uint32_t>(entries_.size() - 1); }

  Pa base_;
  ports::Cpus& cpus_;
  std::uint32_t depth_;
  std::vector<Entry> entries_;
  std::uint32_t slot_ = 0;             ///< where the device writes next; indices run on
  std::uint32_t landed_ = 0;           ///< of those that it has begun to write, the ones that are no longer on their way
  std::uint32_t head_ = 0, tail_ = 0;  ///< arrived, taken
  std::vector<verbs::Thread> waiting_, noticed_;
  std::uint64_t overruns_ = 0;
};

/// The way of one QP's send or receive queue into a CQ, as the NIC holds it: it outlives the QP if CQEs are still in flight.
class CompletionPath : public ports::CompletionQueue {
 public:
  CompletionPath(std::shared_ptr<user::CompletionQueue> cq, std::shared_ptr<WorkQueue> from) : cq_(std::move(cq)), from_(std::move(from)) {}
  Pa next_slot() override { return cq_->next_slot(); }
  bool has_room() const override { return closed_ || cq_->has_room(); }
  void arrive(const verbs::Completion& completion, std::uint32_t place) override {
    if (!closed_) return cq_->arrive(completion, place, *this);
    cq_->lapse();
    from_->completed(place);
  }
  void lapse() override { cq_->lapse(); }
  WorkQueue& from() const { return *from_; }
  /// The QP is destroyed: completions of it mean nothing any more.
  void close() {
    closed_ = true;
    cq_->forget(*this);
  }
  void forget() { cq_->forget(*this); }

 private:
  std::shared_ptr<user::CompletionQueue> cq_;
  std::shared_ptr<WorkQueue> from_;
  bool closed_ = false;
};

}  // namespace mtsim::user
