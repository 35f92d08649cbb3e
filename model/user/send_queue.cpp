#include "user/send_queue.h"

#include <algorithm>
#include <array>
#include <bit>

#include "verbs/judge.h"

namespace mtsim::user {
namespace {

using verbs::Send;

constexpr std::uint32_t block_bytes = 64, segment_bytes = 16;
constexpr std::uint32_t inline_header_bytes = 4;
/// mlx5 sets room for binding a window aside in every request of an RC queue: control segment 16, UMR control 48, mkey context 64, list 64
/// bytes (rdma-core providers/mlx5/verbs.c, sq_overhead).
constexpr std::uint32_t overhead_bytes = 16 + 48 + 64 + 64;
constexpr std::uint32_t largest_request_bytes = 1024;  ///< max_sq_desc_sz
constexpr std::uint32_t largest_ring_blocks = 32'768;  ///< max_send_wqebb
/// What a request has before its data: control segment, remote address segment, atomic segment; of an invalidation and a bind control, UMR
/// control and mkey segments, and of a bind that opens something the list as well (set_bind_wr).
constexpr std::uint32_t list_bytes = 64;
constexpr auto header_bytes = [] {
  std::array<std::uint32_t, verbs::opcode_count> bytes{};
  for (unsigned i = 0; i < bytes.size(); ++i) {
    const auto opcode = static_cast<verbs::Opcode>(i);
    bytes[i] = verbs::is_send(opcode) ? 16 : verbs::is_atomic(opcode) ? 16 + 16 + 16 : 16 + 16;
    if (opcode == verbs::Opcode::bind_mw || opcode == verbs::Opcode::local_inv) bytes[i] = 16 + 48 + 64;
  }
  return bytes;
}();

std::uint64_t payload(const verbs::SendRequest& request) {
  std::uint64_t sum = 0;
  for (const verbs::Sge& sge : request.sges) sum += sge.length;
  return sum;
}

}  // namespace

std::optional<SendCapacity> SendCapacity::grant(std::uint32_t requests, std::uint32_t sges, std::uint32_t inline_bytes,
                                                const verbs::Rules::Posting& posting) {
  // Checked first, so that nothing below can overflow.
  if (requests > largest_ring_blocks || sges > largest_request_bytes || inline_bytes > largest_request_bytes) return std::nullopt;
  if (posting.inline_shares_elements) {
    // rxe_qp_init_req
    inline_bytes = std::max(inline_bytes, sges * segment_bytes);
    sges = inline_bytes / segment_bytes;
  }
  if (posting.power_of_two_less_one && requests != 0) requests = std::bit_ceil(requests + 1) - 1;
  const std::uint64_t with_inline = inline_bytes == 0 ? 0 : overhead_bytes + round_up(inline_header_bytes + inline_bytes, segment_bytes);
  const std::uint64_t bytes = round_up(std::max<std::uint64_t>(overhead_bytes + sges * segment_bytes, with_inline), block_bytes);
  if (bytes > largest_request_bytes) return std::nullopt;
  const std::uint64_t ring = std::bit_ceil(requests * bytes);
  if (ring / block_bytes > largest_ring_blocks) return std::nullopt;
  SendCapacity granted;
  granted.requests = static_cast<std::uint32_t>(requests == 0 ? 0 : ring / bytes);
  granted.sges = sges;
  if (posting.power_of_two_less_one) granted.requests = requests;
  granted.inline_bytes =
      posting.inline_shares_elements ? inline_bytes : static_cast<std::uint32_t>(bytes) - overhead_bytes - inline_header_bytes;
  granted.blocks = static_cast<std::uint32_t>(bytes / block_bytes);
  return granted;
}

SendQueue::SendQueue(Pa base, const SendCapacity& capacity, bool signal_all, verbs::QpType type, std::shared_ptr<const verbs::Rules> rules)
    : ring_(std::make_shared<ports::SendRing>(base, capacity.requests, capacity.sges, capacity.blocks)),
      capacity_(capacity),
      signal_all_(signal_all),
      type_(type),
      plain_(verbs::plain_opcodes(type, *rules)),
      rules_(std::move(rules)) {}

bool SendQueue::plain(const verbs::SendRequest& request) const {
  if (head_ - tail_ >= capacity_.requests || static_cast<std::int64_t>(request.sges.size()) > most_sges_) return false;
  if (!has(request.flags, Send::inline_data)) [[likely]]
    return plain_.gathered.has(request.opcode);
  return plain_.inlined.has(request.opcode) && payload(request) <= capacity_.inline_bytes;
}

verbs::Refused SendQueue::check(const verbs::SendRequest& request) const {
  const verbs::SendQueueView view{type_, most_sges_ >= 0, capacity_.requests - (head_ - tail_), capacity_.sges, capacity_.inline_bytes};
  return verbs::check_post_send(view, request, *rules_);
}

SendQueue::Posted SendQueue::post(std::span<const verbs::SendRequest> requests, Time begin, Time now, Time waited) {
  Posted posted;
  for (const verbs::SendRequest& request : requests) {
    if (!plain(request)) [[unlikely]] {
      const verbs::Refused refused = check(request);
      posted.error = refused.error;
      if (refused.check == verbs::PostCheck::state && rules_->posting.keeps_refused) {
        write(request, begin, now);
        keeps_refused_ = true;
        continue;
      }
      if (refused) break;
    }
    write(request, begin, now);
    ring_->at(head_ - 1).waits.add(ports::Step::posted, ports::Cause::cpu, waited);
    ++posted.accepted;
  }
  return posted;
}

void SendQueue::write(const verbs::SendRequest& request, Time begin, Time now) {
  ports::Wqe& wqe = ring_->open(head_);
  const std::span<verbs::Sge> storage = request.sges.size() <= 1 ? std::span(&wqe.sge, 1) : ring_->storage(head_);
  wqe.wr = request.wr;
  wqe.opcode = request.opcode;
  wqe.flags = signal_all_ ? request.flags | Send::signaled : request.flags;
  // An element without bytes is left out: the device takes a length of 0 for 2^31.
  for (const verbs::Sge& sge : request.sges) {
    if (sge.length == 0) continue;
    storage[wqe.sge_count++] = sge;
    wqe.length += sge.length;
  }
  wqe.sges = storage.data();
  const std::uint64_t data = has(request.flags, Send::inline_data) ? round_up(inline_header_bytes + wqe.length, segment_bytes)
                                                                   : std::uint64_t(wqe.sge_count) * segment_bytes;
  wqe.basic_blocks = static_cast<std::uint32_t>(ceil_div(header_bytes[unsigned(wqe.opcode)] + data, block_bytes));
  wqe.remote_address = request.remote_address;
  wqe.rkey = request.rkey;
  wqe.meant = request.meant;
  if (request.bind != nullptr) [[unlikely]] {
    ports::put_bind(wqe, *request.bind);
    if (request.bind->length.raw != 0) wqe.basic_blocks += list_bytes / block_bytes;
  }
  wqe.begin = begin;
  wqe.stamp[unsigned(ports::Step::posted)] = now;
  ++head_;
}

Time post_time(const ProviderParams& params, std::span<const verbs::SendRequest> requests) {
  Time sum = params.post + params.doorbell;
  for (const verbs::SendRequest& request : requests) {
    sum += params.wqe;
    if (has(request.flags, Send::inline_data)) sum += params.inline_byte * static_cast<std::int64_t>(payload(request));
    else sum += params.sge * static_cast<std::int64_t>(request.sges.size());
  }
  return sum;
}

}  // namespace mtsim::user
