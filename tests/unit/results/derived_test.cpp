#include "results/derived.h"

#include <catch2/catch.hpp>

#include "sample.h"

namespace mtsim::results {
namespace {

TEST_CASE("throughput is over the measured window") {
  const Report r = sample::report();
  CHECK(completed_operations(r) == 3);
  CHECK(goodput_bits_per_s(r) == Approx(8192 * 8 / 100e-6));
  CHECK(operations_per_s(r) == Approx(30'000));
}

TEST_CASE("the CPU share of registration counts only hosts that register") {
  Report r = sample::report();
  CHECK(registration_cpu_share(r) == Approx(0.35));
  CpuStats storage;
  storage.host = "b";
  storage.cpus = 8;
  storage.idle = us(800);
  r.cpus.push_back(storage);
  CHECK(registration_cpu_share(r) == Approx(0.35));
}

TEST_CASE("what saturates is found, not told") {
  Report r = sample::report();
  CHECK(what_saturates(r) == "a.cpu (2 CPUs, 2.1 GHz) saturates: in use 95.0 % of the time.");
  r.resources[0].busy = us(93);
  CHECK(what_saturates(r) == "a.cpu (2 CPUs, 2.1 GHz) saturates: in use 95.0 % of the time; 1 more at 90 % or above.");
  r.resources[1].busy = us(20);
  r.resources[0].busy = us(40);
  CHECK(what_saturates(r) == "Nothing saturates; the busiest is a.kernel.umr_qp (1 server), in use 40.0 % of the time.");
  r.resources.clear();
  CHECK(what_saturates(r).empty());
  CHECK(busiest(r) == nullptr);
}

TEST_CASE("latencies of several opcodes add up by the name of the step") {
  Report r = sample::report();
  OperationStats read;
  read.opcode = verbs::Opcode::read;
  read.completed = 1;
  read.latency = sample::table({"doorbell", "responder"}, {{ns(5), ns(6)}});
  r.operations.push_back(read);
  const LatencyTable all = all_latencies(r);
  CHECK(all.steps() == std::vector<std::string>{"doorbell", "translation", "wire", "responder"});
  CHECK((all.total(0) == total(ns(405))));
  CHECK(all.latency().count() == 3);
  CHECK(all.adds_up());
}

TEST_CASE("tables of two hosts merge step by step") {
  const LatencyTable host = sample::report().operations[0].latency;
  LatencyTable all;
  all.merge(host);
  all.merge(host);
  CHECK(all.steps() == host.steps());
  CHECK(all.latency().count() == 4);
  CHECK((all.total(0) == total(ns(800))));
  CHECK(all.adds_up());
}

TEST_CASE("a sound report holds no contradiction") { CHECK(contradictions(sample::report()).empty()); }

TEST_CASE("every contradiction is named") {
  Report r = sample::report();
  r.operations[0].latency.add(ns(3), std::vector{ns(1), ns(1), ns(2)});
  r.operations[0].latency.add(ns(3), std::vector{ns(1), ns(1), ns(1)});
  r.caches[0].hits = 7;
  r.resources[0].busy = us(101);
  r.resources[1].most_in_use = 3;
  r.pcie[0].busy = us(101);
  r.cpus[0].idle = us(11);
  CHECK(contradictions(r) == std::vector<std::string>{
                                 "write: the steps do not add up to the latency",
                                 "write: 4 latencies of 3 completed",
                                 "a.nic.mtt_cache: 10 look-ups, but 7 hits and 4 misses",
                                 "a.kernel.umr_qp: in use 101000000 ps, more than its time",
                                 "a.cpu: 3 units in use of 2",
                                 "a.pcie.up: busy 101000000 ps, more than the window",
                                 "a: CPU time adds up to 201000000 ps of 200000000 ps",
                             });
}

TEST_CASE("an empty report divides by nothing") {
  const Report r;
  CHECK(goodput_bits_per_s(r) == 0);
  CHECK(operations_per_s(r) == 0);
  CHECK(registration_cpu_share(r) == 0);
  CHECK(contradictions(r).empty());
}

}  // namespace
}  // namespace mtsim::results
