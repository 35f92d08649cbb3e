// The keys of a driver over time: hands them out by the policy, and has the policy's chores carried out by firmware commands, which
// contend with those of calls for the command slots and the firmware. The kernel's worker threads take no CPU time here.
#pragma once

#include "engine/flow.h"
#include "engine/scheduler.h"
#include "kernel/driver_params.h"
#include "kernel/key_policy.h"
#include "ports/nic.h"

namespace mtsim::kernel {

class KeyKeeper {
 public:
  /// References outlive the keeper.
  KeyKeeper(engine::Scheduler& scheduler, const DriverParams& params, KeyPolicy& policy, ports::Command& command)
      : scheduler_(scheduler), params_(params), policy_(policy), command_(command) {}

  /// Begins what the policy wants done from the start.
  void start() { tend(); }
  std::optional<KeyGrant> take(std::uint64_t entries, verbs::Access access) { return take(KeyNeed{entries, params_.fixed_access(access)}); }
  std::optional<KeyGrant> take(const KeyNeed& need) {
    const auto grant = policy_.take(need, scheduler_.now());
    tend();
    return grant;
  }
  bool of_device() const { return policy_.of_device(); }
  bool keeps(const KeyGrant& grant) const { return policy_.keeps(grant); }
  void give_back(const KeyGrant& grant) {
    policy_.give_back(grant, scheduler_.now());
    tend();
  }
  std::vector<KeyCount> counts() const { return policy_.counts(); }

 private:
  void tend() {
    while (const auto chore = policy_.next_chore(scheduler_.now())) scheduler_.spawn(carry_out(*chore));
  }
  engine::Flow carry_out(KeyChore chore);

  engine::Scheduler& scheduler_;
  const DriverParams& params_;
  KeyPolicy& policy_;
  ports::Command& command_;
};

}  // namespace mtsim::kernel
