#include "system/operations_recorder.h"

#include "verbs/qp_state.h"

namespace mtsim::system {

void OperationsRecorder::ended(std::uint32_t port, std::uint32_t qpn, const ports::Wqe& request, verbs::Status status) {
  std::vector<std::string>& queues = queues_[port];
  if (queues.size() <= qpn) queues.resize(qpn + 1);
  std::string& queue = queues[qpn];
  if (queue.empty()) queue = results::OperationsFile::queue(hosts_[port], qps_.name(port, qpn), qpn);
  std::array<Time, ports::cause_count> waits{};
  for (const ports::Waits::Entry wait : request.waits) waits[unsigned(wait.cause())] += Time(wait.span);
  const bool cqe =
      request.opcode == verbs::Opcode::recv || verbs::leaves_completion(status, verbs::has(request.flags, verbs::Send::signaled));
  file_.add(
      {queue, request.wr, request.opcode, request.length, status, measured_, request.begin, request.stamp, waits, request.waited_for, cqe});
}

}  // namespace mtsim::system
