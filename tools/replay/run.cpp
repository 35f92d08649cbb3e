#include "run.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "remote_process.h"

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

std::string what(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) { return error.what(); } catch (...) {
    return "unknown";
  }
}

}  // namespace

Run::Run(const program::Trace& trace, const Options& options, Files files, const Company& company)
    : trace_(trace),
      options_(options),
      turn_(company.turn),
      peers_(company.peers),
      record_(trace.names(), files),
      around_{turn_, record_, peers_, {}},
      watch_(record_, peers_),
      meeting_(around_, static_cast<std::uint32_t>(trace.names().barrier_count())) {
  const auto& uses = trace.uses();
  around_.sleeping_polls = std::any_of(uses.begin(), uses.end(), [](const auto& use) { return use.what == "poll wait=event"; });
  const program::Names& names = trace.names();
  const auto count = static_cast<std::uint32_t>(names.hosts().size());
  std::vector<verbs::Device*> devices;
  for (std::uint32_t host = 0; host < count; ++host) {
    if (peers_ != nullptr && !peers_->is_local(host)) {
      processes_.push_back(nullptr);
      others_.push_back(std::make_unique<RemoteProcess>(*peers_, host));
      devices.push_back(others_.back().get());
      continue;
    }
    std::vector<std::unique_ptr<Nic>> nics;
    for (const std::string& device : devices_of(options, names.hosts()[host]))
      nics.push_back(std::make_unique<Nic>(device, options.port, options.gid));
    const auto threads = std::count_if(names.actors().begin(), names.actors().end(), [&](const auto& a) { return a.host == host; });
    processes_.push_back(std::make_unique<Process>(around_, host, count, std::move(nics), static_cast<std::size_t>(threads)));
    devices.push_back(processes_.back().get());
  }
  actors_ = std::make_unique<program::Actors>(trace, devices, meeting_, watch_, options.time);
  record_.line_from(actors_.get());
  if (peers_ == nullptr) return;
  turn_.take();
  peers_->attach(*this);
  turn_.pass();
}

Run::~Run() {
  if (peers_ == nullptr) return;
  turn_.take();
  peers_->detach();
  turn_.pass();
}

void Run::run() {
  const Interruptible interruptible;
  turn_.take();
  begin();
  for (program::ActorId id = 0; id < trace_.names().actors().size(); ++id) running_ += is_local(id);
  std::vector<std::thread> threads;
  for (program::ActorId id = 0; id < trace_.names().actors().size(); ++id)
    if (is_local(id)) threads.emplace_back([this, id] { be(id); });
  supervise();
  end();
  turn_.pass();
  for (std::thread& thread : threads) {
    if (lost_) thread.detach();
    else thread.join();
  }
  for (const auto& process : processes_)
    if (process) end_ = process->now();
  if (failure_) std::rethrow_exception(failure_);
  if (lost_) return;
  for (const auto& process : processes_)
    if (process) process->finish();
}

void Run::begin() {
  turn_.got_on();
  around_.start = WallClock::now();
  if (peers_ == nullptr) return;
  try {
    around_.start = peers_->start();
  } catch (const GivenUp&) {
    // The threads find it out, each where it stands.
  }
  turn_.got_on();
}

void Run::end() {
  if (peers_ == nullptr || turn_.given_up()) return;
  // Others may still use what belongs to this process.
  try {
    peers_->end();
  } catch (const GivenUp&) {
    // Said by whoever gave up.
  }
}

void Run::learn(program::NameId name, const program::Object& object) {
  const program::Names& names = trace_.names();
  if (name < names.object_count() && processes_[names.host_of(name)] == nullptr) actors_->learn(name, object);
}

void Run::be(program::ActorId id) {
  turn_.take();
  try {
    turn_.check();
    actors_->start(id);
  } catch (const GivenUp&) {
    // Said by whoever gave up.
  } catch (...) {
    if (!failure_) failure_ = std::current_exception();
    turn_.give_up(what(failure_));
  }
  --running_;
  turn_.announce();
  turn_.pass();
}

void Run::supervise() {
  // No call of a kernel takes that long beyond what is asked of it; the slowest that is known waits 50 s for references to a QP.
  const WallClock::duration longest = turn_.limit() + std::chrono::seconds(90);
  while (running_ != 0) {
    WallClock::duration in_call{};
    for (program::ActorId id = 0; id < trace_.names().actors().size(); ++id) {
      if (!is_local(id)) continue;
      const auto& actor = trace_.names().actors()[id];
      const auto lasts = processes_[actor.host]->in_call(actor.thread);
      in_call = std::max(in_call, lasts);
      if (lasts > longest) turn_.give_up(fmt::format("{}: the call does not return", actors_->where(id)));
    }
    if (in_call > longest) {
      lost_ = true;
      return;
    }
    if (interrupt_seen != 0) turn_.give_up(peers_ == nullptr ? "interrupted" : peers_->membership().own_text() + ": interrupted");
    if (peers_ != nullptr) peers_->notify();
    const Turn::Away elsewhere(turn_);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Outcome Run::outcome() const {
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
  if (!out.interrupted) out.reason = turn_.reason();
  for (program::ActorId id = 0; id < trace_.names().actors().size(); ++id)
    if (is_local(id) && !actors_->done(id)) out.stuck.push_back("  " + actors_->where(id));
  return out;
}

}  // namespace mtsim::replay
