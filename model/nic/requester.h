// The requester: takes up work requests in pieces, gathers their payload, sends packets, and takes in what peers answer.
#pragma once

#include "base/units.h"
#include "engine/buffer.h"
#include "engine/semaphore.h"
#include "engine/server.h"
#include "nic/params.h"
#include "nic/read_join.h"
#include "nic/units.h"
#include "ports/data_watch.h"
#include "ports/dma.h"
#include "ports/translator.h"
#include "ports/wire.h"

namespace mtsim::nic {

class Requester : public sc_core::sc_module, public PacketSink {
 public:
  sc_core::sc_port<WorkSource> work;
  sc_core::sc_port<Retirement> retirement;
  sc_core::sc_port<ports::Translator> translator;
  sc_core::sc_port<ports::Dma> dma;
  sc_core::sc_port<ports::Network> network;
  sc_core::sc_port<WindowTable> windows;
  /// Bound where contexts are not all at hand.
  sc_core::sc_port<ContextSource, 1, sc_core::SC_ZERO_OR_MORE_BOUND> qp_contexts;
  sc_core::sc_port<RequestStore, 1, sc_core::SC_ZERO_OR_MORE_BOUND> request_contexts;
  /// Bound where data are followed.
  sc_core::sc_port<ports::DataWatch, 1, sc_core::SC_ZERO_OR_MORE_BOUND> watch;

  Requester(sc_core::sc_module_name name, engine::Scheduler& scheduler, Clock clock, const RequesterParams& params, std::uint32_t port,
            ports::PacketPool& packets);

  /// An acknowledgement, a NAK, or the response to a READ or atomic.
  void take(Qp& qp, ports::Packet& packet) override;

  const engine::Server& pipe() const { return pipe_; }
  const engine::Semaphore& contexts() const { return contexts_; }
  const engine::Buffer& buffer() const { return buffer_; }
  std::uint64_t pieces() const { return pieces_; }
  struct Retries {
    std::uint64_t rnr = 0, sequence = 0, timeouts = 0;
  };
  const Retries& retries() const { return retries_; }

 private:
  void end_of_elaboration() override;
  void start_of_simulation() override { scheduler_.spawn(run()); }

  /// One piece of a request: [offset, offset+bytes) of its payload.
  struct Piece {
    std::uint32_t request;
    std::uint64_t offset;
    std::uint32_t bytes;
    bool first, last;
    Time busy;  ///< looking the QP's context up kept the pipe for so long
  };
  class Work;
  engine::Flow run();
  Piece cut(Qp& qp);
  engine::Flow send(Qp& qp, Piece piece);
  engine::Flow accept(Qp& qp);
  bool contexts_at_hand(Qp& qp, Time& busy);
  /// Fetches what is not there, of the QP's own context and its next request's.
  engine::Flow bring_contexts(Qp& qp, Time at, bool own, bool of_request);
  void end_out_of_turn(Qp& qp, const ports::Packet& packet);
  void over(Qp& qp, std::uint32_t index, verbs::Status status);
  engine::Flow fetch(Pa address, Bytes length, engine::Order order, ReadJoin& join);
  std::uint64_t headers(verbs::Opcode opcode, const Piece& piece) const;
  verbs::Status unfit(Qp& qp, const ports::Wqe& wqe);
  verbs::Status refuse_unfit(Qp& qp, const ports::Wqe& wqe);
  void explain_refusal(Qp& qp, const ports::Wqe& wqe, const ports::Query& query);
  /// A bind or an invalidation: nothing of the QP is taken up until it has taken effect.
  engine::Flow change_window(Qp& qp);
  ports::Packet& packet_for(Qp& qp, const ports::Wqe& wqe, const Piece& piece);
  void note_schedule(Qp& qp, const ports::Wqe& wqe, bool repeated, ports::Waits& waits) const;

  // Retransmission (retransmission.cpp).
  void await_answer(Qp& qp, Time sent);
  void try_again(Qp& qp, const ports::Packet& nak);
  void give_up_or_resend(Qp& qp);
  void go_back(Qp& qp, std::uint32_t index, std::uint64_t offset);
  /// An answer to an earlier attempt overtook the next one: `index` need not be sent again.
  void pass(Qp& qp, std::uint32_t index);
  /// The request that a sequence NAK means: the first at or behind the one it names that has not been answered.
  static void find_missing(const Qp& qp, ports::Packet& nak);
  static Time due(engine::Deadline& deadline);

  engine::Scheduler& scheduler_;
  Clock clock_;
  RequesterParams params_;
  std::uint32_t port_;
  ports::WireFormat format_;
  ports::PacketPool& packets_;
  engine::Server pipe_;
  engine::Semaphore contexts_;
  engine::Buffer buffer_;
  std::uint64_t pieces_ = 0;
  Retries retries_;
  // Null where all contexts are at hand.
  ContextSource* qp_contexts_ = nullptr;
  RequestStore* request_contexts_ = nullptr;
  ports::DataWatch* watch_ = nullptr;  ///< null: nobody follows data
  bool looks_up_ = false;              ///< either of them
  std::uint64_t longest_ = 0;          ///< by the rules: no request of so many bytes can be too long, nor an element of it
  bool done_when_sent_ = false;        ///< by the rules: requests of connected QPs that ask for no data
};

}  // namespace mtsim::nic
