#include "system/logs.h"

#include "system/hazard_log.h"

namespace mtsim::system {

const std::vector<std::string>& step_names() {
  static const std::vector<std::string> names{"post",
                                              "doorbell",
                                              "WQE fetch",
                                              "retry",
                                              "schedule",
                                              "key check",
                                              "translation",
                                              "DMA",
                                              "wire",
                                              "responder",
                                              "responder key check",
                                              "responder translation",
                                              "responder DMA",
                                              "response wire",
                                              "scatter",
                                              "completion"};
  static_assert(ports::step_count == 16);
  return names;
}

// Stamps rise along an operation's path, so that their differences add up to its latency whatever was skipped.
void OperationLog::ended(std::uint32_t qpn, const ports::Wqe& request, verbs::Status status) {
  for (OperationWatcher* watcher : watchers_) watcher->ended(port_, qpn, request, status);
  // An unsignaled request that succeeds leaves no CQE.
  if (status != verbs::Status::SUCCESS || verbs::has(request.flags, verbs::Send::signaled)) ++statuses_[unsigned(status)];
  Kept& kept = kept_[unsigned(request.opcode)];
  ++kept.ended;
  if (status != verbs::Status::SUCCESS) return;
  ++kept.succeeded;
  if (request.mishap) [[unlikely]]
    note_wrong(qpn, request);
  kept.bytes += request.length;
  if (kept.latency.steps().empty()) [[unlikely]]
    kept.latency = results::LatencyTable(step_names());
  kept.latency.add_path(request.begin, request.stamp);
  if (!keeps_waits_) return;
  for (const ports::Waits::Entry wait : request.waits) kept.waits.add(wait.key, Time(wait.span));
}

void OperationLog::refused(Time at, std::uint32_t qpn, const verbs::Decision& decision) {
  ++refusals_total_;
  if (refusals_.size() < refusals_kept) refusals_.push_back({at, qpn, decision});
}

void OperationLog::note_wrong(std::uint32_t qpn, const ports::Wqe& request) {
  Wrong& wrong = wrong_[unsigned(request.mishap.kind)];
  ++(request.opcode == verbs::Opcode::recv ? wrong.receives : wrong.requests);
  if (hazards_ != nullptr) hazards_->ended(port_, qpn, request);
}

void OperationLog::follow(HazardLog& hazards, std::uint32_t port) {
  hazards_ = &hazards;
  port_ = port;
}

void OperationLog::watch(OperationWatcher& watcher, std::uint32_t port) {
  watchers_.push_back(&watcher);
  port_ = port;
}

void OperationLog::restart() {
  kept_ = {};
  statuses_ = {};
  refusals_.clear();
  refusals_total_ = 0;
  wrong_ = {};
}

RegistrationLog::RegistrationLog() { restart(); }

void RegistrationLog::restart() {
  const std::vector<std::string> steps(ports::registration_step_names.begin(), ports::registration_step_names.end());
  calls_ = {};
  for (results::CallStats& stats : calls_) stats.latency = results::LatencyTable(steps);
  cost_ = {};
}

void RegistrationLog::finished(const ports::RegistrationRecord& record) {
  results::CallStats& stats = calls_[unsigned(record.call)];
  ++stats.calls;
  cost_ += record.cost;
  if (record.error != 0) {
    ++stats.failed[record.error];
    return;
  }
  stats.bytes += record.length;
  stats.pages += record.cost.pages;
  stats.latency.add(record.end - record.begin, record.cost.steps);
}

}  // namespace mtsim::system
