#include "verbs/posting.h"

#include "verbs/judge.h"

namespace mtsim::verbs {
namespace {

constexpr std::uint64_t longest_sum = 1ull << 31, longest_window = 1ull << 31, word = 8;
constexpr OpcodeSet data(Opcode::send, Opcode::send_imm, Opcode::send_inv, Opcode::write, Opcode::write_imm);
constexpr OpcodeSet atomics(Opcode::cas, Opcode::faa);

std::uint64_t sum(const SendRequest& request) {
  std::uint64_t bytes = 0;
  for (const Sge& sge : request.sges) bytes += sge.length;
  return bytes;
}

/// Of a bind or an atomic, and what is inline: everything but room, state and elements.
Refused check_operation(const SendQueueView& queue, const SendRequest& request, const Rules& rules) {
  const Rules::Posting& posting = rules.posting;
  const auto refuse = [](int error, PostCheck check) { return error == 0 ? Refused() : Refused{error, check}; };
  Refused found;
  if (!rules.opcodes[unsigned(queue.type)].has(request.opcode)) found = refuse(posting.wrong_opcode, PostCheck::type);
  const std::uint64_t bytes = sum(request);
  if (!found && bytes > longest_sum) found = refuse(posting.length_sum, PostCheck::length_sum);
  if (!found && is_atomic(request.opcode)) {
    if (bytes < word) found = refuse(posting.atomic_length, PostCheck::atomic_length);
    if (!found && request.remote_address % word != 0) found = refuse(posting.atomic_alignment, PostCheck::atomic_alignment);
  }
  if (!found && request.opcode == Opcode::bind_mw) {
    if (!request.sges.empty() || queue.type == QpType::ud) found = refuse(posting.bind_elements, PostCheck::bind_form);
    if (!found && request.bind->length.raw > longest_window) found = refuse(posting.bind_length, PostCheck::bind_length);
  }
  if (!found && has(request.flags, Send::inline_data)) {
    if (!data.has(request.opcode)) found = refuse(posting.inline_not_data, PostCheck::inline_not_data);
    if (!found && bytes > queue.inlined) found = refuse(posting.inline_bytes, PostCheck::inline_bytes);
  }
  return found;
}

}  // namespace

/// mlx5 (rdma-core providers/mlx5/qp.c, _mlx5_post_send) looks for a place first; rxe (providers/rxe/rxe.c, post_one_send) when all else is
/// in order, and its kernel looks at the state last of all (sw/rxe/rxe_verbs.c, rxe_post_send).
Refused check_post_send(const SendQueueView& queue, const SendRequest& request, const Rules& rules) {
  const Rules::Posting& posting = rules.posting;
  if (posting.lacks.has(request.opcode)) return {posting.no_opcode, PostCheck::opcode};
  const Refused full = queue.free == 0 ? Refused{posting.queue_full, PostCheck::room} : Refused();
  const Refused early = queue.ready ? Refused() : Refused{posting.send_below_rts, PostCheck::state};
  if (!posting.room_last && full) return full;
  if (!posting.room_last && early) return early;
  if (request.sges.size() > queue.sges) return {posting.send_elements, PostCheck::elements};
  if (const Refused refused = check_operation(queue, request, rules)) return refused;
  return full ? full : early;
}

/// mlx5_post_recv, and mlx5_post_srq_recv, which looks at the elements first (providers/mlx5/srq.c).
Refused check_post_recv(const ReceiveQueueView& queue, const RecvRequest& request, const Rules& rules) {
  const Rules::Posting& posting = rules.posting;
  const Refused full = queue.free == 0 ? Refused{posting.queue_full, PostCheck::room} : Refused();
  if (!queue.shared && full) return full;
  if (!queue.ready) return {posting.receive_in_reset, PostCheck::state};
  if (request.sges.size() > queue.sges) return {posting.receive_elements, PostCheck::elements};
  return full;
}

/// ibv_bind_mw of libibverbs, then mlx5_bind_mw and rxe_bind_mw.
Refused check_bind_mw(const BindMwRequest& request, const WindowView& window, const RegionView* region, const Rules& rules) {
  const Refused form{rules.posting.bind_form, PostCheck::bind_form};
  if (window.type != 1) return form;
  if (region == nullptr && (request.address.raw != 0 || request.length.raw != 0)) return form;
  if (has(request.access, Access::zero_based)) return form;
  if (region == nullptr) return {};
  if (has(region->access, Access::zero_based)) return form;
  if (region->pd != window.pd) return {rules.posting.bind_pd, PostCheck::bind_pd};
  return {};
}

PlainOpcodes plain_opcodes(QpType type, const Rules& rules) {
  const Rules::Posting& posting = rules.posting;
  // Where sums are looked at, they are of every request.
  if (posting.length_sum != 0) return {};
  OpcodeSet plain = OpcodeSet::all() - posting.lacks - OpcodeSet(Opcode::bind_mw);
  if (posting.wrong_opcode != 0) plain = plain & rules.opcodes[unsigned(type)];
  if (posting.atomic_length != 0 || posting.atomic_alignment != 0) plain = plain - atomics;
  return {plain, posting.inline_not_data != 0 ? plain & data : plain};
}

const char* explain(PostCheck check) {
  switch (check) {
    case PostCheck::none:
      return "none";
    case PostCheck::opcode:
      return "the provider does not have the opcode";
    case PostCheck::room:
      return "the queue is full";
    case PostCheck::state:
      return "the QP is in a state that takes no such request";
    case PostCheck::elements:
      return "more elements than the queue was made for";
    case PostCheck::type:
      return "the type of the QP does not have the opcode";
    case PostCheck::length_sum:
      return "elements of more than 2^31 bytes together";
    case PostCheck::atomic_length:
      return "an atomic with less than 8 bytes for its answer";
    case PostCheck::atomic_alignment:
      return "an atomic at an address that is no multiple of 8";
    case PostCheck::inline_not_data:
      return "inline with a request that sends no data";
    case PostCheck::inline_bytes:
      return "more inline data than the queue was made for";
    case PostCheck::bind_form:
      return "a bind that cannot be asked for in this way";
    case PostCheck::bind_pd:
      return "memory window and memory region of different protection domains";
    case PostCheck::bind_length:
      return "a memory window of more than 2^31 bytes";
  }
  return "";
}

}  // namespace mtsim::verbs
