// Do caches of QP contexts and of request contexts miss as often, and bound the rate as much, as closed formulas say?
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "support/system_run.h"

using namespace mtsim;
using test::run_system;

namespace {

const std::vector<std::string> reads{
    "workload.kind=connections", "workload.opcode=read", "workload.block=64B",       "workload.qps=1",
    "workload.signal_every=1",   "workload.threads=4",   "workload.footprint=64KiB", "workload.operations=8000",
    "nic.qp_cache.enabled=true"};

results::Report run(const std::vector<std::string>& more) {
  std::vector<std::string> sets = reads;
  sets.insert(sets.end(), more.begin(), more.end());
  return run_system(sets).report;
}

const results::CacheStats& cache(const results::Report& report, const std::string& name) {
  for (const results::CacheStats& c : report.caches)
    if (c.name == name) return c;
  throw std::runtime_error("no cache " + name);
}

double rate(const results::Report& r) {
  return static_cast<double>(r.operations.at(0).completed) / (static_cast<double>(r.window().raw) / 1e12);
}

}  // namespace

TEST_CASE("N connections in random use miss a cache of C contexts in 1 - C/N of the look-ups", "[contexts]") {
  for (const char* replacement : {"lru", "random", "fifo"})
    for (const auto& [held, connections] : {std::pair{40.0, 160.0}, std::pair{100.0, 400.0}, std::pair{300.0, 400.0}}) {
      INFO(replacement << ' ' << held << " of " << connections);
      const results::Report r =
          run({"workload.connections=" + std::to_string(static_cast<int>(connections)),
               "nic.qp_cache.lines=" + std::to_string(static_cast<int>(held)), "nic.qp_cache.fetches=64", "workload.outstanding=1",
               "workload.threads=1", "workload.operations=32000", std::string("nic.qp_cache.replacement=") + replacement});
      const results::CacheStats& c = cache(r, "server.nic.qp_cache");
      REQUIRE(c.lookups == 32000);
      // Four standard deviations of as many independent look-ups, and a hundredth for the first use of each connection. One request
      // at a time: what is asked for while it is being fetched misses as well.
      const double expected = held / connections, limit = 4 * std::sqrt(expected * (1 - expected) / 32000) + 0.01;
      CHECK(std::abs(static_cast<double>(c.hits) / 32000 - expected) <= limit);
    }
}

TEST_CASE("a second level takes its time out of the pipe for each miss of the first", "[contexts]") {
  for (const auto& [held, connections] : {std::pair{40.0, 40.0}, std::pair{40.0, 80.0}, std::pair{40.0, 400.0}}) {
    const results::Report r = run({"workload.connections=" + std::to_string(static_cast<int>(connections)), "nic.qp_cache.lines=40",
                                   "nic.qp_cache.level2.lines=1000", "nic.qp_cache.level2.latency=20ns", "nic.qp_cache.fetches=64",
                                   "nic.responder.interval=60ns"});
    const double each_ns = 60 + (1 - held / connections) * 20;
    INFO(connections);
    CHECK(rate(r) == Approx(1e9 / each_ns).epsilon(0.02));
  }
}

TEST_CASE("fetches in flight bound the rate of what misses", "[contexts]") {
  // Nothing is held: each READ takes a fetch at the server. At the client two, so that its own must not bound the rate.
  for (const int fetches : {1, 2, 4}) {
    const results::Report r = run({"workload.connections=400", "nic.qp_cache.lines=0", "hosts.client0.nic.qp_cache.enabled=false",
                                   "hosts.server.nic.qp_cache.fetches=" + std::to_string(fetches)});
    const results::CacheStats& c = cache(r, "server.nic.qp_cache");
    CHECK(c.hits == 0);
    CHECK(c.fetches_most == static_cast<std::uint64_t>(fetches));
    // A read of 375 bytes by itself, as a run of one request at a time finds it.
    const results::Report alone = run({"workload.connections=4", "workload.outstanding=1", "workload.operations=50", "workload.threads=1",
                                       "nic.qp_cache.lines=0", "hosts.client0.nic.qp_cache.enabled=false"});
    const results::CacheStats& one = cache(alone, "server.nic.qp_cache");
    const double fetch_ns = static_cast<double>(one.miss_longest.raw) / 1e3;
    CHECK(rate(r) == Approx(fetches * 1e9 / fetch_ns).epsilon(0.06));
  }
}

TEST_CASE("a request is read again when more than fit came after it", "[contexts]") {
  // One QP, a window of W: W - 1 requests come between a request's coming and its answer. Least recently used: all or nothing.
  for (const auto& [lines, again] : {std::pair{64, false}, std::pair{16, true}}) {
    const results::Report r =
        run({"workload.connections=1", "workload.threads=1", "workload.outstanding=32", "workload.window=32", "workload.operations=2000",
             "nic.requester.interval=200ns", "nic.request_cache.lines=" + std::to_string(lines)});
    const results::CacheStats& c = cache(r, "client0.nic.request_cache");
    CHECK(c.lookups == 4000);
    if (again) CHECK(c.misses() >= 1900);
    else CHECK(c.misses() == 0);
  }
}
