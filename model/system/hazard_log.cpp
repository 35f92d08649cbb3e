#include "system/hazard_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "program/op.h"
#include "system/host.h"

namespace mtsim::system {

bool follows_data(const program::Program& program, Hazards hazards) {
  if (hazards != Hazards::automatic) return hazards == Hazards::on;
  // A workload, which has no hash, unmaps what it has deregistered.
  if (program.hash().empty()) return false;
  // What takes memory away from under a registration, or gives a key another meaning. Pages that are pinned are neither swapped out nor
  // moved, and change of rights leaves them where they are.
  constexpr std::array<std::string_view, 6> causes{"munmap", "madvise", "fork", "rereg_mr", "dereg_mr", "poll hazard="};
  return std::any_of(program.uses().begin(), program.uses().end(),
                     [&](const program::Program::Use& use) { return std::find(causes.begin(), causes.end(), use.what) != causes.end(); });
}

std::uint8_t HazardLog::keep(const ports::HazardNote& note) {
  if (kept_.size() == most) return 0;
  kept_.push_back({note});
  return static_cast<std::uint8_t>(kept_.size());
}

void HazardLog::ended(std::uint32_t port, std::uint32_t qpn, const ports::Wqe& wqe) {
  if (wqe.mishap.note == 0) return;
  Kept& kept = kept_[wqe.mishap.note - 1u];
  if (kept.ended && kept.opcode != verbs::Opcode::recv) return;
  kept.ended = true;
  kept.port = port;
  kept.qpn = qpn;
  kept.opcode = wqe.opcode;
  kept.wr = wqe.wr;
}

std::vector<results::HazardEvent> HazardLog::collect(const std::vector<std::unique_ptr<Host>>& hosts) const {
  std::vector<results::HazardEvent> out;
  for (const Kept& kept : kept_) {
    results::HazardEvent& event = out.emplace_back();
    event.kind = kept.note.kind == verbs::Hazard::foreign ? "foreign" : "stale";
    event.at = kept.note.at;
    event.host = hosts[kept.note.port]->title;
    if (kept.ended) {
      event.operation = fmt::format("{} {} wr={} on QP {:#x}", hosts[kept.port]->title, verbs::name(kept.opcode), kept.wr, kept.qpn);
    } else {
      event.operation = fmt::format("a {} on QP {:#x} of {}", verbs::name(kept.note.opcode), kept.note.qpn, event.host);
    }
    event.writes = kept.note.writes;
    event.address = kept.note.address;
    event.key = kept.note.key.raw;
    event.memory = kept.note.memory.raw;
    static_assert(unsigned(ports::HazardNote::Why::other_key) + 1 == results::hazard_reason_names.size());
    event.why = static_cast<results::HazardReason>(kept.note.why);
  }
  return out;
}

}  // namespace mtsim::system
