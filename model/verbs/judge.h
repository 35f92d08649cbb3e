// The protection rules: pure functions, the only home of rights. The order of checks is observable and is part of the rule.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "verbs/types.h"

namespace mtsim::verbs {

/// What a key stands for. A `fast_region` is an MR for REG_MR requests (alloc_mr), which kernel users have.
enum class KeyKind : std::uint8_t { region, window_1, window_2, fast_region };

/// What a key gives: the protection half of an mkey context.
struct Grant {
  Key key;
  std::uint32_t pd = 0;
  Access access = Access::none;
  Iova start;
  Bytes length;
  bool valid = false;
  /// The rkey is the key with these bits of its variant turned over; 0: lkey and rkey are the same.
  std::uint8_t remote_bits = 0;
  KeyKind kind = KeyKind::region;
  // Of a window that is bound.
  std::uint32_t qpn = 0;        ///< type 2: the only QP that may use it
  Key region{};                 ///< lkey of the MR that it opens
  std::uint32_t region_pd = 0;  ///< of that MR
  std::uint64_t shift = 0;      ///< what its addresses lack towards those of the MR, modulo 2^64
  /// Tells this registration from others that had the same key; 0: nobody asks.
  std::uint32_t identity = 0;
};

/// Whether the key is a window's.
constexpr bool is_window(const Grant& grant) { return grant.kind == KeyKind::window_1 || grant.kind == KeyKind::window_2; }

/// Whether an access changes memory.
constexpr bool writes(Access access) {
  return (access & (Access::local_write | Access::remote_write | Access::remote_atomic)) != Access::none;
}

/// What an operation wants to do with a key.
struct Wish {
  Key key;
  std::uint32_t pd = 0;          ///< of the QP
  Access access = Access::none;  ///< none for a local read (gather)
  Iova address;
  Bytes length;           ///< of the whole access: a message is judged by its whole length on its first packet
  bool remote = false;    ///< the key came with a packet, as an rkey
  std::uint32_t qpn = 0;  ///< of the QP; looked at by windows of type 2
};

/// Which check refused, in the order in which they are made; `granted` if none did.
enum class Verdict : std::uint8_t { granted, no_such_key, wrong_variant, not_valid, other_pd, other_qp, no_access, out_of_range };
const char* explain(Verdict verdict);
enum class Nak : std::uint8_t { none, sequence, receiver_not_ready, invalid_request, remote_access, remote_operational };
const char* explain(Nak nak);

/// Index known, variant equal, MR or window valid, PD equal, access granted, range inside (without overflow). A window has no lkey, and one
/// of type 2 serves the QP that bound it alone. What a window grants must be judged for its MR as well: through_window().
/// `grant` is null when no mkey has the key's index.
constexpr Verdict judge(const Grant* grant, const Wish& wish) {
  if (grant == nullptr) return Verdict::no_such_key;
  const Key key(wish.remote ? grant->key.raw ^ grant->remote_bits : grant->key.raw);
  if (key != wish.key) return key.index() == wish.key.index() ? Verdict::wrong_variant : Verdict::no_such_key;
  if (!grant->valid) return Verdict::not_valid;
  if (grant->pd != wish.pd) return Verdict::other_pd;
  if (is_window(*grant)) [[unlikely]] {
    if (!wish.remote) return Verdict::no_access;
    if (grant->kind == KeyKind::window_2 && grant->qpn != wish.qpn) return Verdict::other_qp;
  }
  if (!has(grant->access, wish.access)) return Verdict::no_access;
  const std::uint64_t offset = wish.address.raw - grant->start.raw;
  if (wish.address < grant->start || wish.length > grant->length || offset > grant->length.raw - wish.length.raw)
    return Verdict::out_of_range;
  return Verdict::granted;
}

/// The wish that a window's MR has to grant once the window has granted `wish`: no right of its own, for those are the window's, but the
/// key that it was bound to (`region`), the PD that this was of and the range at `shift` from the addresses of the window.
constexpr Wish through_window(Key region, std::uint32_t pd, std::uint64_t shift, const Wish& wish) {
  return {region, pd, Access::none, Iova(wish.address.raw + shift), wish.length, false, 0};
}

/// READs and atomics: answered by data, and limited in number.
constexpr bool is_read_or_atomic(Opcode opcode) { return opcode == Opcode::read || opcode == Opcode::cas || opcode == Opcode::faa; }
constexpr bool is_atomic(Opcode opcode) { return opcode == Opcode::cas || opcode == Opcode::faa; }
constexpr bool is_send(Opcode opcode) { return opcode == Opcode::send || opcode == Opcode::send_imm || opcode == Opcode::send_inv; }
/// Whether a message takes a receive: SENDs for their data, WRITEs with immediate for their completion.
constexpr bool takes_receive(Opcode opcode) { return is_send(opcode) || opcode == Opcode::write_imm; }

constexpr bool is_write(Opcode opcode) { return opcode == Opcode::write || opcode == Opcode::write_imm; }
/// Requests that the device carries out by itself, without a packet.
constexpr bool is_local(Opcode opcode) { return opcode == Opcode::bind_mw || opcode == Opcode::local_inv || opcode == Opcode::reg_mr; }

/// The remote right that a request needs, of the QP and of the MR.
constexpr Access remote_right(Opcode opcode) {
  if (is_write(opcode)) return Access::remote_write;
  if (opcode == Opcode::read) return Access::remote_read;
  return is_atomic(opcode) ? Access::remote_atomic : Access::none;
}

}  // namespace mtsim::verbs
