// Are operations of two runs matched one by one, and is every difference found, in statuses and in order?
#include "results/compare_operations.h"

#include <catch2/catch.hpp>

#include "results/compare_rules.h"

using namespace mtsim;
using namespace mtsim::results;
using verbs::Opcode;
using verbs::Status;

namespace {

/// Rows of two runs that share their names.
struct Runs {
  Names names;
  std::vector<OperationRow> a, b;

  OperationRow row(const char* host, const char* qp, std::uint64_t wr, Opcode opcode = Opcode::write, Status status = Status::SUCCESS,
                   std::uint64_t bytes = 64, std::int64_t latency_ns = 100) {
    return {names.number(host), names.number(qp), opcode, status, true, true, wr, bytes, ns(latency_ns)};
  }
  OperationsComparison compared() const { return compare_operations(a, b, names); }
};

std::unique_ptr<verbs::Rules> rules(const char* name) { return verbs::RuleSets::make(name); }

}  // namespace

TEST_CASE("the same rows show no difference, in whatever order hosts and QPs take turns") {
  Runs r;
  r.a = {r.row("a", "q", 1), r.row("b", "q", 1, Opcode::recv), r.row("a", "p", 2), r.row("a", "q", 3)};
  r.b = {r.row("a", "p", 2), r.row("a", "q", 1), r.row("a", "q", 3), r.row("b", "q", 1, Opcode::recv)};
  const OperationsComparison c = r.compared();
  CHECK(c.matched == 4);
  CHECK(c.queues == 3);
  CHECK_FALSE(c.differs());
  CHECK(c.completed_a[unsigned(Opcode::write)] == 3);
  CHECK(c.completed_b[unsigned(Opcode::recv)] == 1);
}

TEST_CASE("another status, opcode, size or QP is a difference, listed in A's order") {
  Runs r;
  r.a = {r.row("a", "q", 9), r.row("a", "q", 1), r.row("a", "q", 2), r.row("b", "q", 1), r.row("a", "q", 3)};
  r.b = {r.row("a", "q", 9, Opcode::write, Status::REM_ACCESS_ERR), r.row("a", "q", 1, Opcode::read), r.row("a", "q", 2),
         r.row("b", "other", 1), r.row("a", "q", 3, Opcode::write, Status::SUCCESS, 65)};
  const OperationsComparison c = r.compared();
  CHECK(c.matched == 5);
  CHECK(c.differing_total == 4);
  REQUIRE(c.differing.size() == 4);
  CHECK(c.differing[0].wr == 9);
  CHECK(c.differing[0].a->status == Status::SUCCESS);
  CHECK(c.differing[0].b->status == Status::REM_ACCESS_ERR);
  CHECK(c.differing[1].b->opcode == Opcode::read);
  CHECK(c.differing[2].host == "b");
  CHECK(c.differing[2].b->qp == "other");
  CHECK(c.differing[3].b->bytes == 65);
  CHECK(c.differs());
}

TEST_CASE("what failed ones have moved is no difference") {
  Runs r;
  r.a = {r.row("b", "q", 1, Opcode::recv, Status::LOC_LEN_ERR, 64)};
  r.b = {r.row("b", "q", 1, Opcode::recv, Status::LOC_LEN_ERR, 0)};
  CHECK_FALSE(r.compared().differs());
}

TEST_CASE("when those ended of which no completion tells is no matter of order") {
  Runs r;
  r.a = {r.row("a", "q", 2), r.row("a", "q", 1)};
  r.b = {r.row("a", "q", 1), r.row("a", "q", 2)};
  CHECK(r.compared().differs());
  r.a[1].cqe = r.b[0].cqe = false;
  CHECK_FALSE(r.compared().differs());
}

TEST_CASE("what became of a request that nobody was told of is not known of a device") {
  Runs r;
  r.a = {r.row("a", "q", 1), r.row("a", "q", 2)};
  r.b = {r.row("a", "q", 1)};
  r.a[1].cqe = false;
  CHECK(compare_operations(r.a, r.b, r.names).only_a_total == 1);
  CHECK_FALSE(compare_operations(r.a, r.b, r.names, true).differs());
  r.a[1].cqe = true;
  CHECK(compare_operations(r.a, r.b, r.names, true).only_a_total == 1);
}

