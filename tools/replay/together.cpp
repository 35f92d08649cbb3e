#include "together.h"

#include <fmt/format.h>

#include <exception>
#include <fstream>

#include "results/json.h"
#include "rows.h"
#include "sum.h"

namespace mtsim::replay {
namespace {

constexpr std::size_t piece = std::size_t{256} << 10;

/// What this process writes of its own hosts, before that of others comes to it.
struct Own {
  explicit Own(const Wanted& wanted) {
    if (wanted.operations) {
      operations = std::make_unique<Part>();
      requests = std::make_unique<results::OperationsFile>(operations->file(), request_steps(), std::span<const char* const>());
    }
    if (wanted.calls) {
      calls = std::make_unique<Part>();
      lines = std::make_unique<results::BlockWriter>(calls->file());
      lines->add(calls_header());
    }
  }
  void finish() {
    if (requests) requests->finish();
    if (lines) lines->finish();
    if (operations) operations->finish();
    if (calls) calls->finish();
  }

  std::unique_ptr<Part> operations, calls;
  std::unique_ptr<results::OperationsFile> requests;
  std::unique_ptr<results::BlockWriter> lines;
};

/// Rows of one file, by the first host of the process that wrote them.
struct Parts {
  std::map<std::uint32_t, std::unique_ptr<Part>> of;

  void add(std::uint32_t host, const std::string& text) {
    auto& part = of[host];
    if (!part) part = std::make_unique<Part>();
    part->file().write(text);
  }
  void merge(Part& own, results::OutputFile& out) {
    std::vector<std::string> paths{own.path()};
    for (const auto& [host, part] : of) {
      part->finish();
      paths.push_back(part->path());
    }
    merge_rows(paths, out);
  }
};

void send_rows(Peers& peers, bool calls, const Part& part) {
  std::ifstream in(part.path());
  std::string text(piece, '\0');
  while (in) {
    in.read(text.data(), piece);
    if (in.gcount() > 0) peers.deliver_rows(calls, text.substr(0, static_cast<std::size_t>(in.gcount())));
  }
}

void deliver(const Outcome& outcome, const Own& own, const Company& company) {
  Peers& peers = *company.peers;
  const std::string report = results::to_json(outcome.report);
  company.turn.take();
  peers.deliver(report, outcome.stuck);
  if (own.operations) send_rows(peers, false, *own.operations);
  if (own.calls) send_rows(peers, true, *own.calls);
  peers.delivered();
  company.turn.pass();
}

void collect(Outcome& outcome, Own& own, const Company& company, results::OutputFile* operations, results::OutputFile* calls) {
  Parts requests, lines;
  std::exception_ptr failure;
  const auto take = [&](std::uint32_t host, bool is_calls, const std::string& text) {
    try {
      if (!failure) (is_calls ? lines : requests).add(host, text);
    } catch (...) { failure = std::current_exception(); }
  };
  company.turn.take();
  const std::vector<Delivery> deliveries = company.peers->collect(take);
  if (outcome.complete() && company.turn.given_up()) outcome.reason = company.turn.reason();
  company.turn.pass();
  if (failure) std::rethrow_exception(failure);
  if (company.turn.given_up()) outcome.report.partial = true;
  for (const Delivery& delivery : deliveries) {
    const results::Report report =
        results::parse_json(delivery.report, "results of " + company.peers->membership().hosts_text(delivery.hosts)).at(0).report;
    add(outcome.report, report, How::beside);
    if (outcome.report.measured_on.find(report.measured_on) == std::string::npos) outcome.report.measured_on += ", " + report.measured_on;
    outcome.stuck.insert(outcome.stuck.end(), delivery.stuck.begin(), delivery.stuck.end());
  }
  if (own.operations) requests.merge(*own.operations, *operations);
  if (own.calls) lines.merge(*own.calls, *calls);
}

}  // namespace

Outcome run_together(const program::Trace& trace, const Options& options, const Ground& ground, const Company& company,
                     results::OutputFile* operations, results::OutputFile* calls) {
  try {
    Own own(company.peers->wanted());
    Outcome outcome = run(trace, options, ground, {own.requests.get(), own.lines.get()}, company);
    own.finish();
    if (company.peers->membership().hub()) collect(outcome, own, company, operations, calls);
    else deliver(outcome, own, company);
    return outcome;
  } catch (const std::exception& error) {
    company.turn.take();
    company.turn.give_up(fmt::format("{}: {}", company.peers->membership().own_text(), error.what()));
    company.turn.pass();
    throw;
  }
}

Membership membership_of(const program::Trace& trace, const Options& options, std::set<std::uint32_t> own) {
  Membership out;
  out.version = MTSIM_VERSION;
  out.trace_hash = trace.hash();
  out.trace_title = trace.title();
  out.hosts = trace.names().hosts();
  for (const std::uint32_t host : own)
    for (const std::string& device : devices_of(options, out.hosts[host]))
      if (std::find(out.devices.begin(), out.devices.end(), device) == out.devices.end()) out.devices.push_back(device);
  out.own = std::move(own);
  out.time = options.time == program::ReplayTime::asap ? "asap" : "recorded";
  out.warmup = options.warmup;
  out.repeat = options.repeat;
  out.boot = boot_id();
  return out;
}

}  // namespace mtsim::replay
