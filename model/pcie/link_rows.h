// One direction of a PCIe link on a timeline: a row for each agent, a span for each transfer.
#pragma once

#include <array>
#include <deque>
#include <string>

#include "base/timeline.h"
#include "engine/channel.h"
#include "ports/pcie.h"

namespace mtsim::pcie {

/// A span lasts from a transfer's first TLP to the end of its last; those of other agents may come in between.
class LinkRows final : public engine::Channel::Watcher {
 public:
  /// An agent's row, and what its transfers are called.
  struct Name {
    const char* row = nullptr;  ///< null: there is no such agent
    const char* transfer = "";
  };
  using Names = std::array<Name, engine::Channel::agents>;

  LinkRows(Timeline& timeline, const std::string& process, const Names& names);

  /// What is submitted to the channel with the next call.
  void submitted(unsigned agent, const ports::Tlps& tlps) { agents_[agent].waiting.push_back(tlps); }
  void began(unsigned agent, Time at) override { agents_[agent].begun = at; }
  void ended(unsigned agent, Time at) override;

 private:
  struct Agent {
    TimelineRow row;
    const char* transfer = "";
    std::deque<ports::Tlps> waiting;
    Time begun;
  };
  std::array<Agent, engine::Channel::agents> agents_;
};

}  // namespace mtsim::pcie
