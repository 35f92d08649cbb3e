#include "session.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/fingerprint.h"
#include "counters.h"
#include "run.h"
#include "sum.h"

namespace mtsim::replay {

const std::vector<std::string>& devices_of(const Options& options, const std::string& host) {
  const auto own = options.devices.find(host);
  return own == options.devices.end() ? options.devices.at("") : own->second;
}

namespace {

void refuse_unsupported(const program::Trace& trace) {
  std::vector<std::string> messages;
  for (const program::Program::Use& use : trace.uses())
    if (!Process::carried_out().contains(use.what))
      messages.push_back(fmt::format("{}: '{}' cannot be replayed on real verbs", use.place, use.what));
  if (!messages.empty()) throw UserError(std::move(messages));
}

/// Throws UserError for names of NICs that a host of this process has no device for.
void refuse_unknown_nics(const program::Trace& trace, const Options& options, const Peers* peers) {
  std::vector<std::string> messages;
  for (const program::Program::NicUse& use : trace.nics()) {
    if (peers != nullptr && !peers->is_local(use.host)) continue;
    const std::string& host = trace.names().hosts()[use.host];
    const std::size_t count = devices_of(options, host).size();
    if (program::nic_number(use.name).value_or(count) >= count)
      messages.push_back(fmt::format("{}: host {} has no NIC '{}': --device gives it {}", use.place, host, use.name, count));
  }
  if (!messages.empty()) throw UserError(std::move(messages));
}

std::string effective(const Options& options, const Ground& ground) {
  nlohmann::ordered_json replay;
  replay["device"] = ground.device;
  replay["driver"] = ground.driver;
  replay["firmware"] = ground.firmware;
  replay["kernel"] = ground.kernel;
  replay["port"] = options.port;
  replay["gid"] = options.gid;
  replay["rules"] = ground.rules;
  replay["time"] = options.time == program::ReplayTime::asap ? "asap" : "recorded";
  replay["limit"] = fmt::format("{}s", options.limit.count());
  replay["warmup"] = options.warmup;
  replay["repeat"] = options.repeat;
  return nlohmann::ordered_json{{"replay", replay}}.dump(2) + '\n';
}

}  // namespace

Ground look_at_system(const Options& options) {
  Ground ground;
  for (const auto& [host, devices] : options.devices)
    for (const std::string& device : devices) {
      if (!ground.device.empty()) ground.device += ',';
      ground.device += (host.empty() ? "" : host + '=') + device;
      if (ground.driver.empty()) ground.driver = driver_of(device);
    }
  utsname system{};
  uname(&system);
  ground.kernel = system.release;
  ground.rules = options.rules.empty() ? rules_of(ground.driver, ground.kernel) : options.rules;
  return ground;
}

Ground look_around(const Options& options) {
  Ground ground = look_at_system(options);
  for (const auto& [host, devices] : options.devices)
    for (const std::string& device : devices) {
      const Nic nic(device, options.port, options.gid);
      if (ground.firmware.empty() && driver_of(device) == ground.driver) ground.firmware = nic.attributes().fw_ver;
    }
  return ground;
}

Outcome run(const program::Trace& trace, const Options& options, const Ground& ground, Files files, const Company& company) {
  refuse_unsupported(trace);
  refuse_unknown_nics(trace, options, company.peers);
  company.turn.set_limit(options.limit);
  std::vector<std::string> devices;
  for (const auto& [host, names] : options.devices) devices.insert(devices.end(), names.begin(), names.end());
  if (company.peers != nullptr) devices = company.peers->counted_devices();

  Outcome whole;
  for (unsigned number = 0; number < options.warmup + options.repeat && whole.complete(); ++number) {
    const bool measured = number >= options.warmup;
    auto run = std::make_unique<Run>(trace, options, number == options.warmup ? files : Files{}, company);
    const Counts before = count_now(devices, options.port);
    run->run();
    const Counts after = count_now(devices, options.port);
    Outcome outcome = run->outcome();
    for (results::Counter& counter : counted_between(before, after)) outcome.report.counters.push_back(std::move(counter));
    // What hangs in the kernel cannot be ended, and would be waited for.
    whole.lost = run->lost();
    if (whole.lost) static_cast<void>(run.release());
    if (measured || !outcome.complete()) add(whole.report, outcome.report, How::after);
    whole.reason = std::move(outcome.reason);
    whole.stuck = std::move(outcome.stuck);
    whole.interrupted = outcome.interrupted;
  }
  results::Report& report = whole.report;
  report.version = MTSIM_VERSION;
  report.trace = trace.title();
  report.trace_hash = trace.hash();
  report.measured_on =
      fmt::format("{} ({}, Linux {})", ground.device, ground.driver.empty() ? "unknown driver" : ground.driver, ground.kernel);
  report.config = effective(options, ground);
  report.config_hash = fingerprint(report.config);
  return whole;
}

}  // namespace mtsim::replay
