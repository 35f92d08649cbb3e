// One direction of a PCIe link on a timeline: a row for each agent, a span for each transfer.
#pragma once

#include <array>
#include <deque>
#include <string>

#include "base/timeline.h"
#include "engine/channel.h"
#include "pcie/tlp_count.h"

namespace mtsim::pcie {

/// A span lasts from a transfer's first TLP to the end of its last; those of other agents may come in between.
class LinkRows final : public engine::Channel::Watcher {
 public:
  struct Agent {
    const char* row = nullptr;  ///< name of its row; null: there is no such agent
    const char* transfer = "";  ///< what its transfers are called
  };
  using Agents = std::array<Agent, engine::Channel::agents>;

  /// `one` and `other` are what the link has counted of this direction: it counts a transfer just before it submits it, and so need not
  /// say again what that is. Both outlive this.
  LinkRows(Timeline& timeline, const std::string& process, const Agents& agents, const TlpCounts& one, const TlpCounts& other);

  void submitted(unsigned agent) override;
  void sent(unsigned agent, Time begin, Time end) override;

 private:
  struct Transfer {
    std::uint64_t tlps = 0, payload_bytes = 0;
  };
  struct State {
    TimelineRow row;
    const char* transfer = "";
    std::deque<Transfer> waiting;
  };
  const TlpCounts &one_, &other_;
  Transfer counted_;  ///< up to the last transfer
  std::array<State, engine::Channel::agents> states_;
};

}  // namespace mtsim::pcie
