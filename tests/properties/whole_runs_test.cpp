// What holds of every run, whatever is run on whatever hardware.
#include <catch2/catch.hpp>

#include "properties/random_settings.h"
#include "results/derived.h"
#include "support/system_run.h"

using namespace mtsim;
using namespace mtsim::test;

namespace {

constexpr unsigned seeds = 24;

void check_sum(const results::LatencyTable& table) {
  __int128 sum = 0;
  for (std::size_t i = 0; i < table.steps().size(); ++i) sum += table.total(i).raw;
  CHECK(static_cast<long long>(sum) == static_cast<long long>(table.latency().sum().raw));
}

const results::ResourceStats& resource(const results::Report& report, const std::string& name) {
  for (const results::ResourceStats& r : report.resources)
    if (r.name == name) return r;
  throw std::runtime_error("no resource " + name);
}

/// Completions that the requests of a whole workload ask for: each QP's requests in groups, the last group perhaps smaller.
std::uint64_t signaled_posts(const RandomSettings& s) {
  const std::uint64_t operations = s.number("workload.operations"), qps = s.number("workload.qps");
  const std::uint64_t threads = s.number("workload.clients") * s.number("workload.threads");
  if (s.text("workload.kind") == "per_op") return threads * operations;
  const std::uint64_t group = s.number("workload.signal_every");
  std::uint64_t each = 0;
  for (std::uint64_t qp = 0; qp < qps; ++qp) {
    const std::uint64_t posts = operations / qps + (qp < operations % qps ? 1 : 0);
    each += (posts + group - 1) / group;
  }
  return threads * each;
}

std::uint64_t outstanding_limit(const RandomSettings& s) {
  const std::uint64_t threads = s.number("workload.clients") * s.number("workload.threads");
  if (s.text("workload.kind") == "per_op") return threads * s.number("workload.depth");
  return threads * s.number("workload.qps") * s.number("workload.window");
}

}  // namespace

TEST_CASE("Random runs end as they should and nothing in their reports is at odds with itself") {
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const RandomSettings settings(seed);
    INFO("seed " << seed << ": " << settings.listed());
    const SystemRun run = run_system(settings.sets());
    const results::Report& r = run.report;
    REQUIRE(run.stuck == std::vector<std::string>{});
    CHECK_FALSE(r.partial);
    CHECK(r.unexpected_total == 0);
    CHECK(results::contradictions(r) == std::vector<std::string>{});

    // Every post ends once, and those that ask for a completion get one.
    const std::uint64_t posts =
        settings.number("workload.clients") * settings.number("workload.threads") * settings.number("workload.operations");
    REQUIRE(r.operations.size() == 1);
    CHECK(r.operations[0].completed == posts);
    CHECK(r.operations[0].bytes.raw == posts * settings.number("workload.block"));
    CHECK(r.completions[unsigned(verbs::Status::SUCCESS)] == signaled_posts(settings));

    // Steps add up to the picosecond, of requests and of calls; so does each CPU's time.
    check_sum(r.operations[0].latency);
    check_sum(r.registration.reg_mr.latency);
    check_sum(r.registration.dereg_mr.latency);
    for (const results::CpuStats& c : r.cpus) {
      std::int64_t parts = (c.user + c.system_call + c.interrupt + c.polling + c.idle).raw;
      for (const results::StepTime& step : c.registration) parts += step.time.raw;
      CHECK(parts == r.window().raw * static_cast<std::int64_t>(c.cpus));
    }

    // Little's law: the time that requests were outstanding, over the window, is how many there were on average.
    CHECK(static_cast<double>(r.operations[0].latency.latency().sum().raw) <=
          static_cast<double>(r.window().raw) * static_cast<double>(outstanding_limit(settings)));

    // Limits hold, and are those that were asked for.
    for (const results::ResourceStats& s : r.resources) CHECK(s.most_in_use <= s.capacity);
    CHECK(resource(r, "client0.nic.walker.walks").capacity == settings.number("nic.walks"));
    CHECK(resource(r, "client0.nic.dma.tags").capacity == settings.number("pcie.tags"));
    CHECK(resource(r, "client0.nic.requester.contexts").capacity == settings.number("nic.requester.contexts"));
    for (const results::CacheStats& c : r.caches) {
      CHECK(c.hits + c.misses_cold + c.misses_capacity + c.misses_conflict == c.lookups);
      const char* limit = c.name.find(".qp_cache") != std::string::npos        ? "nic.qp_cache.fetches"
                          : c.name.find(".request_cache") != std::string::npos ? "nic.request_cache.fetches"
                                                                               : "nic.walks";
      CHECK(c.fetches_most <= settings.number(limit));
    }
    if (settings.number("nic.mtt_cache.lines") == 0)
      for (const results::CacheStats& c : r.caches)
        if (c.name.ends_with(".mtt_cache")) CHECK(c.hits == 0);
  }
}

