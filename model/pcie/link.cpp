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

void declare_buffers(Declaration<LinkParams>& d) {
  using ports::RelaxedOrdering;
  d.choice("relaxed_ordering", &LinkParams::relaxed_ordering,
           {{"never", RelaxedOrdering::never}, {"by_mr", RelaxedOrdering::by_mr}, {"always", RelaxedOrdering::always}})
      .standard("by_mr")
      .means(
          "Which writes of payload may take effect while earlier ones wait for the IOMMU: none, those to MRs with access flag ro, or all.")
      .source("mlx5: by mkey (IBV_ACCESS_RELAXED_ORDERING), where the function's Device Control register allows it");
  d.field("completion_buffer", &LinkParams::completion_buffer)
      .standard("0B")
      .range("0B", "64MiB")
      .means("The NIC's buffer for completions: bytes of its reads in flight at most, no less than MRRS; 0: as much as the tags ask for.")
      .source("modelling choice; endpoints advertise infinite completion credits and must have the room");
  d.field("read_credits", &LinkParams::read_credits)
      .standard("0")
      .range("0", "4096")
      .means("Non-posted header credits: read requests that the root complex holds until it has read their data; 0: no bound.")
      .source("modelling choice; root ports advertise some tens");
  d.field("write_credits", &LinkParams::write_credits)
      .standard("0")
      .range("0", "4096")
      .means("Posted header credits: writes that the root complex holds until they take effect; 0: no bound.")
      .source("modelling choice; root ports advertise some tens");
  d.field("write_data_credits", &LinkParams::write_data_credits)
      .standard("0B")
      .range("0B", "64MiB")
      .means("Posted data credits: bytes of such writes, in units of 16 B, no less than MPS; 0: no bound.")
      .source("modelling choice; root ports advertise some KiB");
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
  d.field("completion", &LinkParams::completion)
      .standard("0B")
      .range("0B", "4KiB")
      .means(
          "Most that the root complex sends in one completion, 64B or more and no more than MPS; 0: MPS. At least its read completion "
          "boundary.")
      .source("root complexes with an RCB of 64 B send 64 B to MPS: which, is their own choice");
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
  d.field("switch_latency", &LinkParams::switch_latency)
      .standard("0ns")
      .range("0ns", "10us")
      .means("What a PCIe switch between the NIC and the root complex adds, one way; 0: there is none.")
      .source("modelling choice; about 100 to 150 ns with one (data sheets of PCIe 3.0 switches)");
  d.field("tags", &LinkParams::tags)
      .standard("64")
      .range("1", "1024")
      .means("Read requests in flight at once.")
      .source("estimate (P1: 28 in flight on an older device)");
  declare_buffers(d);
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
      up_(scheduler, params.latency + params.switch_latency),
      down_(scheduler, params.latency + params.switch_latency) {}

ports::PcieLimits Link::limits() const {
  ports::PcieLimits limits;
  limits.max_payload = params_.max_payload;
  limits.max_read_request = params_.max_read_request;
  limits.tags = params_.tags;
  limits.relaxed = params_.relaxed_ordering;
  limits.completion = params_.most_completed();
  limits.completion_buffer = params_.completion_buffer;
  limits.read_credits = params_.read_credits;
  limits.write_credits = params_.write_credits;
  limits.write_data_credits = params_.write_data_credits;
  limits.credit_return = down_.latency();
  return limits;
}

// Equal cells with the exact sum: where a transfer starts off alignment its first and last TLP share the shortfall.
engine::Channel::Shape Link::shape(const ports::Tlps& tlps, Bytes most, Bytes header) const {
  const Time whole = byte_time_.of(Bytes(tlps.payload.raw + tlps.count * header.raw));
  if (tlps.count == 1) return {1, whole, whole};
  Time cell = byte_time_.of(most + header);
  if (tlps.payload.raw != tlps.count * most.raw) cell = whole / static_cast<std::int64_t>(tlps.count);
  return {tlps.count, cell, whole - cell * static_cast<std::int64_t>(tlps.count - 1)};
}

void Link::request(ports::Agent agent, ports::Purpose purpose, std::uint32_t requests, Time memory, engine::Notice& notice) {
  count(counts_.reads[purpose], {requests, Bytes{}}, params_.read_header);
  const Time cell = byte_time_.of(params_.read_header);
  up_.submit(static_cast<unsigned>(agent), {requests, cell, cell}, &notice, memory, true);
}

void Link::complete(ports::Purpose purpose, const ports::Tlps& tlps, engine::Notice* notice) {
  count(counts_.completions[purpose], tlps, params_.completion_header);
  down_.submit(completions_agent, shape(tlps, params_.most_completed(), params_.completion_header), notice);
}

void Link::post(ports::Purpose purpose, const ports::Tlps& tlps, Time memory, engine::Notice* notice) {
  count(counts_.writes[purpose], tlps, params_.write_header);
  up_.submit(static_cast<unsigned>(ports::Agent::posted), shape(tlps, params_.max_payload, params_.write_header), notice, memory);
}

void Link::store(Bytes length, engine::Notice& notice) {
  const ports::Tlps tlps{1, length};
  count(counts_.mmio_writes[ports::Purpose::doorbells], tlps, params_.write_header);
  down_.submit(mmio_agent, shape(tlps, params_.max_payload, params_.write_header), &notice, params_.store_hop);
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
