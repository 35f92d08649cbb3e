// Does every operation's latency come apart into service and waits, step by step, on whatever hardware and whatever is run?
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "properties/random_settings.h"
#include "support/system_run.h"
#include "system/host.h"

using namespace mtsim;
using namespace mtsim::test;
using ports::Cause;
using ports::Step;

namespace {

/// Looks at each operation as it ends.
class Check final : public system::OperationWatcher {
 public:
  std::uint64_t operations = 0, waits = 0;
  std::set<Cause> causes;
  std::map<verbs::Opcode, std::int64_t> least_service;

  void ended(std::uint32_t, std::uint32_t qpn, const ports::Wqe& request, verbs::Status status) override {
    INFO("QP " << qpn << ' ' << verbs::name(request.opcode) << " wr=" << request.wr << ' ' << verbs::name(status));
    std::array<std::int64_t, ports::step_count> time{}, waited{};
    Time at = request.begin;
    for (unsigned i = 0; i < ports::step_count; ++i) {
      time[i] = (std::max(request.stamp[i], at) - at).raw;
      at = std::max(request.stamp[i], at);
    }
    std::int64_t sum = 0;
    for (const ports::Waits::Entry wait : request.waits) {
      REQUIRE(wait.span > 0);
      REQUIRE(wait.cause() != Cause::several);
      waited[unsigned(wait.step())] += wait.span;
      sum += wait.span;
      causes.insert(wait.cause());
      ++waits;
    }
    const std::int64_t latency = (at - request.begin).raw;
    REQUIRE(sum <= latency);
    ++operations;
    if (status != verbs::Status::SUCCESS) return;
    // A look-up is told as one.
    for (const Step step : {Step::translation, Step::responder_translation}) time[unsigned(step)] += time[unsigned(step) - 1];
    for (unsigned i = 0; i < ports::step_count; ++i) {
      INFO("step " << i << ": waited " << waited[i] << " of " << time[i]);
      REQUIRE(waited[i] <= time[i]);
    }
    std::int64_t& least = least_service.try_emplace(request.opcode, latency - sum).first->second;
    least = std::min(least, latency - sum);
  }
};

struct Watched {
  results::Report report;
  std::vector<std::string> stuck;
  Check check;
};

void run_watched(const std::vector<std::string>& sets, const std::optional<std::string>& trace, Watched& out) {
  const FreshSystemC context;
  const system::Plan plan = system::make_plan(Config::load("configs/base.yaml", sets), trace, program::ReplayTime::asap);
  system::Simulation simulation(plan);
  for (std::uint32_t port = 0; port < simulation.hosts().size(); ++port) simulation.hosts()[port]->operations.watch(out.check, port);
  simulation.run();
  out.report = simulation.report();
  out.stuck = simulation.stuck();
}

}  // namespace

TEST_CASE("Waits of each operation lie within its steps, on random runs") {
  std::uint64_t waits = 0;
  std::set<Cause> causes;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const RandomSettings settings(seed);
    INFO("seed " << seed << ": " << settings.listed());
    Watched run;
    run_watched(settings.sets(), {}, run);
    REQUIRE(run.stuck == std::vector<std::string>{});
    CHECK(run.check.operations > 0);
    waits += run.check.waits;
    causes.merge(run.check.causes);
    // What the report adds up is what the operations said.
    for (const results::OperationStats& o : run.report.operations) {
      results::TotalTime sum;
      for (const results::WaitStats& w : o.waits) {
        INFO(w.name);
        sum += w.total;
        CHECK(w.operations <= o.latency.latency().count());
        CHECK(w.p99 <= w.longest);
        CHECK(static_cast<long long>(w.total.raw) <= w.longest.raw * static_cast<long long>(w.operations));
      }
      CHECK(static_cast<long long>(sum.raw) <= static_cast<long long>(o.latency.latency().sum().raw));
    }
  }
  CHECK(waits > 10'000);
  for (const Cause cause : {Cause::context_fetch, Cause::tags, Cause::pcie_credits}) {
    INFO(ports::cause_names[unsigned(cause)]);
    CHECK(causes.count(cause) == 1);
  }
}

