// The provider library's side of a send queue: capacities as the library grants them, the checks of ibv_post_send, and the ring.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/units.h"
#include "ports/queues.h"
#include "user/provider_params.h"
#include "user/work_queue.h"
#include "verbs/device.h"
#include "verbs/posting.h"

namespace mtsim::user {

/// What a send queue is granted. mlx5 (rdma-core providers/mlx5/verbs.c, mlx5_calc_sq_size): the ring is a power of two of bytes, and what
/// its rounding leaves over is granted too. rxe: as its rule set says; the room of its requests here is that of mlx5's.
struct SendCapacity {
  std::uint32_t requests = 0;      ///< at least what was asked for
  std::uint32_t sges = 0;          ///< mlx5: exactly what was asked for
  std::uint32_t inline_bytes = 0;  ///< at least what was asked for
  std::uint32_t blocks = 1;        ///< 64-byte units of the largest request
  Bytes ring_bytes() const { return Bytes(std::uint64_t(requests) * blocks * 64); }

  /// Nothing when the device has no queue of that size (EINVAL).
  static std::optional<SendCapacity> grant(std::uint32_t requests, std::uint32_t sges, std::uint32_t inline_bytes,
                                           const verbs::Rules::Posting& posting = {});
};

class SendQueue final : public WorkQueue {
 public:
  SendQueue(Pa base, const SendCapacity& capacity, bool signal_all, verbs::QpType type = verbs::QpType::rc,
            std::shared_ptr<const verbs::Rules> rules = verbs::the_ib_rules());

  const std::shared_ptr<ports::SendRing>& ring() const { return ring_; }
  std::uint32_t producer() const { return head_; }
  /// Whether the device has not been told of all that lies in the ring: what was refused for the QP's state stays there.
  bool keeps_refused() const { return keeps_refused_; }
  void told() { keeps_refused_ = false; }

  /// Whether the library knows the QP to be in RTS or beyond: it looks at what was set, not at what the device came to.
  void set_ready(bool ready) { most_sges_ = ready ? static_cast<std::int64_t>(capacity_.sges) : -1; }

  struct Posted {
    int error = 0;  ///< of the first request that was refused
    std::uint32_t accepted = 0;
  };
  /// Writes requests into the ring until one is refused, as the rules say (verbs/posting.h).
  /// `waited`: for a CPU, between `begin` and `now`.
  Posted post(std::span<const verbs::SendRequest> requests, Time begin, Time now, Time waited);
  /// 64-byte units that the newest request takes.
  std::uint32_t last_blocks() const { return ring_->at(head_ - 1).basic_blocks; }

  /// The request and all before it have left the ring.
  void completed(std::uint32_t index) override {
    if (index - tail_ < head_ - tail_) tail_ = index + 1;
  }
  /// The QP was reset: the ring is empty and starts from index 0.
  void reset() {
    head_ = tail_ = 0;
    keeps_refused_ = false;
  }

 private:
  /// Nothing but room, state, elements and inline bytes has to be looked at, and they are in order.
  bool plain(const verbs::SendRequest& request) const;
  [[gnu::noinline]] verbs::Refused check(const verbs::SendRequest& request) const;
  void write(const verbs::SendRequest& request, Time begin, Time now);

  std::shared_ptr<ports::SendRing> ring_;
  SendCapacity capacity_;
  bool signal_all_;
  verbs::QpType type_;
  verbs::PlainOpcodes plain_;
  std::int64_t most_sges_ = -1;        ///< as mlx5's qp_state_max_gs: -1 as long as the QP is not ready
  std::uint32_t head_ = 0, tail_ = 0;  ///< indices run on
  bool keeps_refused_ = false;
  std::shared_ptr<const verbs::Rules> rules_;
};

/// CPU time of one call of ibv_post_send.
Time post_time(const ProviderParams& params, std::span<const verbs::SendRequest> requests);

}  // namespace mtsim::user