TEST_CASE("what one side has alone is listed, the first twenty, and counted") {
  Runs r;
  for (std::uint64_t wr = 0; wr < 30; ++wr) r.a.push_back(r.row("a", "q", 100 - wr));
  r.b = {r.row("a", "q", 100), r.row("a", "q", 7), r.row("c", "q", 99)};
  const OperationsComparison c = r.compared();
  CHECK(c.matched == 1);
  CHECK(c.only_a_total == 29);
  REQUIRE(c.only_a.size() == 20);
  CHECK(c.only_a[0].wr == 99);
  CHECK_FALSE(c.only_a[0].b);
  REQUIRE(c.only_b.size() == 2);
  CHECK(c.only_b[0].wr == 7);
  CHECK(c.only_b[1].host == "c");
}

TEST_CASE("a number that comes several times is matched in turn") {
  Runs r;
  r.a = {r.row("a", "q", 5), r.row("a", "q", 5, Opcode::write, Status::WR_FLUSH_ERR)};
  r.b = {r.row("a", "q", 5), r.row("a", "q", 5, Opcode::write, Status::WR_FLUSH_ERR), r.row("a", "q", 5)};
  const OperationsComparison c = r.compared();
  CHECK(c.matched == 2);
  CHECK(c.differing_total == 0);
  CHECK(c.only_b_total == 1);
}

TEST_CASE("the first difference in order is told of each QP, sends and receives apart") {
  Runs r;
  r.a = {r.row("a", "q", 1), r.row("a", "q", 2), r.row("a", "q", 3), r.row("a", "q", 11, Opcode::recv),
         r.row("a", "p", 4), r.row("a", "s", 6)};
  r.b = {r.row("a", "q", 11, Opcode::recv),
         r.row("a", "q", 1),
         r.row("a", "q", 3),
         r.row("a", "q", 2),
         r.row("a", "p", 4),
         r.row("a", "p", 5),
         r.row("a", "s", 6, Opcode::write, Status::LOC_LEN_ERR)};
  const OperationsComparison c = r.compared();
  CHECK(c.queues == 4);
  REQUIRE(c.order.size() == 3);
  CHECK(c.order[0].qp == "p");
  CHECK(c.order[0].position == 2);
  CHECK_FALSE(c.order[0].a);
  CHECK(c.order[0].b->wr == 5);
  CHECK(c.order[1].qp == "q");
  CHECK_FALSE(c.order[1].receives);
  CHECK(c.order[1].position == 2);
  CHECK(c.order[1].a->wr == 2);
  CHECK(c.order[1].b->wr == 3);
  CHECK_FALSE(c.order[1].statuses_alone);
  CHECK(c.order[2].qp == "s");
  CHECK(c.order[2].statuses_alone);
}

TEST_CASE("times are those of the window that succeeded, by opcode and by class of size") {
  CHECK(size_class_of(0) == 0);
  CHECK(size_class_of(1) == 0);
  CHECK(size_class_of(2) == 1);
  CHECK(size_class_of(4096) == 12);
  CHECK(size_class_of(4097) == 13);
  CHECK(size_class_of(~std::uint64_t{0}) == 64);

  Runs r;
  r.a = {r.row("a", "q", 1, Opcode::write, Status::SUCCESS, 3000, 10), r.row("a", "q", 2, Opcode::write, Status::SUCCESS, 4096, 30),
         r.row("a", "q", 3, Opcode::write, Status::SUCCESS, 5000, 50), r.row("a", "q", 4, Opcode::write, Status::WR_FLUSH_ERR, 64, 70),
         r.row("a", "q", 5, Opcode::read, Status::SUCCESS, 8, 90)};
  r.b = r.a;
  r.b[1].latency = ns(31);
  r.b[2].measured = false;
  const OperationsComparison c = r.compared();
  REQUIRE(c.times.size() == 4);
  CHECK(c.times[0].opcode == Opcode::write);
  CHECK_FALSE(c.times[0].size_class);
  CHECK(c.times[0].a.size() == 3);
  CHECK(c.times[0].b.size() == 2);
  REQUIRE(c.times[0].pairs.size() == 2);
  CHECK(c.times[0].pairs[1].bytes == 4096);
  CHECK(c.times[0].pairs[1].b == 31);
  CHECK(c.times[1].size_class == 12);
  CHECK(c.times[1].least == 3000);
  CHECK(c.times[1].most == 4096);
  CHECK(c.times[2].size_class == 13);
  // A single class is not told twice.
  CHECK(c.times[3].opcode == Opcode::read);
  CHECK_FALSE(c.times[3].size_class);
}

