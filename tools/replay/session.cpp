#include "session.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/fingerprint.h"
#include "counters.h"
#include "meeting.h"
#include "process.h"

namespace mtsim::replay {
namespace {

// A signal handler can reach nothing but what has static storage.
volatile std::sig_atomic_t interrupt_seen = 0;
void on_interrupt(int) { interrupt_seen = 1; }

/// SIGINT ends the run cleanly while this lives.
class Interruptible {
 public:
  Interruptible() {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, &before_);
  }
  ~Interruptible() { sigaction(SIGINT, &before_, nullptr); }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  struct sigaction before_ {};
};

const std::vector<std::string>& devices_of(const Options& options, const std::string& host) {
  const auto own = options.devices.find(host);
  return own == options.devices.end() ? options.devices.at("") : own->second;
}

/// Counts what actors meet, and passes on what QPs are called.
class Watch final : public program::Observer {
 public:
  explicit Watch(Record& record) : record_(record) {}
  void called(program::Kind kind, int error) override { tally.called(kind, error); }
  void lacked_object(program::Kind kind) override { tally.lacked_object(kind); }
  void left_unposted(std::uint64_t wr) override { tally.left_unposted(wr); }
  void completed(verbs::Opcode opcode, verbs::Status status) override { tally.completed(opcode, status); }
  void made_qp(program::NameId name, std::uint32_t qpn) override { record_.name_qp(name, qpn); }
  void unexpected(const program::Surprise& surprise) override { tally.unexpected(surprise); }

  program::Tally tally;

 private:
  Record& record_;
};

/// One run of the trace: devices, threads, what came out.
class Run {
 public:
  Run(const program::Trace& trace, const Options& options, Files files)
      : trace_(trace), options_(options), record_(trace.names(), files), watch_(record_) {
    turn_.set_limit(options.limit);
    const auto& uses = trace.uses();
    around_.sleeping_polls = std::any_of(uses.begin(), uses.end(), [](const auto& use) { return use.what == "poll wait=event"; });
    const program::Names& names = trace.names();
    std::vector<verbs::Device*> devices;
    for (std::uint32_t host = 0; host < names.hosts().size(); ++host) {
      std::vector<std::unique_ptr<Nic>> nics;
      for (const std::string& device : devices_of(options, names.hosts()[host]))
        nics.push_back(std::make_unique<Nic>(device, options.port, options.gid));
      const auto threads = std::count_if(names.actors().begin(), names.actors().end(), [&](const auto& a) { return a.host == host; });
      processes_.push_back(std::make_unique<Process>(around_, host, static_cast<std::uint32_t>(names.hosts().size()), std::move(nics),
                                                     static_cast<std::size_t>(threads)));
      devices.push_back(processes_.back().get());
    }
    actors_ = std::make_unique<program::Actors>(trace, devices, meeting_, watch_, options.time);
    record_.line_from(actors_.get());
  }

  void run() {
    const Interruptible interruptible;
    around_.start = WallClock::now();
    turn_.got_on();
    running_ = trace_.names().actors().size();
    std::vector<std::thread> threads;
    for (program::ActorId id = 0; id < trace_.names().actors().size(); ++id) threads.emplace_back([this, id] { be(id); });
    turn_.take();
    supervise();
    turn_.pass();
    for (std::thread& thread : threads) {
      if (lost_) thread.detach();
      else thread.join();
    }
    end_ = processes_.empty() ? Time() : processes_.front()->now();
    if (failure_) std::rethrow_exception(failure_);
    if (!lost_)
      for (const auto& process : processes_) process->finish();
  }

  Outcome outcome() const {
    Outcome out;
    record_.fill(out.report);
    out.report.simulated = out.report.window_end = end_;
    out.report.partial = turn_.given_up();
    out.report.unexpected_total = watch_.tally.surprises();
    for (const program::Surprise& s : watch_.tally.first_surprises())
      out.report.unexpected.push_back({s.line, trace_.names().actors()[s.actor].name, s.operation, s.expected, s.got});
    for (unsigned kind = 0; kind < program::kind_count; ++kind)
      if (const auto& failures = watch_.tally.failures(program::Kind(kind)); !failures.empty())
        out.report.failed_calls[std::string(program::name(program::Kind(kind)))] = failures;
    out.interrupted = interrupt_seen != 0;
    if (!turn_.given_up()) return out;
    if (!out.interrupted) out.stuck.push_back(turn_.reason());
    for (const std::string& line : actors_->standing()) out.stuck.push_back("  " + line);
    return out;
  }
  /// A thread hangs in the kernel: nothing can be cleaned up, the process can only end.
  bool lost() const { return lost_; }

 private:
  /// An actor's thread.
  void be(program::ActorId id) {
    turn_.take();
    try {
      turn_.check();
      actors_->start(id);
    } catch (const GivenUp&) {
      // Said by whoever gave up.
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
      turn_.give_up("");
    }
    --running_;
    turn_.announce();
    turn_.pass();
  }

