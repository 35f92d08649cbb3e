// Do the NIC's units act on the edges of their clock when the times they are given are not whole cycles?
#include <catch2/catch.hpp>

#include "timing/round_figures.h"

using namespace mtsim;
using ports::Step;
using verbs::Opcode;

TEST_CASE("spans are rounded up to whole cycles, and every unit acts at an edge", "[timing]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.nic.clock = Frequency(250'000'000);  // 4,000 ps
  settings.nic.requester.interval = settings.nic.responder.interval = ns(7);
  settings.nic.requester.service = ns(41);
  settings.nic.responder.service = ns(33);
  settings.nic.mpt_cache.latency = ns(5);
  settings.nic.mtt_cache.latency = ns(3);
  test::FreshNicRig rig(settings);
  test::NicRig::Pair pair = rig.connect();
  const verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, KiB(64));
  const auto write = [&](std::uint32_t length) {
    rig.fill(pair, Opcode::write, {local.start.raw, length, local.key}, remote.start.raw, remote.key);
  };
  write(64);
  rig.ring(pair, true);
  rig.run();
  // The second is long: its two packets come to the responder closer together than whole cycles.
  rig.at(us(10) + ps(1), [&] {
    write(64);
    write(6000);
    rig.ring(pair, false);
  });
  rig.run();
  const auto& operations = rig.hosts[0].log->operations;
  REQUIRE(operations.size() == 3);
  for (const auto& [wqe, status] : operations) {
    for (const Step step :
         {Step::schedule, Step::key_check, Step::translation, Step::responder_wait, Step::responder_key_check, Step::responder_translation})
      CHECK(wqe.stamp[unsigned(step)].raw % 4'000 == 0);
  }
  // 41 ns in the requester's pipe are 44; 5 ns and 3 ns of look-up are 8 and 4; 33 ns in the responder's pipe are 36.
  const auto& stamp = operations[1].first.stamp;
  const auto span = [&](Step from, Step to) { return (stamp[unsigned(to)] - stamp[unsigned(from)]).raw; };
  CHECK(span(Step::schedule, Step::key_check) == 44'000 + 8'000);
  CHECK(span(Step::key_check, Step::translation) == 4'000);
  CHECK(span(Step::responder_wait, Step::responder_key_check) == 8'000);
  CHECK(span(Step::responder_key_check, Step::responder_translation) == 4'000);
  const std::int64_t arrived = stamp[unsigned(Step::wire)].raw;
  CHECK(stamp[unsigned(Step::responder_wait)].raw == (arrived + 3'999) / 4'000 * 4'000 + 36'000);
}
