#include "program/meeting.h"

#include <utility>

namespace mtsim::program {

Gathering::Outcome Gathering::arrive(verbs::Device& device, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n,
                                     verbs::Caller& caller) {
  std::vector<Waiting>& here = barriers_[barrier];
  if (here.size() + 1 < n) {
    here.push_back({&device, thread, &caller});
    return {};
  }
  return {true, std::exchange(here, {})};
}

std::map<std::uint32_t, std::size_t> Gathering::waiting() const {
  std::map<std::uint32_t, std::size_t> out;
  for (const auto& [barrier, here] : barriers_)
    if (!here.empty()) out[barrier] = here.size();
  return out;
}

}  // namespace mtsim::program