TEST_CASE("Waits of each operation lie within its steps where caches and fetches of WQEs take few at a time") {
  std::set<Cause> causes;
  for (unsigned seed = 1; seed <= 16; ++seed) {
    const RandomSettings settings(seed);
    std::vector<std::string> sets = settings.sets();
    sets.emplace_back("provider.blueflame=0B");
    sets.emplace_back("nic.requester.wqe_fetches=1");
    for (const std::string cache : {"nic.mpt_cache", "nic.mtt_cache"}) {
      sets.push_back(cache + ".on_miss=" + (seed % 2 == 0 ? "stall" : "pass"));
      sets.push_back(cache + ".interval=" + (seed % 4 < 2 ? "40ns" : "0ns"));
    }
    INFO("seed " << seed << ": " << settings.listed());
    Watched run;
    run_watched(sets, {}, run);
    REQUIRE(run.stuck == std::vector<std::string>{});
    CHECK(run.check.operations > 0);
    causes.merge(run.check.causes);
  }
  CHECK(causes.count(Cause::cache) == 1);
  CHECK(causes.count(Cause::wqe_place) == 1);
}

TEST_CASE("Waits of messages, atomics, retries and failures lie within their steps") {
  for (const char* trace :
       {"stale_key", "linked_list", "dereg_while_posting", "atomics", "flushed_receives", "receiver_not_ready", "rnr_retry_exceeded",
        "retry_exceeded", "shared_receive_queue", "unreliable_connection", "write_with_immediate", "zero_length", "inline",
        "recorded/ib_atomic_bw-cas-q4", "recorded/ib_read_bw-1m-q2", "recorded/ib_send_bw-64k-q4-bidir", "recorded/ib_write_bw-uc"}) {
    INFO(trace);
    Watched run;
    run_watched({}, std::string("traces/") + trace + ".mtrace", run);
    CHECK(run.check.operations > 0);
  }
}

TEST_CASE("One operation at a time waits for nothing but its own table fetches, whatever the block") {
  for (const char* opcode : {"read", "write"})
    for (const char* block : {"64B", "4096B"}) {
      INFO(opcode << ' ' << block);
      Watched run;
      run_watched({"workload.kind=uniform", std::string("workload.opcode=") + opcode, std::string("workload.block=") + block,
                   "workload.operations=50", "workload.qps=1", "workload.window=1", "workload.signal_every=1"},
                  {}, run);
      REQUIRE(run.report.operations.size() == 1);
      for (const results::WaitStats& w : run.report.operations[0].waits) {
        INFO(w.name << ' ' << w.operations << " operations, longest " << w.longest.raw << " ps");
        // The CQE of a READ follows its data on the link.
        const bool behind_data = opcode == std::string("read") && w.name == "completion: PCIe up: writes";
        CHECK((behind_data || w.name.ends_with(": table fetch")));
      }
    }
}

TEST_CASE("What was not asked for is not noted: no waits, no occupancy, and the same times") {
  const std::vector<std::string> sets{"workload.kind=uniform", "workload.operations=300", "nic.mtt_cache.lines=8"};
  std::vector<std::string> off = sets;
  off.emplace_back("run.measures=false");
  const results::Report with = run_system(sets).report, without = run_system(off).report;
  CHECK(with.simulated == without.simulated);
  CHECK(with.window() == without.window());
  CHECK(with.operations[0].latency.latency().sum() == without.operations[0].latency.latency().sum());
  CHECK_FALSE(with.operations[0].waits.empty());
  CHECK(without.operations[0].waits.empty());
  CHECK_FALSE(with.occupancy.units.empty());
  CHECK(without.occupancy.units.empty());
}
