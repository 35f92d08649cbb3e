#include "pcie/link_rows.h"

namespace mtsim::pcie {

LinkRows::LinkRows(Timeline& timeline, const std::string& process, const Agents& agents, const TlpCounts& one, const TlpCounts& other)
    : one_(one), other_(other) {
  for (unsigned i = 0; i < agents.size(); ++i) {
    if (agents[i].row == nullptr) continue;
    states_[i].row = TimelineRow(timeline, process, agents[i].row);
    states_[i].transfer = agents[i].transfer;
  }
}

void LinkRows::submitted(unsigned agent) {
  const TlpCount one = one_.all(), other = other_.all();
  const Transfer all{one.tlps + other.tlps, one.payload_bytes + other.payload_bytes};
  states_[agent].waiting.push_back({all.tlps - counted_.tlps, all.payload_bytes - counted_.payload_bytes});
  counted_ = all;
}

void LinkRows::sent(unsigned agent, Time begin, Time end) {
  State& state = states_[agent];
  const Transfer transfer = state.waiting.front();
  state.waiting.pop_front();
  state.row.span(state.transfer, begin, end, {{"tlps", transfer.tlps}, {"payload_bytes", transfer.payload_bytes}});
}

}  // namespace mtsim::pcie