  /// Waits for all threads; has the turn.
  void supervise() {
    // No call of a kernel takes that long beyond what is asked of it; the slowest that is known waits 50 s for references to a QP.
    const WallClock::duration longest = turn_.limit() + std::chrono::seconds(90);
    while (running_ != 0) {
      WallClock::duration in_call{};
      for (program::ActorId id = 0; id < trace_.names().actors().size(); ++id) {
        const auto& actor = trace_.names().actors()[id];
        const auto lasts = processes_[actor.host]->in_call(actor.thread);
        in_call = std::max(in_call, lasts);
        if (lasts > longest) turn_.give_up(fmt::format("{}: the call does not return", actors_->where(id)));
      }
      if (in_call > longest) {
        lost_ = true;
        return;
      }
      if (interrupt_seen != 0) turn_.give_up("");
      const Turn::Away elsewhere(turn_);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  const program::Trace& trace_;
  const Options& options_;
  Turn turn_;
  Record record_;
  Surroundings around_{turn_, record_, {}};
  Watch watch_;
  Meeting meeting_{around_};
  std::vector<std::unique_ptr<Process>> processes_;
  std::unique_ptr<program::Actors> actors_;
  std::size_t running_ = 0;  ///< threads
  std::exception_ptr failure_;
  bool lost_ = false;
  Time end_;
};

/// Adds what a further run came to.
void add(results::Report& sum, const results::Report& more) {
  for (const results::OperationStats& op : more.operations) {
    auto at = std::find_if(sum.operations.begin(), sum.operations.end(), [&](const auto& o) { return o.opcode >= op.opcode; });
    if (at == sum.operations.end() || at->opcode != op.opcode) {
      sum.operations.insert(at, op);
      continue;
    }
    at->posted += op.posted;
    at->completed += op.completed;
    at->bytes += op.bytes;
    at->latency.merge(op.latency);
  }
  const auto add_calls = [](results::CallStats& to, const results::CallStats& from) {
    to.calls += from.calls;
    for (const auto& [error, count] : from.failed) to.failed[error] += count;
    to.bytes += from.bytes;
    to.pages += from.pages;
    to.latency.merge(from.latency);
  };
  const auto add_named = [&](std::vector<results::NamedCalls>& to, const std::vector<results::NamedCalls>& from) {
    for (const results::NamedCalls& calls : from) {
      const auto at = std::find_if(to.begin(), to.end(), [&](const auto& c) { return c.name == calls.name; });
      if (at == to.end()) to.push_back(calls);
      else add_calls(*at, calls);
    }
  };
  for (unsigned status = 0; status < verbs::status_count; ++status) sum.completions[status] += more.completions[status];
  add_calls(sum.registration.reg_mr, more.registration.reg_mr);
  add_calls(sum.registration.dereg_mr, more.registration.dereg_mr);
  add_named(sum.registration.others, more.registration.others);
  add_named(sum.calls, more.calls);
  sum.registration.pinned_now = more.registration.pinned_now;
  sum.registration.pinned_most = std::max(sum.registration.pinned_most, more.registration.pinned_most);
  sum.unexpected_total += more.unexpected_total;
  for (const results::Unexpected& u : more.unexpected)
    if (sum.unexpected.size() < program::Tally::kept) sum.unexpected.push_back(u);
  for (const auto& [call, by_errno] : more.failed_calls)
    for (const auto& [error, count] : by_errno) sum.failed_calls[call][error] += count;
  for (const results::Counter& counter : more.counters) {
    const auto at = std::find_if(sum.counters.begin(), sum.counters.end(), [&](const auto& c) { return c.name == counter.name; });
    if (at == sum.counters.end()) sum.counters.push_back(counter);
    else at->value += counter.value;
  }
  sum.partial = sum.partial || more.partial;
  sum.simulated += more.simulated;
  sum.window_end += more.window_end;
}

void refuse_unsupported(const program::Trace& trace) {
  std::vector<std::string> messages;
  for (const program::Program::Use& use : trace.uses())
    if (!Process::carried_out().contains(use.what))
      messages.push_back(fmt::format("{}: '{}' cannot be replayed on real verbs", use.place, use.what));
  if (!messages.empty()) throw UserError(std::move(messages));
}

/// Throws UserError for names of NICs that a host has no device for.
void refuse_unknown_nics(const program::Trace& trace, const Options& options) {
  std::vector<std::string> messages;
  for (const program::Program::NicUse& use : trace.nics()) {
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

Ground look_around(const Options& options) {
  Ground ground;
  for (const auto& [host, devices] : options.devices)
    for (const std::string& device : devices) {
      const Nic nic(device, options.port, options.gid);
      if (!ground.device.empty()) ground.device += ',';
      ground.device += (host.empty() ? "" : host + '=') + device;
      if (!ground.driver.empty()) continue;
      ground.driver = driver_of(device);
      ground.firmware = nic.attributes().fw_ver;
    }
  utsname system{};
  uname(&system);
  ground.kernel = system.release;
  ground.rules = options.rules.empty() ? rules_of(ground.driver, ground.kernel) : options.rules;
  return ground;
}

Outcome run(const program::Trace& trace, const Options& options, const Ground& ground, Files files) {
  refuse_unsupported(trace);
  refuse_unknown_nics(trace, options);
  std::vector<std::string> devices;
  for (const auto& [host, names] : options.devices) devices.insert(devices.end(), names.begin(), names.end());

  Outcome whole;
  for (unsigned number = 0; number < options.warmup + options.repeat; ++number) {
    const bool measured = number >= options.warmup;
    auto run = std::make_unique<Run>(trace, options, number == options.warmup ? files : Files{});
    const Counts before = count_now(devices, options.port);
    run->run();
    const Counts after = count_now(devices, options.port);
    Outcome outcome = run->outcome();
    for (results::Counter& counter : counted_between(before, after)) outcome.report.counters.push_back(std::move(counter));
    // What hangs in the kernel cannot be ended, and would be waited for.
    if (run->lost()) static_cast<void>(run.release());
    if (measured || !outcome.stuck.empty() || outcome.interrupted) add(whole.report, outcome.report);
    whole.stuck = std::move(outcome.stuck);
    whole.interrupted = outcome.interrupted;
    if (!whole.stuck.empty() || whole.interrupted) break;
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
