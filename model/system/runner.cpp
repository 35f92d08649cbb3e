#include "system/runner.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "results/json.h"
#include "results/progress.h"
#include "system/simulation.h"

namespace mtsim::system {
namespace {

// A signal handler can reach nothing but what has static storage.
std::atomic<Simulation*> running{nullptr};
std::atomic<bool> interrupt_seen{false};

void on_interrupt(int) {
  interrupt_seen.store(true);
  if (Simulation* simulation = running.load()) simulation->request_stop();
}

/// How often a parent looks whether it was interrupted.
constexpr int interrupt_look_ms = 100;

/// SIGINT stops the simulation cleanly while this lives.
class Interruptible {
 public:
  explicit Interruptible(Simulation* simulation) {
    running.store(simulation);
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, &before_);
  }
  ~Interruptible() {
    sigaction(SIGINT, &before_, nullptr);
    running.store(nullptr);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  struct sigaction before_ {};
};

struct Finished {
  results::Report report;
  std::vector<std::string> stuck, told;
};

Finished simulate(const Plan& plan, const RunOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  // Opened first: a path that cannot be written is known before a long run, not after it.
  RunFiles files(plan.variant.empty() ? options.recording : for_variant(options.recording, plan.variant));
  Simulation simulation(plan, files.recording());
  {
    const Interruptible interruptible(&simulation);
    // In a child the signal may have come before there was a simulation to stop.
    if (interrupt_seen) simulation.request_stop();
    results::ProgressLine line(std::cerr, options.progress, plan.program->size(), plan.variant);
    simulation.run([&](const Simulation::Heartbeat& beat) { line.update(beat.simulated, beat.operations); });
  }
  Finished out{simulation.report(), simulation.stuck(), {}};
  out.told = files.commit(out.report);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const double per_second = seconds > 0 ? 1 / seconds : 0;
  out.report.machine = results::Machine{seconds, static_cast<double>(simulation.operations()) * per_second,
                                        static_cast<double>(simulation.scheduler().timed_events()) * per_second};
  return out;
}

/// A variant in a process of its own: it writes its outcome to a pipe as tagged texts.
class Child {
 public:
  Child(const Plan& plan, const RunOptions& options) : name_(plan.variant) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("cannot start a process");
    if (pid_ == 0) {
      close(ends[0]);
      _exit(work(plan, options, ends[1]));
    }
    close(ends[1]);
    from_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (from_ >= 0) close(from_);
  }

  /// Waits for it and takes over what it found.
  Finished finish() {
    std::string text;
    char buffer[65536];
    bool told = false;
    for (;;) {
      // A terminal interrupts the children too; a signal sent to this process alone has to be passed on.
      if (interrupt_seen && !told) told = kill(pid_, SIGINT) == 0;
      pollfd ready{from_, POLLIN, 0};
      if (poll(&ready, 1, interrupt_look_ms) <= 0) continue;
      const ssize_t n = read(from_, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      text.append(buffer, static_cast<std::size_t>(n));
    }
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
    if (text.empty()) throw std::runtime_error("variant '" + name_ + "' ended without a result");
    const std::string body = text.substr(1);
    if (text[0] == 'E') throw UserError("variant '" + name_ + "': " + body);
    if (text[0] == 'F') throw std::runtime_error("variant '" + name_ + "': " + body);
    Finished out;
    const std::size_t split = body.find('\0');
    out.report = results::parse_json(std::string_view(body).substr(0, split), "variant " + name_).front().report;
    for (std::size_t at = split + 1; at < body.size();) {
      const std::size_t end = body.find('\0', at);
      (body[at] == 'S' ? out.stuck : out.told).push_back(body.substr(at + 1, end - at - 1));
      at = end + 1;
    }
    return out;
  }

 private:
  static int work(const Plan& plan, const RunOptions& options, int to) {
    std::string text;
    try {
      const Finished finished = simulate(plan, options);
      text = "R" + results::to_json(finished.report);
      text += '\0';
      for (const std::string& line : finished.stuck) text += 'S' + line + '\0';
      for (const std::string& line : finished.told) text += 'T' + line + '\0';
    } catch (const UserError& error) { text = std::string("E") + error.what(); } catch (const std::exception& error) {
      text = std::string("F") + error.what();
    }
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t n = write(to, text.data() + done, text.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return 1;
      done += static_cast<std::size_t>(n);
    }
    return 0;
  }

  std::string name_;
  pid_t pid_ = -1;
  int from_ = -1;
};

}  // namespace

Outcome run_plans(const std::vector<Plan>& plans, const RunOptions& options) {
  Outcome outcome;
  const auto keep = [&](const Plan& plan, Finished finished) {
    outcome.variants.push_back({plan.variant, std::move(finished.report)});
    outcome.stuck.push_back(std::move(finished.stuck));
    outcome.told.push_back(std::move(finished.told));
  };
  if (plans.size() == 1 && plans.front().variant.empty()) {
    keep(plans.front(), simulate(plans.front(), options));
  } else {
    std::vector<std::string> names;
    for (const Plan& plan : plans) names.push_back(plan.variant);
    check_paths(options.recording, names);
    // The parent waits: an interrupt reaches its children too, and their partial results must still be gathered.
    const Interruptible interruptible(nullptr);
    const std::size_t together = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::unique_ptr<Child>> children;
    RunOptions quiet = options;
    if (plans.size() > 1 && together > 1) quiet.progress = false;
    for (std::size_t next = 0, taken = 0; taken < plans.size(); ++taken) {
      for (; next < plans.size() && next < taken + together && !interrupt_seen; ++next)
        children.push_back(std::make_unique<Child>(plans[next], next == taken ? options : quiet));
      if (taken >= children.size()) break;
      keep(plans[taken], children[taken]->finish());
      children[taken].reset();
    }
  }
  outcome.interrupted = interrupt_seen;
  return outcome;
}

}  // namespace mtsim::system
