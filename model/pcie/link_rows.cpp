#include "pcie/link_rows.h"

namespace mtsim::pcie {

LinkRows::LinkRows(Timeline& timeline, const std::string& process, const Names& names) {
  for (unsigned i = 0; i < names.size(); ++i) {
    if (names[i].row == nullptr) continue;
    agents_[i].row = TimelineRow(timeline, process, names[i].row);
    agents_[i].transfer = names[i].transfer;
  }
}

void LinkRows::ended(unsigned agent, Time at) {
  Agent& a = agents_[agent];
  // What was under way when drawing began is not known.
  if (a.waiting.empty()) return;
  a.row.span(a.transfer, a.begun, at, {{"tlps", a.waiting.front().count}, {"payload_bytes", a.waiting.front().payload.raw}});
  a.waiting.pop_front();
}

}  // namespace mtsim::pcie
