// What devices and their providers answer differently: a set of rules is data. `ib` is the InfiniBand Architecture Specification; every
// other set starts from it and says where it differs and who says so. What no evidence is known of is as `ib` has it.
//
// A new set is one file that registers itself.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/registry.h"
#include "verbs/responder.h"

namespace mtsim::verbs {

/// Opcodes, by bit.
class OpcodeSet {
 public:
  constexpr OpcodeSet() = default;
  template <class... Opcodes>
  constexpr explicit OpcodeSet(Opcodes... opcodes) : bits_((0u | ... | (1u << unsigned(opcodes)))) {}
  constexpr bool has(Opcode opcode) const { return (bits_ >> unsigned(opcode) & 1) != 0; }
  constexpr OpcodeSet operator-(OpcodeSet other) const {
    OpcodeSet out;
    out.bits_ = bits_ & ~other.bits_;
    return out;
  }
  constexpr OpcodeSet operator&(OpcodeSet other) const {
    OpcodeSet out;
    out.bits_ = bits_ & other.bits_;
    return out;
  }
  static constexpr OpcodeSet all() {
    OpcodeSet out;
    out.bits_ = (1u << opcode_count) - 1;
    return out;
  }

 private:
  std::uint32_t bits_ = 0;
};

struct Rules {
  std::string name;

  /// Errno values of what a post refuses at once. 0: it is not looked at there.
  struct Posting {
    int send_below_rts = ENOMEM;  ///< the QP has not been set to RTS
    int receive_in_reset = EINVAL;
    int queue_full = ENOMEM;
    int send_elements = ENOMEM;  ///< more than the queue was made for
    int receive_elements = EINVAL;
    int inline_bytes = ENOMEM;     ///< more than the queue was made for
    int inline_not_data = 0;       ///< inline with a READ or an atomic
    int wrong_opcode = 0;          ///< one that the QP's type does not have
    int no_opcode = EINVAL;        ///< one that the provider does not have at all (`lacks`)
    int atomic_length = 0;         ///< an atomic whose elements are less than 8 bytes
    int atomic_alignment = 0;      ///< at an address that is no multiple of 8
    int length_sum = 0;            ///< elements of more than 2^31 bytes together
    int bind_length = EOPNOTSUPP;  ///< a window of more than 2^31 bytes
    int bind_form = EINVAL;        ///< ibv_bind_mw: a window that is not of type 1, zero-based, a length without an MR, of an MR like that
    int bind_pd = EPERM;           ///< ibv_bind_mw: MR and window of different PDs
    int bind_elements = 0;         ///< IBV_WR_BIND_MW with elements
    OpcodeSet lacks;
    bool room_last = false;               ///< whether the queue has room is looked at when all else but the state is in order
    bool power_of_two_less_one = false;   ///< queues are granted with that many places, at least as many as were asked for
    bool keeps_refused = false;           ///< a send refused for the QP's state stays in the queue: carried out with the next, or flushed
    bool inline_shares_elements = false;  ///< elements, of 16 bytes, and inline data lie in one place: each is granted as far as it goes
  } posting;

  /// What send, send queue and receive queue of each type of QP have.
  std::array<OpcodeSet, 3> opcodes{OpcodeSet(Opcode::send, Opcode::send_imm, Opcode::send_inv, Opcode::write, Opcode::write_imm,
                                             Opcode::read, Opcode::cas, Opcode::faa, Opcode::bind_mw, Opcode::local_inv, Opcode::reg_mr),
                                   OpcodeSet(Opcode::send, Opcode::send_imm, Opcode::send_inv, Opcode::write, Opcode::write_imm,
                                             Opcode::bind_mw, Opcode::local_inv, Opcode::reg_mr),
                                   OpcodeSet(Opcode::send, Opcode::send_imm)};

