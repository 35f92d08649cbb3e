// The responder: carries out the requests of peers, each QP's in order.
#pragma once

#include <memory>
#include <vector>

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

class Responder : public sc_core::sc_module, public PacketSink {
 public:
  sc_core::sc_port<Retirement> retirement;
  sc_core::sc_port<ports::Translator> translator;
  sc_core::sc_port<ports::Dma> dma;
  sc_core::sc_port<ports::Network> network;
  sc_core::sc_port<WindowTable> windows;
  /// Bound where QP contexts are not always at hand.
  sc_core::sc_port<ContextSource, 1, sc_core::SC_ZERO_OR_MORE_BOUND> qp_contexts;
  /// Bound where data are followed.
  sc_core::sc_port<ports::DataWatch, 1, sc_core::SC_ZERO_OR_MORE_BOUND> watch;

  Responder(sc_core::sc_module_name name, engine::Scheduler& scheduler, Clock clock, const ResponderParams& params, std::uint32_t port,
            ports::PacketPool& packets);

  /// A request packet.
  void take(Qp& qp, ports::Packet& packet) override;

  const engine::Server& pipe() const { return pipe_; }
  const engine::Semaphore& contexts() const { return contexts_; }
  const engine::Buffer& buffer() const { return buffer_; }
  std::uint64_t dropped() const { return dropped_; }
  struct Naks {
    std::uint64_t rnr = 0, sequence = 0, duplicates = 0;
  };
  const Naks& naks() const { return naks_; }

 private:
  void end_of_elaboration() override;
  engine::Flow serve(Qp& qp);
  /// When it is clear that the QP's context must be fetched; 0: it is there.
  Time look_up_context(Qp& qp, ports::Packet& packet);
  bool in_sequence(Qp& qp, const ports::Packet& packet);
  bool in_sequence_unreliable(Qp& qp, const ports::Packet& packet);
  void again(Qp& qp, const ports::Packet& packet);
  static void advance(Qp& qp, const ports::Packet& packet);
  engine::Task<int> data(Qp& qp, ports::Packet& packet);
  engine::Task<verbs::Check> place_send(Qp& qp, ports::Packet& packet, Time begin);
  /// SEND with invalidation: once all its data is in place.
  engine::Task<verbs::Check> invalidate(Qp& qp, ports::Packet& packet);
  void accepted(Qp& qp, const ports::Packet& packet);
  void refuse(Qp& qp, const ports::Packet& packet, verbs::Check check);
  /// The check of a look-up that was refused, explained.
  void explain_refusal(Qp& qp, const ports::Packet& packet, verbs::Check check, const ports::Query* query);
  void end_receive(Qp& qp, const ports::Packet& packet, verbs::Status status);
  engine::Task<int> atomic(Qp& qp, ports::Packet& packet);
  engine::Flow modify(Qp& qp, ports::Packet& reply, Pa word);
  engine::Task<int> read(Qp& qp, ports::Packet& packet);
  /// Takes a place in the pipe: the time at which look-ups begin, which what is to be done `more` puts off. The packet has waited for a
  /// context since `asked`.
  Time take_up(ports::Packet& packet, Time asked, Time more = {});
  /// Where what a request waits for is noted, if it is.
  ports::Waits* noted(ports::Packet& packet) const { return params_.measures ? &packet.waits : nullptr; }
  void note(ports::Packet& packet, ports::Step step, ports::Cause cause, Time since) const {
    if (params_.measures) packet.waits.add(step, cause, scheduler_.now() - since);
  }
  void answer(Qp& qp, const ports::Packet& request, verbs::Nak nak);
  void send_answer(Qp& qp, ports::Packet& reply, verbs::Nak nak);
  engine::Flow acknowledge(Qp& qp, ports::Packet& reply);
  engine::Flow respond(Qp& qp, ports::Packet& reply, Pa from, Bytes last_run, ReadJoin* others);
  engine::Flow fetch(Pa address, Bytes length, engine::Order order, ReadJoin& join);
  ports::Packet& reply_to(const Qp& qp, const ports::Packet& request, ports::Packet::Kind kind);

  engine::Scheduler& scheduler_;
  Clock clock_;
  ResponderParams params_;
  std::uint32_t port_;
  ports::WireFormat format_;
  ports::PacketPool& packets_;
  engine::Server pipe_;
  engine::Semaphore contexts_;
  engine::Buffer buffer_;
  std::vector<std::unique_ptr<engine::Semaphore>> locks_;  ///< for the words that atomics change
  ReusePool<ReadJoin> joins_;
  std::uint64_t dropped_ = 0;
  Naks naks_;
  ContextSource* qp_contexts_ = nullptr;  ///< null: they are
  ports::DataWatch* watch_ = nullptr;     ///< null: nobody follows data
};

}  // namespace mtsim::nic
