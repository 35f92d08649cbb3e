// A PCIe link: two directions, each a channel of TLPs.
#pragma once

#include <memory>
#include <string>

#include "base/byte_time.h"
#include "base/parameter.h"
#include "engine/channel.h"
#include "pcie/link_rows.h"
#include "pcie/tlp_count.h"
#include "ports/pcie.h"

namespace mtsim::pcie {

struct LinkParams {
  std::uint32_t generation{}, lanes{}, tags{};
  std::uint32_t read_credits{}, write_credits{};
  Bytes write_data_credits, completion_buffer;
  ports::RelaxedOrdering relaxed_ordering{};
  Bytes max_payload{}, max_read_request{}, completion{};
  Bytes read_header{}, completion_header{}, write_header{};
  double efficiency{};
  Time latency{}, switch_latency{};
  Time store_hop{};  ///< of stores besides: where the CPU is (host.numa), so that it is no parameter of the link
  static void declare(Declaration<LinkParams>& d);

  /// Data rate of one direction after line coding and the share that flow control and acknowledgements take.
  BitRate rate() const;
  /// Most that one completion carries.
  Bytes most_completed() const { return completion.raw == 0 ? max_payload : completion; }
};

class Link : public sc_core::sc_module, public ports::PcieUp, public ports::Mmio {
 public:
  Link(sc_core::sc_module_name name, engine::Scheduler& scheduler, const LinkParams& params);

  ports::PcieLimits limits() const override;
  void request(ports::Agent agent, ports::Purpose purpose, std::uint32_t requests, Time memory, engine::Notice& notice) override;
  void complete(ports::Purpose purpose, const ports::Tlps& tlps, engine::Notice* notice) override;
  Time posted_backlog() override { return up_.backlog(static_cast<unsigned>(ports::Agent::posted)); }
  Time time_of(Bytes length) const override { return byte_time_.of(length); }
  void post(ports::Purpose purpose, const ports::Tlps& tlps, Time memory, engine::Notice* notice) override;
  void store(Bytes length, engine::Notice& notice) override;

  struct Counts {
    TlpCounts reads, writes;             ///< NIC to host
    TlpCounts completions, mmio_writes;  ///< host to NIC
  };
  const Counts& counts() const { return counts_; }
  const engine::Usage& up_usage() { return up_.usage(); }
  const engine::Usage& down_usage() { return down_.usage(); }
  /// Draws each transfer from now on, before which there must be none. What is still on its way at the end follows with usage().
  void draw(Timeline& timeline, const std::string& process);

 private:
  engine::Channel::Shape shape(const ports::Tlps& tlps, Bytes most, Bytes header) const;

  LinkParams params_;
  ByteTime byte_time_;
  engine::Channel up_, down_;
  Counts counts_;
  std::unique_ptr<LinkRows> up_rows_, down_rows_;
};

}  // namespace mtsim::pcie