  struct Requester {
    Status unfit = Status::LOC_QP_OP_ERR;        ///< a request that the QP's transport does not have
    Status too_long = Status::LOC_LEN_ERR;       ///< more than `longest`
    std::uint64_t longest = 1ull << 31;          ///< bytes of a message (max_msg_sz)
    std::uint64_t longest_element = ~0u;         ///< bytes of an element that a work request can say
    Status gather_key = Status::LOC_PROT_ERR;    ///< an element to be read whose key, PD or state is refused
    Status gather_range = Status::LOC_PROT_ERR;  ///< one that reaches outside its MR
    Status scatter = Status::LOC_PROT_ERR;       ///< an element to be written, by a READ or an atomic
    Status bind = Status::MW_BIND_ERR;
    Status invalidate = Status::LOC_QP_OP_ERR;
    Status bad_response = Status::BAD_RESP_ERR;
    Status datagram_too_long = Status::LOC_LEN_ERR;  ///< more than the MTU; SUCCESS: nothing is sent and nobody is told
    bool stops_send_queue = true;  ///< an error of an unreliable QP's own request leaves its receive queue at work (SQE); else ERR
    bool flushes_receives = true;  ///< an error of a request flushes the QP's receives as well
    bool retry_7_is_forever = false;
    /// A reset keeps what of the answer to a READ had come when a packet behind the first could not be written: the next answer that is not
    /// a READ's ends the QP, with that request done.
    bool remembers_read = false;
    bool done_when_sent = false;  ///< SENDs and WRITEs of a connected QP are complete once they have left (iWARP)
    /// Status by what the responder answered.
    std::array<Status, 6> answered{Status::SUCCESS,         Status::RETRY_EXC_ERR,  Status::RNR_RETRY_EXC_ERR,
                                   Status::REM_INV_REQ_ERR, Status::REM_ACCESS_ERR, Status::REM_OP_ERR};
  } requester;

  struct Responder {
    std::array<Refusal, check_count> refusals{};
    bool read_needs_right = true;       ///< a READ needs REMOTE_READ of the MR
    bool raises_events = true;          ///< of QPs; that a completion queue is full is always told
    bool flushes_late_receives = true;  ///< receives posted in ERR are flushed at once; else when ERR is set again
    bool judges_by_qp = false;          ///< keys of a shared queue's receives are judged by the QP's PD, not by the queue's
    /// A WRITE with immediate of several packets, unreliable, of which the last finds no receive: until RESET nothing else is taken.
    bool waits_for_end = false;
    /// An unreliable WRITE with immediate whose key is refused uses up the receive that it took of a shared queue: REM_ACCESS_ERR.
    bool uses_up_shared = false;
    bool places_what_fits = true;  ///< of a message that is too long for its receive, the bytes before its end are written
    const Refusal& refusal(Check check) const { return refusals[unsigned(check)]; }
  } responder;

  struct Windows {
    bool there_are = true;
    bool kinds_apart = true;  ///< type 1 is bound by call, type 2 by work request; else both by either
    bool region_pd = true;    ///< the MR must be of the window's PD
    bool type_1_pd = true;    ///< a type 1 window must be of the QP's PD
    bool zero_inside = true;  ///< one that counts from 0 must lie inside its MR; else only be no longer
    bool invalidator = true;  ///< only the QP that a window is bound to invalidates it, of its PD
    bool bounds = true;       ///< an access must lie within the window; else within its MR
    int bound_dereg = EBUSY;  ///< errno of ibv_dereg_mr while windows are bound to the MR; 0: it is deregistered
  } windows;

  /// Of an element to be read that was refused.
  Status gather_status(Verdict verdict) const { return verdict == Verdict::out_of_range ? requester.gather_range : requester.gather_key; }
  Status answered_status(Nak nak) const { return requester.answered[unsigned(nak)]; }
  /// The right that an MR must grant for a request; `none`: none.
  Access needed_of_region(Opcode opcode) const {
    return opcode == Opcode::read && !responder.read_needs_right ? Access::none : remote_right(opcode);
  }

  /// What is said of a field and by whom, for the fields in which the set differs from `ib`: "requester.gather_key" and the evidence.
  struct Evidence {
    std::string field, source;
  };
  std::vector<Evidence> evidence;
};

/// The specification's, where the others start.
Rules ib_rules();
std::shared_ptr<const Rules> the_ib_rules();

using RuleSets = Registry<Rules>;

}  // namespace mtsim::verbs
