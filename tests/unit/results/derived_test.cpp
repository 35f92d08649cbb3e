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

TEST_CASE("a resource is full from as many threads on as their calls take longer than it is kept") {
  Report r = sample::report();
  // 200 calls of 80 us, of which 0.2 us on the queue pair.
  r.registration.contention.push_back({"a.kernel.umr_qp", "a", 200, total(us(80) * 200), total(ns(200) * 200)});
  CHECK(full_from_threads(r, r.registration.contention[1]) == Approx(400));
  CHECK(what_saturates(r) ==
        "a.cpu (2 CPUs, 2.1 GHz) saturates: in use 95.0 % of the time. 400 threads that only register fill a.kernel.umr_qp.");
  // Two places are full later, and the resource that is full first is named.
  r.resources.push_back({"a.nic.firmware.slots", ResourceKind::pool, 2, us(90), 3, TotalTime(0), Time(0), 1, Bytes(0), ""});
  r.registration.contention.push_back({"a.nic.firmware.slots", "a", 200, total(us(80) * 200), total(us(90))});
  CHECK(full_from_threads(r, r.registration.contention[2]) == Approx(16'000 * 2 / 90.0));
  CHECK(what_saturates(r).ends_with(" 356 threads that only register fill a.nic.firmware.slots."));
  // Few calls say nothing; what is not used is never full.
  for (Contention& c : r.registration.contention) c.calls = contention_told_from - 1;
  CHECK(what_saturates(r).ends_with("of the time."));
  r.registration.contention[1].kept = TotalTime(0);
  CHECK(full_from_threads(r, r.registration.contention[1]) == 0);
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

TEST_CASE("a host of whose operations none succeeded adds nothing") {
  LatencyTable all = sample::report().operations[0].latency;
  all.merge(LatencyTable());
  CHECK(all.steps() == sample::report().operations[0].latency.steps());
  CHECK(all.latency().count() == 2);
  CHECK(all.adds_up());
}

TEST_CASE("a sound report holds no contradiction") { CHECK(contradictions(sample::report()).empty()); }

TEST_CASE("every contradiction is named") {
  Report r = sample::report();
  r.operations[0].latency.add(ns(3), std::vector{ns(1), ns(1), ns(2)});
  r.operations[0].latency.add(ns(3), std::vector{ns(1), ns(1), ns(1)});
  r.operations[0].waits[0].total = total(us(100));
  r.caches[0].hits = 7;
  r.resources[0].busy = us(101);
  r.resources[0].most_in_use = 3;
  r.resources[1].most_in_use = 3;  // of CPUs, threads in the queue
  r.pcie[0].busy = us(101);
  r.cpus[0].idle = us(11);
  CHECK(contradictions(r) == std::vector<std::string>{
                                 "write: the steps do not add up to the latency",
                                 "write: 4 latencies of 3 completed",
                                 "write: waits for longer than the latency",
                                 "a.nic.mtt_cache: 10 look-ups, but 7 hits and 4 misses",
                                 "a.kernel.umr_qp: in use 101000000 ps, more than its time",
                                 "a.kernel.umr_qp: 3 units in use of 1",
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
