#include "system/operations_recorder.h"

namespace mtsim::system {

void OperationsRecorder::ended(std::uint32_t port, std::uint32_t qpn, const ports::Wqe& request, verbs::Status status) {
  std::vector<std::string>& queues = queues_[port];
  if (queues.size() <= qpn) queues.resize(qpn + 1);
  std::string& queue = queues[qpn];
  if (queue.empty()) queue = results::OperationsFile::queue(hosts_[port], qps_.name(port, qpn), qpn);
  std::array<Time, ports::cause_count> waits{};
  for (const ports::Waits::Entry wait : request.waits) waits[unsigned(wait.cause())] += Time(wait.span);
  file_.add(
      {queue, request.wr, request.opcode, request.length, status, measured_, request.begin, request.stamp, waits, request.waited_for});
}

}  // namespace mtsim::system
