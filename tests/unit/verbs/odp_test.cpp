// How do page faults of regions on demand end, and who is told?
#include "verbs/odp.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <random>
#include <vector>

#include "verbs/rules.h"

using namespace mtsim;
using namespace mtsim::verbs;

namespace {

Grant on_demand_region() {
  Grant region;
  region.key = Key(0x305);
  region.access = Access::on_demand | Access::local_write;
  region.start = Iova(0x10000);
  region.length = Bytes(0x2000);
  region.valid = true;
  return region;
}

}  // namespace

TEST_CASE("a fault with an unknown key, or one of a pinned region, is not a fault of on demand", "[rule:12.1]") {
  Grant region = on_demand_region();
  CHECK(end_of_fault(nullptr, Key(0x305), Iova(0x10000), Bytes(1), {}) == FaultEnd::not_on_demand);
  CHECK(end_of_fault(&region, Key(0x405), Iova(0x10000), Bytes(1), {}) == FaultEnd::not_on_demand);
  region.access = Access::local_write;
  CHECK(end_of_fault(&region, Key(0x305), Iova(0x10000), Bytes(1), {}) == FaultEnd::not_on_demand);
  CHECK(errno_of(FaultEnd::not_on_demand) == 0);
}

TEST_CASE("a fault ends badly for the key's low byte, the range, a process that is gone, or what the mapping forbids",
          "[rule:12.2][rule:12.3][rule:12.4]") {
  const Grant region = on_demand_region();
  const auto end = [&](Key key, std::uint64_t address, std::uint64_t length, FaultedMemory memory = {}) {
    return end_of_fault(&region, key, Iova(address), Bytes(length), memory);
  };
  CHECK(end(Key(0x305), 0x10000, 0x2000) == FaultEnd::resolved);
  CHECK(end(Key(0x304), 0x10000, 1) == FaultEnd::variant);
  CHECK(end(Key(0x305), 0xffff, 1) == FaultEnd::out_of_range);
  CHECK(end(Key(0x305), 0x10000, 0x2001) == FaultEnd::out_of_range);
  CHECK(end(Key(0x305), 0x11fff, 2) == FaultEnd::out_of_range);
  CHECK(end(Key(0x305), 0x11fff, ~0ull) == FaultEnd::out_of_range);
  CHECK(end(Key(0x305), 0x10000, 1, {.process_gone = true}) == FaultEnd::process_gone);
  CHECK(end(Key(0x305), 0x10000, 1, {.mapped = false}) == FaultEnd::not_mapped);
  CHECK(end(Key(0x305), 0x10000, 1, {.readable = false}) == FaultEnd::not_permitted);
  CHECK(errno_of(FaultEnd::variant) == EFAULT);
  CHECK(errno_of(FaultEnd::out_of_range) == EFAULT);
  CHECK(errno_of(FaultEnd::not_mapped) == EFAULT);
  CHECK(errno_of(FaultEnd::process_gone) == EINVAL);
  CHECK(errno_of(FaultEnd::not_permitted) == EPERM);
}

TEST_CASE("memory that changes under a fault makes the operation fault again, not fail", "[rule:12.5]") {
  const Grant region = on_demand_region();
  CHECK(end_of_fault(&region, region.key, Iova(0x10000), Bytes(1), {.changes = true}) == FaultEnd::again);
  CHECK(errno_of(FaultEnd::again) == 0);
  for (const FaultedQueue queue : {FaultedQueue::send, FaultedQueue::receive, FaultedQueue::rdma})
    CHECK(outcome(FaultEnd::again, queue) == FaultOutcome{});
}

TEST_CASE("pages that may only be read serve a region that may only be read", "[rule:12.6]") {
  Grant region = on_demand_region();
  for (unsigned rights = 0; rights < 16; ++rights) {
    region.access = Access(rights) | Access::on_demand;
    const bool writable = (rights & ~unsigned(Access::remote_read)) != 0;
    CHECK(asks_for_write(region.access) == writable);
    CHECK(end_of_fault(&region, region.key, Iova(0x10000), Bytes(1), {.writable = false}) ==
          (writable ? FaultEnd::not_permitted : FaultEnd::resolved));
  }
}

TEST_CASE("a fault that ended badly is told as a refused key would be", "[rule:12.9]") {
  for (const FaultEnd end :
       {FaultEnd::variant, FaultEnd::out_of_range, FaultEnd::process_gone, FaultEnd::not_mapped, FaultEnd::not_permitted}) {
    INFO(explain(end));
    CHECK(outcome(end, FaultedQueue::send) == FaultOutcome{Status::LOC_PROT_ERR, Status::SUCCESS, Nak::none});
    CHECK(outcome(end, FaultedQueue::receive) == FaultOutcome{Status::REM_OP_ERR, Status::LOC_PROT_ERR, Nak::remote_operational});
    CHECK(outcome(end, FaultedQueue::rdma) == FaultOutcome{Status::REM_ACCESS_ERR, Status::SUCCESS, Nak::remote_access});
    // The requester sees what it makes of the NAK.
    for (const FaultedQueue queue : {FaultedQueue::receive, FaultedQueue::rdma})
      CHECK(ib_rules().answered_status(outcome(end, queue).nak) == outcome(end, queue).requester);
  }
  CHECK(outcome(FaultEnd::resolved, FaultedQueue::rdma) == FaultOutcome{});
}

TEST_CASE("while pages are absent messages are sent away with an RNR NAK, and reads wait", "[rule:8.14]") {
  for (const Opcode opcode : {Opcode::send, Opcode::send_imm, Opcode::send_inv, Opcode::write, Opcode::write_imm})
    CHECK(while_faulting(opcode) == Nak::receiver_not_ready);
  for (const Opcode opcode : {Opcode::read, Opcode::cas, Opcode::faa}) CHECK(while_faulting(opcode) == Nak::none);
}

TEST_CASE("an access reaches those children of an implicit region whose GiB its bytes lie in", "[rule:12.8][rule:12.10]") {
  CHECK(implicit_child.raw == 1024 * 1024 * 1024);
  CHECK(rdma_prefetch.raw == 4096 * 1024);
  std::mt19937_64 random(9);
  constexpr std::uint64_t gib = 1'073'741'824, entries = 100;
  for (int round = 0; round < 20'000; ++round) {
    const std::uint64_t address = gib * (random() % 102) + (random() % 2 ? random() % gib : gib - 1 - random() % 3);
    const std::uint64_t length = random() % 3 ? 1 + random() % 5 : 1 + random() % (3 * gib);
    const auto got = children_of(Iova(address), Bytes(length), entries);
    // The last child by walking from the first, GiB by GiB.
    std::uint64_t first = 0, last = 0;
    while ((first + 1) * gib <= address) ++first;
    last = first;
    while ((last + 1) * gib < address + length) ++last;
    if (last >= entries) {
      REQUIRE_FALSE(got.has_value());
    } else {
      REQUIRE(got->first == first);
      REQUIRE(got->last == last);
    }
  }
  CHECK_FALSE(children_of(Iova(~0ull), Bytes(2), ~0ull).has_value());
}

TEST_CASE("a fault of a work request ends with the first element that cannot be brought in, and well only with all", "[rule:12.7]") {
  using enum FaultEnd;
  const std::vector<FaultEnd> all{resolved, not_on_demand, resolved}, one_bad{resolved, not_mapped, not_permitted},
      changing{again, resolved};
  CHECK(end_of_work_fault(all) == resolved);
  CHECK(end_of_work_fault(one_bad) == not_mapped);
  CHECK(end_of_work_fault(changing) == again);
  CHECK(end_of_work_fault({}) == resolved);
}