TEST_CASE("Following data changes nothing, and finds nothing wrong where no memory goes from under a registration") {
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const RandomSettings settings(seed);
    INFO("seed " << seed << ": " << settings.listed());
    std::vector<std::string> sets = settings.sets();
    SystemRun plain = run_system(sets);
    sets.emplace_back("replay.hazards=on");
    SystemRun followed = run_system(sets);
    CHECK(followed.report.hazards.empty());
    CHECK(followed.report.hazard_events.empty());
    for (SystemRun* run : {&plain, &followed}) run->report.config = run->report.config_hash = "";
    CHECK(followed.json() == plain.json());
  }
}

TEST_CASE("However many threads register at once, steps add up and nothing is in use for more than its time") {
  for (const char* kernel : {"kernel.fault_lock=vma", "kernel.fault_lock=mmap"})
    for (const char* touched : {"true", "false"})
      for (const char* threads : {"1", "3", "16"})
        for (const char* cpus : {"0", "2"}) {
          INFO(kernel << " touched=" << touched << " threads=" << threads << " cpus=" << cpus);
          const SystemRun run = run_system({"workload.kind=ladder", "workload.smallest=5MiB", "workload.repeats=7", kernel,
                                            std::string("workload.touched=") + touched, std::string("workload.threads=") + threads,
                                            std::string("host.cpus=") + cpus});
          const results::Report& r = run.report;
          REQUIRE(run.stuck == std::vector<std::string>{});
          CHECK(r.unexpected_total == 0);
          CHECK(results::contradictions(r) == std::vector<std::string>{});
          check_sum(r.registration.reg_mr.latency);
          check_sum(r.registration.dereg_mr.latency);
          for (const results::ResourceStats& s : r.resources) {
            INFO(s.name);
            CHECK(results::utilisation(s, r.window()) <= 1);
          }
          for (const results::Contention& c : r.registration.contention) {
            INFO(c.name);
            CHECK(c.alone.raw > 0);
            CHECK(c.calls == r.registration.reg_mr.calls + r.registration.dereg_mr.calls);
          }
          Bytes pinned;
          for (const results::MemorySeries& s : r.memory_series) pinned += s.pinned.back();
          CHECK(pinned == r.registration.pinned_now);
        }
}

TEST_CASE("No link carries more than its rate") {
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const RandomSettings settings(seed);
    INFO("seed " << seed << ": " << settings.listed());
    const results::Report r = run_system(settings.sets()).report;
    const double window_s = static_cast<double>(r.window().raw) / 1e12;
    // Bytes are counted as they are sent, so one packet or train that began before the window's end may lie partly behind it.
    const double one_train = 8.0 * 2 * 4096;
    const double rate = static_cast<double>(settings.number("network.rate")) * 1e9;
    for (const results::PortStats& port : r.ports) {
      INFO(port.name);
      CHECK(static_cast<double>(port.bytes.raw) * 8 <= rate * window_s + one_train);
    }
    const double lanes_rate = 8e9 * 128 / 130 * static_cast<double>(settings.number("pcie.lanes"));
    for (const results::PcieStats& p : r.pcie) {
      INFO(p.name);
      CHECK(static_cast<double>((p.payload + p.header).raw) * 8 <= lanes_rate * window_s + one_train);
    }
  }
}

