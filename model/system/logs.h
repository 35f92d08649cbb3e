// What is kept of every operation and registration, for the report.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "nic/units.h"
#include "ports/kernel.h"
#include "results/report.h"

namespace mtsim::system {

/// Names of ports::Step for people.
const std::vector<std::string>& step_names();

/// Is told of every work request that ends, besides the log.
class OperationWatcher {
 public:
  /// `port` is the host's on the switch.
  virtual void ended(std::uint32_t port, std::uint32_t qpn, const ports::Wqe& request, verbs::Status status) = 0;

 protected:
  ~OperationWatcher() = default;
};

class HazardLog;

/// Ended work requests of one host, by opcode.
class OperationLog : public sc_core::sc_module, public nic::OperationLog {
 public:
  explicit OperationLog(sc_core::sc_module_name name) : sc_module(name) {}

  void ended(std::uint32_t qpn, const ports::Wqe& request, verbs::Status status) override;
  void refused(Time at, std::uint32_t qpn, const verbs::Decision& decision) override;

  /// What ended before does not count.
  void restart();
  /// Whether to keep what operations waited for.
  void keep_waits(bool on) { keeps_waits_ = on; }
  /// `watcher` must outlive the log; `port` is what it is told of.
  void watch(OperationWatcher& watcher, std::uint32_t port);

  /// Notes of operations whose data were wrong are kept there; `port` as above.
  void follow(HazardLog& hazards, std::uint32_t port);
  /// Operations that ended with SUCCESS and wrong data.
  struct Wrong {
    std::uint64_t requests = 0, receives = 0;
  };
  const Wrong& wrong(verbs::Hazard kind) const { return wrong_[unsigned(kind)]; }

  struct Kept {
    std::uint64_t ended = 0, succeeded = 0, bytes = 0;
    results::LatencyTable latency;
    results::WaitTable waits;
  };
  const std::array<Kept, verbs::opcode_count>& kept() const { return kept_; }
  const std::array<std::uint64_t, verbs::status_count>& statuses() const { return statuses_; }
  struct Refused {
    Time at;
    std::uint32_t qpn = 0;
    verbs::Decision decision;
  };
  static constexpr std::size_t refusals_kept = 16;
  /// The first of them.
  const std::vector<Refused>& refusals() const { return refusals_; }
  std::uint64_t refusals_total() const { return refusals_total_; }

 private:
  void note_wrong(std::uint32_t qpn, const ports::Wqe& request);

  std::array<Kept, verbs::opcode_count> kept_;
  std::array<std::uint64_t, verbs::status_count> statuses_{};
  std::vector<Refused> refusals_;
  std::uint64_t refusals_total_ = 0;
  bool keeps_waits_ = true;
  std::array<Wrong, 3> wrong_{};  ///< by verbs::Hazard
  HazardLog* hazards_ = nullptr;
  std::vector<OperationWatcher*> watchers_;
  std::uint32_t port_ = 0;
};

/// Calls of reg_mr, rereg_mr and dereg_mr of one host, and what on-demand paging adds to them.
class RegistrationLog final : public ports::RegistrationObserver {
 public:
  RegistrationLog();
  void finished(const ports::RegistrationRecord& record) override;
  void restart();
  const results::CallStats& calls(ports::RegistrationRecord::Call call) const { return calls_[unsigned(call)]; }
  const ports::RegistrationCost& cost() const { return cost_; }

 private:
  std::array<results::CallStats, ports::registration_call_count> calls_;
  ports::RegistrationCost cost_;
};

}  // namespace mtsim::system
