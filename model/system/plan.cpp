#include "system/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "program/trace_reader.h"
#include "program/workload.h"
#include "system/component_keys.h"
#include "user/sim_device.h"

namespace mtsim::system {
namespace {

std::unique_ptr<program::Program> workload_of(const Config& config) {
  if (!config.has("workload")) return nullptr;
  const std::string kind = config.word("workload.kind", "", workload_key().names());
  return program::Workloads::make(kind, config);
}

/// Throws a UserError that tells each NIC which the program names and its host has not.
void refuse_unknown_nics(const program::Program& program, const std::vector<HostSettings>& hosts) {
  std::vector<std::string> messages;
  for (const program::Program::NicUse& use : program.nics()) {
    std::vector<std::string> known;
    for (std::uint32_t number = 0; number < hosts[use.host].nics; ++number) known.push_back(program::nic_name(number));
    if (std::find(known.begin(), known.end(), use.name) != known.end()) continue;
    messages.push_back(fmt::format("{}: host {} has no NIC '{}'; with host.nics={} it has {}{}", use.place,
                                   program.names().hosts()[use.host], use.name, known.size(), fmt::join(known, ", "),
                                   did_you_mean(use.name, known)));
  }
  if (!messages.empty()) throw UserError(std::move(messages));
}

}  // namespace

Plan make_plan(const Config& config, const std::optional<std::string>& trace, std::optional<program::ReplayTime> time) {
  Plan plan;
  plan.settings = read_settings(config);
  plan.time = time.value_or(plan.settings.replay.time);
  // The workload is read even when a trace takes its place: for its mistakes.
  plan.program = workload_of(config);
  if (trace) {
    program::TraceOptions options;
    options.rules = plan.settings.rules;
    plan.program = program::open_trace(*trace, options);
  }
  std::vector<std::string> hosts = config.host_names();
  if (plan.program) {
    const auto& used = plan.program->names().hosts();
    for (const std::string& host : used) plan.hosts.push_back(read_host(config, host));
    // Hosts that the program does not use are read as well, for their mistakes.
    std::erase_if(hosts, [&](const std::string& host) { return std::find(used.begin(), used.end(), host) != used.end(); });
  }
  for (const std::string& host : hosts) read_host(config, host);
  // Without any host the common settings have had no reader, and would all be taken for unknown keys.
  if (plan.hosts.empty() && hosts.empty()) read_host(config, "");
  config.finish();
  if (!plan.program) throw UserError("nothing to run: the configuration has no workload and no trace was given");
  refuse_unknown_nics(*plan.program, plan.hosts);
  plan.follows_data = follows_data(*plan.program, plan.settings.replay.hazards);
  program::refuse_unsupported(*plan.program, user::SimDevice::carried_out());
  plan.config_text = config.effective_json();
  plan.config_hash = config.hash();
  return plan;
}

}  // namespace mtsim::system
