// A verbs program as plain data: what a random program consists of before it is written as a trace. Includes nothing of the model.
//
// The operations of all hosts stand in one order. Each host has one thread, which carries out its own in that order; what different hosts
// do between two barriers does not depend on the order among them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mtsim::random_programs {

/// Objects of a kind are numbered over all hosts, so that a number names an object.
using Id = int;
inline constexpr Id nobody = -1;

using Rights = unsigned;
inline constexpr Rights lw = 1, rr = 2, rw = 4, ra = 8, mw_bind = 16, zero_based = 32;

enum class Kind {
  mmap,
  alloc_pd,
  dealloc_pd,
  reg_mr,
  rereg_mr,
  dereg_mr,
  alloc_mw,
  bind_mw,
  dealloc_mw,
  create_cq,
  destroy_cq,
  create_srq,
  destroy_srq,
  create_qp,
  connect,
  modify_qp,
  destroy_qp,
  post_send,
  post_recv,
  post_srq,
  poll,
  poll_idle,
  barrier,
  sleep,
  query_qp,
  event,
};

enum class Opcode { send, send_imm, send_inv, write, write_imm, read, cas, faa, bind_mw, local_inv };
constexpr bool is_send(Opcode o) { return o == Opcode::send || o == Opcode::send_imm || o == Opcode::send_inv; }
constexpr bool is_write(Opcode o) { return o == Opcode::write || o == Opcode::write_imm; }
constexpr bool is_atomic(Opcode o) { return o == Opcode::cas || o == Opcode::faa; }

enum class QpType { rc, uc };
enum class QpState { reset, init, rts, sqe, err };

/// Completion statuses, as ibv_wc_status without its prefix.
using Status = std::string;

/// `buf3+100`, `mr7-1`, or a number.
struct Address {
  enum class Of { raw, buf, mr, mw };
  Of of = Of::raw;
  Id id = nobody;
  std::int64_t offset = 0;
};

/// `mr7`, `mr7.lkey`, `mr7^1`, or a number. A gone object's is the last that it had.
struct KeyRef {
  enum class Of { raw, mr, mw };
  enum class Which { in_place, lkey, rkey };
  Of of = Of::raw;
  Id id = nobody;
  Which which = Which::in_place;
  std::uint32_t flip = 0;
  std::uint32_t raw = 0;
};

struct Sge {
  Address address;
  std::uint32_t length = 0;
  KeyRef key;
};

struct QpSettings {
  QpType type = QpType::rc;
  Id send_cq = nobody, recv_cq = nobody, srq = nobody;
  unsigned sq = 64, rq = 64, send_sge = 4, recv_sge = 4, inline_bytes = 0;
  Rights access = 0;
  bool signal_all = false;
  unsigned timeout = 8, retry = 1, rnr_retry = 1, rnr_timer = 1, rd_atomic = 4, dest_rd_atomic = 4;
  unsigned mtu = 1024;
};

struct Operation {
  Kind kind{};
  int host = 0;
  Id id = nobody;  ///< of the object that is made or used, of the kind that the operation is about
  Id pd = nobody, qp = nobody, mr = nobody, mw = nobody;
  Id peer = nobody;        ///< connect: the other QP
  int peer_host = nobody;  ///< connect, post_send: the host of the other QP

  // Memory and its registration.
  Address address;
  std::uint64_t length = 0;
  Rights access = 0;
  bool change_access = false, change_translation = false;  ///< rereg_mr; with `pd` the PD too
  std::optional<std::uint64_t> iova;
  bool writable = true;      ///< mmap
  int window_type = 1;       ///< alloc_mw
  unsigned depth = 0;        ///< create_cq, create_srq
  unsigned sges_of_srq = 4;  ///< create_srq
  QpSettings settings;       ///< create_qp
  QpState state{};           ///< modify_qp

  // Work.
  std::uint64_t wr = 0;
  Opcode opcode{};
  std::vector<Sge> sges;
  Address to;
  KeyRef to_key;
  KeyRef inv;
  bool never_posted = false;  ///< it stands in a list behind a request that is refused
  bool signaled = false, inline_data = false, fence = false, more = false;

  // Polls and waits.
  bool by_number = false;  ///< poll: wr=, otherwise n=
  unsigned count = 1;      ///< poll n=, barrier n=
  std::uint64_t time = 0;  ///< ns
  std::string name;        ///< of a barrier
  std::string expect;      ///< empty: nothing is said, so `ok` or SUCCESS
};

struct Program {
  int hosts = 0;
  std::uint64_t seed = 0;
  std::string rules;
  std::string device;  ///< that it is fit for; empty: any that keeps the rules
  std::vector<Operation> operations;
};

/// Operations that make a call, post or poll.
constexpr bool counts(Kind kind) { return kind != Kind::barrier && kind != Kind::sleep; }

}  // namespace mtsim::random_programs
