// Says what each operation of a program must answer, by the rules alone: slow, obvious, and without anything of the model. Each request is
// carried out whole at the moment when it is posted, which is right for programs that are free of races.
//
// Sources: InfiniBand Architecture Specification, volume 1, chapters 9 to 11 and the man pages of rdma-core for `ib`; for rxe 6.1 what was
// measured on it.
#pragma once

#include "rules.h"
#include "world.h"

namespace mtsim::random_programs {

/// What will become of a request: a judgement alone changes nothing.
struct Course {
  Status status = "SUCCESS";
  bool local = false;  ///< found out by the requester itself, before anything was asked of the peer

  // At the peer.
  bool takes_receive = false;
  Status receive;  ///< how that receive completes; empty: it does not yet
  bool peer_fails = false;
  std::string event;       ///< of the peer's host
  bool executed = false;   ///< the peer carried out all of it
  bool in_answer = false;  ///< found out when the answer came: requests behind may have been carried out
  Id invalidated = nobody;
  bool waits_for_end = false;  ///< the peer waits for the last packet, for ever
  bool behind_first = false;   ///< of a READ whose data could not be written: the first packet's could
  bool out_of_turn = false;    ///< its answer ends the QP, which waits for another

  /// Why a program may not do this: the answer would depend on timing, or the rules leave it open. Empty: it may.
  std::string unclear;
};

class Oracle {
 public:
  explicit Oracle(Rules rules) : rules_(std::move(rules)) {}

  const World& world() const { return world_; }
  const Rules& rules() const { return rules_; }

  /// What the call answers: `ok` or an errno name; of query_qp the state. Polls and waits are not for it.
  std::string call(const Operation& operation);
  /// What posting answers: `ok`, or the errno name of its refusal.
  std::string post(const Operation& post);

  /// What would become of a request if it were posted now.
  Course judge(const Operation& post) const;
  /// Whether the requester cannot read what a SEND or WRITE is to carry, whatever state its QP is in.
  bool fails_at_home(const Operation& post) const;
  /// Whether posting would be refused.
  std::string refusal(const Operation& post) const;
  /// The same but for the QP's state.
  std::string refusal_in_rts(const Operation& post) const;

  /// What only races can bring about: how many requests behind one that failed when its answer came are carried out at the peer all the
  /// same, and whether a WRITE with immediate of several packets is refused at the last of them.
  void race(unsigned requests_ahead, bool late_refusal) {
    ahead_ = requests_ahead;
    late_ = late_refusal;
  }

  /// Whether a request was carried out whose course was unclear.
  bool unclear() const { return unclear_; }

  /// Completions that came and were not taken.
  const std::vector<Completion>& completions(Id cq) const;
  void take(Id cq, std::uint64_t wr);
  /// The host's events that were not taken, oldest first.
  std::vector<std::string> take_events(int host);

 private:
  // Calls.
  std::string mmap(const Operation&);
  std::string reg_mr(const Operation&);
  std::string rereg_mr(const Operation&);
  std::string dereg_mr(const Operation&);
  std::string bind_call(const Operation&);
  std::string dealloc_pd(const Operation&);
  std::string destroy_cq(const Operation&);
  std::string destroy_srq(const Operation&);
  std::string create_qp(const Operation&);
  std::string connect(const Operation&);
  std::string modify_qp(const Operation&);
  std::string check_rights(Rights) const;
  bool may_write(Rights) const;

  // Names to what requests carry.
  std::uint64_t resolve(const Address&) const;
  Key resolve(const KeyRef&, bool remote) const;
  Send resolve_send(const Operation&) const;
  Receive resolve_receive(const Operation&) const;

  // Judgement.
  enum class Refusal { none, key, range };
  Refusal check_local(const Element&, Id pd, Rights) const;
  Refusal check_remote(const Key&, const Qp& responder, Rights, std::uint64_t address, std::uint64_t length) const;
  bool can_be_invalidated(const Key&, Id qp, std::string& unclear) const;
  bool can_be_bound(const Send&, const Qp&) const;
  Course judge(Id qp, const Send&) const;
  Course judge_message(const Qp&, const Send&) const;
  Course judge_read(const Qp&, const Send&) const;
  bool first_packet_fits(const Qp&, const Send&) const;
  void remember_read(Qp&, const Send&, const Course&) const;
  Refusal gather(const std::vector<Element>&, Id pd, std::uint64_t offset, std::uint64_t bytes) const;
  const Receive* next_receive(const Qp&) const;
  bool responder_takes(const Qp& peer, const Send&, std::uint64_t offset, std::uint64_t bytes, Course&) const;
  bool responder_takes_all(const Qp& peer, const Send&, std::uint64_t mtu) const;
  bool scatter(const std::vector<Element>&, Id pd, std::uint64_t offset, std::uint64_t bytes, std::string& unclear) const;

  // Carrying out.
  void carry_out(Id qp, const Send&);
  void change_peer(const Qp&, const Course&);
  void fail(Id qp, bool flush_receives);
  Id id_of(const Qp& qp) const { return static_cast<Id>(&qp - world_.qps.data()); }
  void complete_send(const Qp&, const Send&, const Status&);
  void complete_receive(const Qp&, std::uint64_t wr, const Status&);
  Receive take_receive(Qp&);
  void bind(const Send&, Id qp);

  Rules rules_;
  unsigned ahead_ = 0;
  bool late_ = false, unclear_ = false;
  World world_;
};

}  // namespace mtsim::random_programs