TEST_CASE("Data comes in no faster than the PCIe link behind the NIC carries it") {
  const double lane = 8e9 * 128 / 130;
  for (const auto& [opcode, host] : {std::pair{"write", "server"}, std::pair{"read", "client0"}}) {
    const results::Report r = run_system({"workload.kind=uniform", "workload.operations=3000", std::string("workload.opcode=") + opcode,
                                          std::string("hosts.") + host + ".pcie.lanes=1"})
                                  .report;
    INFO(opcode << " into " << host);
    REQUIRE(r.operations.size() == 1);
    CHECK(static_cast<double>(r.operations[0].bytes.raw) * 8 <= lane * static_cast<double>(r.window().raw) / 1e12);
  }
}

TEST_CASE("The same settings give the same bytes") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const RandomSettings settings(seed);
    INFO("seed " << seed << ": " << settings.listed());
    CHECK(run_system(settings.sets()).json() == run_system(settings.sets()).json());
  }
}

TEST_CASE("Other draws of the same workload give another course of the run") {
  const std::vector<std::string> sets{"workload.kind=uniform", "workload.opcode=read",    "workload.operations=100",
                                      "workload.block=64B",    "workload.footprint=1MiB", "nic.mtt_cache.lines=8"};
  const auto drawn = [&](const char* seed) {
    std::vector<std::string> with = sets;
    with.push_back(std::string("workload.seed=") + seed);
    return run_system(with).report.window().raw;
  };
  CHECK(drawn("1") != drawn("2"));
}

TEST_CASE("More of one resource never makes a run longer") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> ladders{
      {"nic.walks", {"1", "4", "4096"}},
      {"nic.requester.contexts", {"1", "8", "65536"}},
      {"nic.responder.contexts", {"1", "8", "65536"}},
      {"pcie.tags", {"1", "8", "1024"}},
      {"nic.mtt_cache.lines", {"0", "64", "16777216"}},
      {"pcie.lanes", {"1", "4", "16"}},
      {"network.rate", {"10Gb/s", "100Gb/s", "1600Gb/s"}},
  };
  for (const char* opcode : {"read", "write"})
    for (const auto& [path, steps] : ladders) {
      std::int64_t before = 0;
      for (const std::string& value : steps) {
        const results::Report r =
            run_system({"workload.kind=uniform", "workload.operations=400", std::string("workload.opcode=") + opcode, path + "=" + value})
                .report;
        INFO(opcode << ' ' << path << '=' << value);
        REQUIRE(r.operations.size() == 1);
        if (before != 0) CHECK(r.window().raw <= before);
        before = r.window().raw;
      }
    }
}

TEST_CASE("Nothing deadlocks when every limit is at its least") {
  for (const char* kind : {"pool", "per_op", "uniform", "sequential"})
    for (const char* opcode : {"read", "write"}) {
      const bool both_ways = std::string(kind) == "uniform" || std::string(kind) == "sequential";
      std::vector<std::string> sets{std::string("workload.kind=") + kind,
                                    "workload.operations=40",
                                    "workload.clients=2",
                                    "workload.threads=2",
                                    "workload.block=20000B",
                                    "nic.walks=1",
                                    "nic.mpt_cache.lines=0",
                                    "nic.mtt_cache.lines=0",
                                    "nic.requester.contexts=1",
                                    "nic.requester.prefetch=1",
                                    "nic.requester.buffer=4KiB",
                                    "nic.requester.prefetch_at=turn",
                                    "nic.requester.wqe_fetches=1",
                                    "nic.qp_cache.enabled=true",
                                    "nic.qp_cache.lines=1",
                                    "nic.qp_cache.fetches=1",
                                    "nic.request_cache.lines=1",
                                    "nic.request_cache.fetches=1",
                                    "nic.responder.contexts=1",
                                    "nic.responder.buffer=4KiB",
                                    "nic.firmware.command_slots=1",
                                    "pcie.tags=1",
                                    "host.cpus=1"};
      if (both_ways) sets.push_back(std::string("workload.opcode=") + opcode);
      INFO(kind << ' ' << opcode);
      const SystemRun run = run_system(sets);
      CHECK(run.stuck == std::vector<std::string>{});
      REQUIRE(run.report.operations.size() == 1);
      CHECK(run.report.operations[0].completed == 160);
      CHECK(run.report.completions[unsigned(verbs::Status::SUCCESS)] > 0);
    }
}
