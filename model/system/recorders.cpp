#include "system/recorders.h"

#include "system/host.h"

namespace mtsim::system {
namespace {

std::vector<std::string> titles(const std::vector<std::unique_ptr<Host>>& hosts) {
  std::vector<std::string> out;
  for (const auto& host : hosts) out.push_back(host->title);
  return out;
}

program::Observer& named(std::optional<QpNames>& qps, bool wanted, program::Observer& next, const program::Names& names,
                         const std::vector<std::uint32_t>& port_of) {
  if (!wanted) return next;
  return qps.emplace(next, names, port_of);
}

}  // namespace

Recorders::Recorders(const Recording& recording, const program::Program& program, const std::vector<std::unique_ptr<Host>>& hosts,
                     const std::vector<std::uint32_t>& port_of, fabric::Switch& network, program::Observer& observer)
    : hosts_(hosts),
      observer_(named(qps_, recording.operations != nullptr || recording.timeline != nullptr, observer, program.names(), port_of)) {
  if (recording.operations != nullptr) {
    const bool from_start = program.start_barrier() == program::Program::no_barrier;
    operations_.emplace(*recording.operations, *qps_, titles(hosts), from_start);
    for (std::uint32_t port = 0; port < hosts.size(); ++port) hosts[port]->operations.watch(*operations_, port);
  }
  if (recording.timeline != nullptr) timeline_.emplace(*recording.timeline, *qps_, program.names(), hosts, port_of, network);
}

verbs::Device& Recorders::device(std::uint32_t port) {
  if (timeline_) return timeline_->device(port);
  return hosts_[port]->device;
}

void Recorders::begin() {
  if (timeline_) timeline_->begin();
}

void Recorders::finish() {
  if (timeline_) timeline_->finish();
}

void Recorders::measure(bool on) {
  if (operations_) operations_->measure(on);
}

}  // namespace mtsim::system
