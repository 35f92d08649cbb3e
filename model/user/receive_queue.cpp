#include "user/receive_queue.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace mtsim::user {
namespace {

constexpr std::uint32_t segment_bytes = 16;
constexpr std::uint32_t largest_queue = 32'768;  ///< max_qp_wr, max_srq_wr
constexpr std::uint32_t most_sges = 32;          ///< max_sge: a receive has 512 bytes at most (max_rq_desc_sz)

}  // namespace

std::optional<ReceiveCapacity> ReceiveCapacity::grant(std::uint32_t requests, std::uint32_t sges, bool shared,
                                                      const verbs::Rules::Posting& posting) {
  if (requests > largest_queue || sges > most_sges || (shared && requests == 0)) return std::nullopt;
  ReceiveCapacity granted;
  // A shared queue keeps one element free.
  const std::uint32_t spare = shared || posting.power_of_two_less_one ? 1 : 0;
  granted.requests = requests == 0 ? 0 : std::bit_ceil(requests + spare) - spare;
  granted.sges = sges;
  const std::uint32_t bytes = segment_bytes * sges + (shared ? segment_bytes : 0);
  granted.stride = Bytes(std::bit_ceil(std::max(bytes, shared ? 2 * segment_bytes : segment_bytes)));
  return granted;
}

ReceiveQueue::ReceiveQueue(Pa base, const ReceiveCapacity& capacity, bool shared, std::shared_ptr<const verbs::Rules> rules)
    : ring_(std::make_shared<ports::ReceiveRing>(base, base + Bytes(round_up(capacity.stride.raw * capacity.requests, page_bytes.raw)),
                                                 capacity.requests, capacity.sges, capacity.stride)),
      capacity_(capacity),
      shared_(shared),
      rules_(std::move(rules)),
      free_(capacity.requests) {
  reset();
}

void ReceiveQueue::reset() {
  std::iota(free_.begin(), free_.end(), 0u);
  used_ = 0;
  freed_ = free_.size();
}

int ReceiveQueue::check(const verbs::RecvRequest& request) const {
  const verbs::ReceiveQueueView view{shared_, most_sges_ >= 0, static_cast<std::uint32_t>(freed_ - used_), capacity_.sges};
  return verbs::check_post_recv(view, request, *rules_).error;
}

ReceiveQueue::Posted ReceiveQueue::post(std::span<const verbs::RecvRequest> requests) {
  Posted posted;
  for (const verbs::RecvRequest& request : requests) {
    if (freed_ == used_ || static_cast<std::int64_t>(request.sges.size()) > most_sges_) [[unlikely]] {
      posted.error = check(request);
      if (posted.error != 0) break;
    }
    write(request);
    ++posted.accepted;
  }
  return posted;
}

void ReceiveQueue::write(const verbs::RecvRequest& request) {
  const std::uint32_t slot = free_[used_++ % free_.size()];
  ports::Wqe& wqe = ring_->open(slot);
  const std::span<verbs::Sge> storage = request.sges.size() <= 1 ? std::span(&wqe.sge, 1) : ring_->storage(slot);
  wqe.wr = request.wr;
  wqe.opcode = verbs::Opcode::recv;
  wqe.flags = verbs::Send::signaled;  // a receive always completes with a CQE
  wqe.sges = storage.data();
  // An element without bytes is left out: the device takes a length of 0 for 2^31.
  for (const verbs::Sge& sge : request.sges) {
    if (sge.length == 0) continue;
    storage[wqe.sge_count++] = sge;
    wqe.length += sge.length;
  }
  ring_->line_up(slot);
}

Time post_time(const ProviderParams& params, std::span<const verbs::RecvRequest> requests) {
  Time sum = params.post;
  for (const verbs::RecvRequest& request : requests) sum += params.wqe + params.sge * static_cast<std::int64_t>(request.sges.size());
  return sum;
}

}  // namespace mtsim::user
