// The responder: carries out the requests of peers, each QP's in order.
#pragma once

#include "base/units.h"
#include "engine/buffer.h"
#include "engine/semaphore.h"
#include "engine/server.h"
#include "nic/params.h"
#include "nic/units.h"
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

  Responder(sc_core::sc_module_name name, engine::Scheduler& scheduler, Clock clock, const ResponderParams& params, std::uint32_t port,
            ports::PacketPool& packets);

  /// A WRITE packet or a READ request.
  void take(Qp& qp, ports::Packet& packet) override;

  const engine::Server& pipe() const { return pipe_; }
  const engine::Semaphore& contexts() const { return contexts_; }
  const engine::Buffer& buffer() const { return buffer_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  void end_of_elaboration() override { format_ = network->format(); }
  engine::Flow serve(Qp& qp);
  engine::Task<int> write(Qp& qp, ports::Packet& packet);
  engine::Task<int> read(Qp& qp, ports::Packet& packet);
  /// Takes a place in the pipe: the time at which look-ups begin.
  Time take_up();
  void answer(Qp& qp, const ports::Packet& request, verbs::Nak nak);
  engine::Flow acknowledge(Qp& qp, ports::Packet& reply);
  engine::Flow respond(Qp& qp, ports::Packet& reply, Pa from, Bytes last_run);
  engine::Flow fetch(Pa address, Bytes length, engine::Order order);
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
  std::uint64_t dropped_ = 0;
};

}  // namespace mtsim::nic
