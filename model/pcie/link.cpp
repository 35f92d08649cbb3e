#include "pcie/link.h"

#include <array>
#include <cmath>

#include "base/sections.h"

namespace mtsim::pcie {
namespace {

const Sections::Entrant<LinkParams> declared;

// Host-to-NIC agents of the downstream channel.
constexpr unsigned completions_agent = 0, mmio_agent = 1;

void count(TlpCount& c, const ports::Tlps& tlps, Bytes header) {
  c.tlps += tlps.count;
  c.payload_bytes += tlps.payload.raw;
  c.header_bytes += tlps.count * header.raw;
}

}  // namespace

void LinkParams::declare(Declaration<LinkParams>& d) {
  d.section("pcie", "The PCIe link between a NIC and the root complex of its host.");
  d.field("generation", &LinkParams::generation)
      .standard("3")
      .range("1", "6")
      .means("PCI Express generation: sets GT/s a lane and line coding.")
      .source("slot of 100 Gb/s NICs of the ConnectX-5 time");
  d.field("lanes", &LinkParams::lanes).standard("16").range("1", "32").means("Lanes of the link.").source("slot of 100 Gb/s NICs");
  d.field("max_payload", &LinkParams::max_payload)
      .standard("256B")
      .range("128B", "4KiB")
      .means("MPS: most payload of a write or completion TLP.")
      .source("usual setting of x86 servers");
  d.field("max_read_request", &LinkParams::max_read_request)
      .standard("512B")
      .range("128B", "4KiB")
      .means("MRRS: most bytes a read request asks for.")
      .source("Linux default of PCI devices");
  d.field("read_header", &LinkParams::read_header)
      .standard("24B")
      .range("12B", "64B")
      .means("Bytes of a memory read TLP on the link: header, framing, sequence number, LCRC.")
      .source("pcie-bench, SIGCOMM'18, section 3 (MRd)");
  d.field("write_header", &LinkParams::write_header)
      .standard("24B")
      .range("12B", "64B")
      .means("Bytes a memory write TLP adds to its payload.")
      .source("pcie-bench, SIGCOMM'18, section 3 (MWr)");
  d.field("completion_header", &LinkParams::completion_header)
      .standard("20B")
      .range("12B", "64B")
      .means("Bytes a completion TLP adds to its payload.")
      .source("pcie-bench, SIGCOMM'18, section 3 (CplD)");
  d.field("efficiency", &LinkParams::efficiency)
      .standard("0.92")
      .range("0.5", "1")
      .means("Share of the coded rate left by flow control and acknowledgement DLLPs.")
      .source("pcie-bench, SIGCOMM'18: 57.88 of 62.96 Gb/s at x8");
  d.field("latency", &LinkParams::latency)
      .standard("125ns")
      .range("0ns", "10us")
      .means("One way through the link, both controllers included.")
      .source("estimate (N3, P1)");
  d.field("tags", &LinkParams::tags)
      .standard("64")
      .range("1", "1024")
      .means("Read requests in flight at once.")
      .source("estimate (P1: 28 in flight on an older device)");
}

BitRate LinkParams::rate() const {
  static constexpr std::array<double, 6> gigatransfers{2.5, 5, 8, 16, 32, 64};
  const double coding = generation <= 2 ? 0.8 : generation <= 5 ? 128.0 / 130.0 : 236.0 / 256.0;
  return BitRate(static_cast<std::uint64_t>(std::floor(gigatransfers[generation - 1] * 1e9 * lanes * coding * efficiency)));
}

Link::Link(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, const LinkParams& params)
    : sc_module(module_name),
      params_(params),
      byte_time_(params.rate()),
      up_(scheduler, params.latency),
      down_(scheduler, params.latency) {}

// Equal cells with the exact sum: where a transfer starts off alignment its first and last TLP share the shortfall.
engine::Channel::Shape Link::shape(const ports::Tlps& tlps, Bytes header) const {
  const Time whole = byte_time_.of(Bytes(tlps.payload.raw + tlps.count * header.raw));
  if (tlps.count == 1) return {1, whole, whole};
  Time cell = byte_time_.of(params_.max_payload + header);
  if (tlps.payload.raw != tlps.count * params_.max_payload.raw) cell = whole / static_cast<std::int64_t>(tlps.count);
  return {tlps.count, cell, whole - cell * static_cast<std::int64_t>(tlps.count - 1)};
}

void Link::request(ports::Agent agent, std::uint32_t requests, Time memory, engine::Notice& notice) {
  count(counts_.reads, {requests, Bytes{}}, params_.read_header);
  const Time cell = byte_time_.of(params_.read_header);
  up_.submit(static_cast<unsigned>(agent), {requests, cell, cell}, &notice, memory, true);
}

void Link::complete(const ports::Tlps& tlps, engine::Notice& notice) {
  count(counts_.completions, tlps, params_.completion_header);
  down_.submit(completions_agent, shape(tlps, params_.completion_header), &notice);
}

void Link::post(const ports::Tlps& tlps, Time memory, engine::Notice* notice) {
  count(counts_.writes, tlps, params_.write_header);
  up_.submit(static_cast<unsigned>(ports::Agent::posted), shape(tlps, params_.write_header), notice, memory);
}

void Link::store(Bytes length, engine::Notice& notice) {
  const ports::Tlps tlps{1, length};
  count(counts_.mmio_writes, tlps, params_.write_header);
  down_.submit(mmio_agent, shape(tlps, params_.write_header), &notice, params_.store_hop);
}

void Link::draw(Timeline& timeline, const std::string& process) {
  LinkRows::Agents up{}, down{};
  up[static_cast<unsigned>(ports::Agent::posted)] = {"PCIe up: writes", "write"};
  up[static_cast<unsigned>(ports::Agent::payload)] = {"PCIe up: reads of payload", "read request"};
  up[static_cast<unsigned>(ports::Agent::tables)] = {"PCIe up: reads of tables", "read request"};
  up[static_cast<unsigned>(ports::Agent::control)] = {"PCIe up: reads of queues", "read request"};
  down[completions_agent] = {"PCIe down: completions", "completion"};
  down[mmio_agent] = {"PCIe down: stores", "store"};
  up_rows_ = std::make_unique<LinkRows>(timeline, process, up, counts_.reads, counts_.writes);
  down_rows_ = std::make_unique<LinkRows>(timeline, process, down, counts_.completions, counts_.mmio_writes);
  up_.watch(up_rows_.get());
  down_.watch(down_rows_.get());
}

}  // namespace mtsim::pcie
