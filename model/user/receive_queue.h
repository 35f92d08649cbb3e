// The provider library's side of a receive queue, of one QP or shared: capacities as the library grants them, the checks of ibv_post_recv
// and ibv_post_srq_recv, and the slots of the ring.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/units.h"
#include "ports/queues.h"
#include "user/provider_params.h"
#include "user/work_queue.h"
#include "verbs/device.h"
#include "verbs/posting.h"

namespace mtsim::user {

/// What mlx5 grants (rdma-core providers/mlx5/verbs.c, mlx5_calc_rq_size and mlx5_create_srq): a power of two of requests, each in a power
/// of two of bytes. Others: as many requests as their rule set says.
struct ReceiveCapacity {
  std::uint32_t requests = 0;
  std::uint32_t sges = 0;  ///< exactly what was asked for
  Bytes stride{16};
  /// With a page of its own for the doorbell record behind it.
  Bytes ring_bytes() const { return Bytes(round_up(stride.raw * requests, page_bytes.raw) + page_bytes.raw); }

  /// Nothing when the device has no queue of that size (EINVAL). A shared queue's elements begin with a link of 16 bytes.
  static std::optional<ReceiveCapacity> grant(std::uint32_t requests, std::uint32_t sges, bool shared,
                                              const verbs::Rules::Posting& posting = {});
};

class ReceiveQueue final : public WorkQueue {
 public:
  ReceiveQueue(Pa base, const ReceiveCapacity& capacity, bool shared = false,
               std::shared_ptr<const verbs::Rules> rules = verbs::the_ib_rules());

  const std::shared_ptr<ports::ReceiveRing>& ring() const { return ring_; }

  /// As ibv_post_recv sees the state: a QP in RESET takes no receives, a shared queue always does.
  void set_ready(bool ready) { most_sges_ = ready ? static_cast<std::int64_t>(capacity_.sges) : -1; }

  struct Posted {
    int error = 0;  ///< of the first receive that was refused
    std::uint32_t accepted = 0;
  };
  /// Writes receives into the ring until one is refused, as the rules say (verbs/posting.h).
  Posted post(std::span<const verbs::RecvRequest> requests);

  void completed(std::uint32_t slot) override { free_[freed_++ % free_.size()] = slot; }
  /// The QP was reset: all slots are free.
  void reset();

 private:
  [[gnu::noinline]] int check(const verbs::RecvRequest& request) const;
  void write(const verbs::RecvRequest& request);

  std::shared_ptr<ports::ReceiveRing> ring_;
  ReceiveCapacity capacity_;
  bool shared_;
  std::int64_t most_sges_ = -1;  ///< -1 as long as the QP is not ready
  std::shared_ptr<const verbs::Rules> rules_;
  std::vector<std::uint32_t> free_;     ///< slots, as a ring: those that were freed first are used first
  std::uint64_t freed_ = 0, used_ = 0;  ///< counts run on; the difference is free
};

/// CPU time of one call of ibv_post_recv or ibv_post_srq_recv.
Time post_time(const ProviderParams& params, std::span<const verbs::RecvRequest> requests);

}  // namespace mtsim::user
