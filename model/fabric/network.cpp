#include "fabric/network.h"

#include <algorithm>

#include "base/sections.h"

namespace mtsim::fabric {
namespace {

const Sections::Entrant<NetworkParams> declared;

}  // namespace

void NetworkParams::declare(Declaration<NetworkParams>& d) {
  d.section("network", "Links between hosts and the switch, and the switch.");
  d.field("rate", &NetworkParams::rate)
      .standard("100Gb/s")
      .range("1Gb/s", "1600Gb/s")
      .means("Data rate of every link, after line coding.")
      .source("100 Gb/s Ethernet");
  d.field("propagation", &NetworkParams::propagation)
      .standard("10ns")
      .range("0ns", "1ms")
      .means("One way through a cable, 5 ns a metre.")
      .source("2 m in a rack");
  d.field("forwarding", &NetworkParams::forwarding)
      .standard("150ns")
      .range("0ns", "1ms")
      .means("Through the switch, from the head of a packet coming in to its head going out of an idle port.")
      .source("estimate (N3)");
  d.field("mtu", &NetworkParams::mtu)
      .standard("4KiB")
      .range("256B", "4KiB")
      .means("Largest path MTU of the links; a QP may ask for less.")
      .source("largest of the InfiniBand specification");
  d.field("overhead", &NetworkParams::overhead)
      .standard("82B")
      .range("0B", "256B")
      .means(
          "What every packet occupies on a link besides payload and extended transport headers: preamble and gap 20, Ethernet 18, IPv4 20, "
          "UDP 8, BTH 12, ICRC 4.")
      .source("RoCEv2 over IPv4");
  d.field("train", &NetworkParams::train)
      .standard("4KiB")
      .range("0B", "64KiB")
      .means("Packets of one message that lie within this many bytes are queued, sent and received as one; 0 sends every packet by itself.")
      .source("modelling choice: exact at path MTU 4096");
}

Switch::Switch(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, const NetworkParams& params, std::uint32_t port_count)
    : sc_module(module_name),
      ends("ends"),
      scheduler_(scheduler),
      params_(params),
      byte_time_(params.rate),
      up_(port_count),
      down_(port_count),
      counts_(port_count) {}

ports::WireFormat Switch::format() const {
  ports::WireFormat f;
  f.mtu = params_.mtu;
  f.overhead = params_.overhead;
  f.train = params_.train;
  return f;
}

// The head of a packet reaches the output as soon as the link has carried it there: the rest follows at the same rate, so an idle output
// never runs dry. A busy one queues whole packets in order of arrival.
Time Switch::transmit(ports::Packet& packet) {
  if (watcher_ != nullptr) [[unlikely]]
    tell_leaving(packet);
  const auto sent = up_[packet.source_port].book(scheduler_.now(), byte_time_.of(packet.wire));
  packet.waited_out = sent.start - scheduler_.now();
  packet.fire = [](engine::Timer& timer) {
    auto& p = static_cast<ports::Packet&>(timer);
    p.network->arrive(p);
  };
  packet.network = this;
  scheduler_.arm(packet, sent.start + params_.propagation + params_.forwarding);
  return sent.end;
}

void Switch::arrive(ports::Packet& packet) {
  if (watcher_ != nullptr) [[unlikely]]
    tell_coming(packet);
  const Time now = scheduler_.now();
  engine::Server& output = down_[packet.port];
  PortCounts& counts = counts_[packet.port];
  const auto sent = output.book(now, byte_time_.of(packet.wire));
  packet.waited_in = sent.start - now;
  counts.packets += packet.packets;
  counts.bytes += packet.wire.raw;
  counts.payload_bytes += packet.payload.raw;
  counts.longest_backlog = std::max(counts.longest_backlog, sent.end - now);
  packet.fire = [](engine::Timer& timer) {
    auto& p = static_cast<ports::Packet&>(timer);
    p.network->deliver(p);
  };
  scheduler_.arm(packet, sent.end + params_.propagation);
}

// Before anything is booked: the packets' way itself need keep nothing for those who watch it.
void Switch::tell_leaving(const ports::Packet& packet) {
  const Time start = std::max(scheduler_.now(), up_[packet.source_port].free_at());
  watcher_->leaves(packet, start, start + byte_time_.of(packet.wire));
}

void Switch::tell_coming(const ports::Packet& packet) {
  const Time start = std::max(scheduler_.now(), down_[packet.port].free_at()) + params_.propagation;
  watcher_->comes(packet, start, start + byte_time_.of(packet.wire));
}

Bytes Switch::deepest(std::uint32_t port) const {
  const auto backlog = static_cast<unsigned __int128>(counts_[port].longest_backlog.raw);
  return Bytes(static_cast<std::uint64_t>(backlog * params_.rate.raw / 8'000'000'000'000));
}

void Switch::deliver(ports::Packet& packet) { ends[static_cast<int>(packet.port)]->receive(packet); }

}  // namespace mtsim::fabric