TEST_CASE("rules that part ways as the statuses do are named, and no others") {
  const auto ib = rules("ib"), rxe = rules("rxe-6.1"), late = rules("rxe-6.12");
  const auto difference = [](Opcode opcode, std::optional<Status> a, std::optional<Status> b) {
    OperationDifference d{"a", 1, std::nullopt, std::nullopt, {}};
    if (a) d.a = OperationDifference::Side{"q", opcode, *a, 64};
    if (b) d.b = OperationDifference::Side{"q", opcode, *b, 64};
    return d;
  };
  CHECK(licence(difference(Opcode::write, Status::LOC_PROT_ERR, Status::LOC_QP_OP_ERR), *ib, *rxe) ==
        "rxe-6.1 answers LOC_QP_OP_ERR where ib answers LOC_PROT_ERR (requester.gather_key)");
  CHECK(licence(difference(Opcode::write, Status::LOC_PROT_ERR, Status::WR_FLUSH_ERR), *ib, *late) ==
        "rxe-6.12 answers WR_FLUSH_ERR where ib answers LOC_PROT_ERR (requester.gather_key, requester.gather_range)");
  // What the peer's NAK becomes.
  CHECK(licence(difference(Opcode::send, Status::REM_INV_REQ_ERR, Status::REM_OP_ERR), *ib, *rxe) ==
        "rxe-6.1 answers REM_OP_ERR where ib answers REM_INV_REQ_ERR (responder.receive_too_short)");
  CHECK(licence(difference(Opcode::recv, Status::LOC_PROT_ERR, Status::LOC_QP_OP_ERR), *ib, *rxe) ==
        "rxe-6.1 answers LOC_QP_OP_ERR where ib answers LOC_PROT_ERR (responder.receive_key)");
  CHECK(licence(difference(Opcode::recv, Status::WR_FLUSH_ERR, std::nullopt), *ib, *rxe) ==
        "rxe-6.1 flushes no receives that are posted in ERR where ib does (responder.flushes_late_receives)");
  CHECK(licence(difference(Opcode::recv, std::nullopt, Status::WR_FLUSH_ERR), *rxe, *ib) ==
        "rxe-6.1 flushes no receives that are posted in ERR where ib does (responder.flushes_late_receives)");
  // The other way round, an answer that no rule gives, the same set, a send that is missing.
  CHECK(licence(difference(Opcode::write, Status::LOC_QP_OP_ERR, Status::LOC_PROT_ERR), *ib, *rxe).empty());
  CHECK(licence(difference(Opcode::write, Status::SUCCESS, Status::REM_ACCESS_ERR), *ib, *rxe).empty());
  CHECK(licence(difference(Opcode::write, Status::LOC_PROT_ERR, Status::LOC_QP_OP_ERR), *rxe, *rxe).empty());
  CHECK(licence(difference(Opcode::write, Status::WR_FLUSH_ERR, std::nullopt), *ib, *rxe).empty());
}

TEST_CASE("the rules of a report are those that its configuration names, of a simulation or of a replay") {
  Report r;
  CHECK_FALSE(origin_of(r).rules);
  CHECK(origin_of(r).runs == 1);
  r.config = R"({"nic":{"rules":"no"},"replay":{"time":"asap"},"rules":"rxe-6.12"})";
  CHECK(origin_of(r).rules == "rxe-6.12");
  CHECK(origin_of(r).runs == 1);
  r.config = R"({"replay":{"device":"rxe0","rules":"rxe-6.1","warmup":1,"repeat":5}})";
  CHECK(origin_of(r).rules == "rxe-6.1");
  CHECK(origin_of(r).runs == 5);
  for (const char* odd :
       {R"({"rules":[1],"replay":3})", R"({"replay":{"rules":"","repeat":-5}})", R"({"replay":{"repeat":0}})", "{damaged", "[1]"}) {
    r.config = odd;
    CHECK_FALSE(origin_of(r).rules);
    CHECK(origin_of(r).runs == 1);
  }
}
