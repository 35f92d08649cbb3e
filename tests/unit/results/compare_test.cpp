// Does a comparison of two reports find what differs, say what stands in the way, and fit on a screen?
#include "results/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "unit/results/sample.h"

using namespace mtsim;
using namespace mtsim::results;
using Json = nlohmann::json;

namespace {

Comparison compared(const Report& a, const Report& b, std::optional<OperationsComparison> operations = std::nullopt,
                    std::optional<std::string> rules = std::nullopt) {
  ComparedSide of_a, of_b;
  of_a.name = "a.json";
  of_b.name = "b.json";
  of_b.rules = std::move(rules);
  return compare(of_a, a, of_b, b, std::move(operations));
}

std::vector<std::string> differing(const Comparison& c) {
  std::vector<std::string> out;
  for (const CountRow& row : c.counts)
    if (row.differs()) out.push_back(fmt::format("{}: {} {}", row.name, row.a, row.b));
  return out;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Times of one kind whose samples are given, by a table of one step.
CallStats calls(std::initializer_list<std::int64_t> us_each) {
  CallStats out;
  out.calls = us_each.size();
  out.latency = LatencyTable({"syscall"});
  for (const std::int64_t each : us_each) {
    const Time time = us(each);
    out.latency.add(time, std::span(&time, 1));
  }
  return out;
}

std::string sentence(std::initializer_list<std::int64_t> a, std::initializer_list<std::int64_t> b) {
  Report in_a, in_b;
  in_a.registration.reg_mr = calls(a);
  in_b.registration.reg_mr = calls(b);
  const Comparison c = compared(in_a, in_b);
  REQUIRE(c.times.size() == 1);
  CHECK(c.times[0].approximate);
  return explained(c.times[0]);
}

}  // namespace

TEST_CASE("a report does not differ from itself") {
  const Comparison c = compared(sample::report(), sample::report());
  CHECK_FALSE(c.differs());
  CHECK(c.notes.empty());
  CHECK(c.counts.size() > 8);
  for (const TimesComparison& t : c.times) CHECK(explained(t) == "the same.");
  CHECK(has(to_text(c), "Counts agree.\n"));
}

TEST_CASE("every count that must agree is compared") {
  Report b = sample::report();
  b.completions[std::size_t(verbs::Status::REM_ACCESS_ERR)] = 0;
  b.completions[std::size_t(verbs::Status::REM_OP_ERR)] = 1;
  b.operations[0].posted = 5;
  b.operations[0].completed = 5;
  b.operations[0].bytes = KiB(16);
  b.failed_calls["reg_mr"].clear();
  b.failed_calls["reg_mr"][EFAULT] = 2;
  b.registration.reg_mr.calls = 3;
  b.registration.reg_mr.bytes = MiB(2);
  b.registration.others.emplace_back().name = "rereg_mr";
  b.registration.others.back().calls = 1;
  b.unexpected_total = 0;
  const Comparison c = compared(sample::report(), b);
  CHECK(c.differs());
  CHECK(differing(c) == std::vector<std::string>{"completions REM_ACCESS_ERR: 1 0", "write posted: 4 5", "write completed: 3 5",
                                                 "write bytes: 8192 16384", "failed reg_mr ENOMEM: 1 0", "reg_mr calls: 2 3",
                                                 "reg_mr calls, bytes: 1048576 2097152", "unexpected answers: 1 0",
                                                 "completions REM_OP_ERR: 0 1", "failed reg_mr EFAULT: 0 2", "rereg_mr calls: 0 1"});
}

TEST_CASE("times alone are no difference") {
  Report a, b;
  a.registration.reg_mr = calls({10, 20});
  b.registration.reg_mr = calls({1000, 2000});
  CHECK_FALSE(compared(a, b).differs());
}

TEST_CASE("what explains a difference is said in a sentence") {
  CHECK(sentence({10, 20}, {10, 20}) == "the same.");
  CHECK(sentence({10, 20}, {}) == "only A has any.");
  CHECK(sentence({}, {10}) == "only B has any.");
  CHECK(sentence({10, 20}, {15, 25}) == "no difference that samples of 2 and 2 can show at 1 %.");
  // Eight and eight: the KS statistic of 1 is above 0.814.
  CHECK(has(sentence({1, 2, 3, 4, 5, 6, 7, 8}, {100, 200, 300, 400, 500, 600, 700, 800}), "B is A times 100: a factor explains "));
  CHECK(has(sentence({1, 2, 3, 4, 5, 6, 7, 8}, {101, 102, 103, 104, 105, 106, 107, 108}), "B is A plus 100 us: an offset explains "));
  CHECK(has(sentence({101, 102, 103, 104, 105, 106, 107, 108}, {1, 2, 3, 4, 5, 6, 7, 8}), "B is A less 100 us: an offset explains "));
  CHECK(has(sentence({1, 2, 3, 4, 5, 6, 7, 8}, {210, 220, 230, 240, 250, 260, 270, 280}), " plus 200 us: factor and offset explain "));
  CHECK(sentence({5, 5, 5, 5, 5, 5, 5, 5}, {10, 10, 10, 10, 10, 10, 10, 10}) ==
        "B is A times 2: a factor explains 100 % of the difference (KS from 1.00 to 0.00, critical 0.81), and so does A plus "
        "5.00 us.");
}

TEST_CASE("a difference that no law explains is said to be one") {
  // A has one value, B many: no factor and no offset makes them many.
  const std::string text = sentence({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 50, 60, 70, 80, 90, 500, 600, 700, 800});
  INFO(text);
  CHECK(has(text, "neither factor nor offset explains the difference; nearest comes A times "));
}

TEST_CASE("what stands in the way of a fair comparison is said first") {
  Report a = sample::report(), b = sample::report();
  a.config = R"({"rules":"ib"})";
  b.trace_hash = "dead";
  b.partial = true;
  Comparison c = compared(a, b, std::nullopt, "rxe-6.1");
  REQUIRE(c.notes.size() == 3);
  CHECK(c.notes[0] ==
        "The programs differ (pool.mtrace, hash beef and pool.mtrace, hash dead): what follows compares results of two programs.");
  CHECK(c.notes[1] == "B is incomplete: what was measured before it stopped.");
  CHECK(has(c.notes[2], "A was run under the rules ib, B claims rxe-6.1: "));
  CHECK(has(to_text(c), "B: b.json (pool.mtrace, rules rxe-6.1)\n"));

  b = sample::report();
  b.config = a.config;
  CHECK(compared(a, b).notes.empty());
  c = compared(a, b, std::nullopt, "rxe-6.1");
  REQUIRE(c.notes.size() == 2);
  CHECK(c.notes[0] == "B was run under the rules ib, although it is said to follow rxe-6.1.");
}

TEST_CASE("counts of a replay that was repeated are held against as many runs of the other side") {
  Report a = sample::report(), b;
  a.registration.contention.clear();
  b = a;
  b.config = R"({"replay":{"rules":"rxe-6.1","repeat":3}})";
  b.measured_on = "rxe0 (rdma_rxe, Linux 6.1.0)";
  for (std::uint64_t& n : b.completions) n *= 3;
  for (OperationStats& o : b.operations) {
    o.posted *= 3;
    o.completed *= 3;
    o.bytes = o.bytes * 3;
  }
  b.failed_calls["reg_mr"][ENOMEM] = 3;
  b.registration.reg_mr.calls *= 3;
  b.registration.reg_mr.bytes = b.registration.reg_mr.bytes * 3;
  b.unexpected_total = 4;
  OperationsComparison operations;
  operations.completed_a[unsigned(verbs::Opcode::write)] = operations.completed_b[unsigned(verbs::Opcode::write)] = 3;
  const Comparison c = compared(a, b, operations);
  CHECK(differing(c) == std::vector<std::string>{"unexpected answers: 3 4"});
  REQUIRE(c.notes.size() == 1);
  CHECK(c.notes[0] == "A's report is of 1 run, B's of 3: counts are taken for as many of each.");
  CHECK(has(to_text(c), "B: b.json (pool.mtrace, rules rxe-6.1)\n   measured on rxe0 (rdma_rxe, Linux 6.1.0)\n"));
  CHECK(Json::parse(to_json(c))["b"]["runs"] == 3);
  // Both of three: as they are.
  CHECK(differing(compared(b, b, std::nullopt)).empty());
  operations.completed_b[unsigned(verbs::Opcode::write)] = 2;
  CHECK(has(compared(a, b, operations).notes.back(),
            "B's operations file has 2 completed write in the measured window, its report counts 9 "
            "in 3 runs: "));
}

TEST_CASE("operations of another run than the report's are noticed") {
  OperationsComparison operations;
  operations.completed_a[unsigned(verbs::Opcode::write)] = 3;
  operations.completed_b[unsigned(verbs::Opcode::write)] = 2;
  const Comparison c = compared(sample::report(), sample::report(), operations);
  REQUIRE(c.notes.size() == 1);
  CHECK(c.notes[0] ==
        "B's operations file has 2 completed write in the measured window, its report counts 3: they are not of one run, or a part of the "
        "file is missing.");
}

TEST_CASE("differences that are too many for a screen are counted, and what rules say of several is said once") {
  Names names;
  std::vector<OperationRow> a, b;
  for (std::uint64_t wr = 0; wr < 300; ++wr) {
    const std::uint32_t qp = names.number(fmt::format("qp{}", wr % 40));
    a.push_back(
        {names.number("a"), qp, verbs::Opcode::write, verbs::Status::LOC_PROT_ERR, true, true, wr, std::uint64_t{1} << wr % 30, ns(5)});
    b.push_back(a.back());
    b.back().status = verbs::Status::LOC_QP_OP_ERR;
  }
  b.resize(200);
  std::reverse(b.begin(), b.end());
  Report report_a = sample::report(), report_b = sample::report();
  report_a.config = R"({"rules":"ib"})";
  const Comparison c = compared(report_a, report_b, compare_operations(a, b, names), "rxe-6.1");
  const std::string text = to_text(c);
  CHECK(std::count(text.begin(), text.end(), '\n') <= 50);
  CHECK(has(text, "Operations: 200 in both, of which 200 differ; 100 only in A, 0 only in B\n"));
  CHECK(has(text, "  a qp0 wr=0 write: LOC_PROT_ERR in A, LOC_QP_OP_ERR in B [1]\n"));
  CHECK(has(text, "  a qp0 wr=200 write: only in A, with LOC_PROT_ERR\n"));
  CHECK(has(text, "  [1] rxe-6.1 answers LOC_QP_OP_ERR where ib answers LOC_PROT_ERR (requester.gather_key)\n"));
  CHECK(has(text, "Order in which they end: 40 of 40 queues differ\n"));
  CHECK(has(text, "  a qp0, send number 1: wr=0 LOC_PROT_ERR in A, wr=160 LOC_QP_OP_ERR in B\n"));
  CHECK(has(text, "Statuses, order and counts differ.\n"));
  for (std::size_t at = 0, next = 0; (next = text.find('\n', at)) != std::string::npos; at = next + 1) CHECK(next - at <= 100);
  CHECK(has(to_text(c, {.colour = true}), "\x1b[31mStatuses, order and counts differ.\x1b[0m\n"));
}

TEST_CASE("classes of size give way to kinds where there are too many") {
  Names names;
  std::vector<OperationRow> rows;
  for (std::uint64_t wr = 0; wr < 40; ++wr)
    rows.push_back({names.number("a"), names.number("q"), verbs::Opcode::write, verbs::Status::SUCCESS, true, true, wr,
                    std::uint64_t{1} << wr, ns(5)});
  const auto text = [&](std::size_t count) {
    const std::span<const OperationRow> part(rows.data(), count);
    return to_text(compared(sample::report(), sample::report(), compare_operations(part, part, names)));
  };
  CHECK(has(text(20), "\n    write 524288 B "));
  CHECK_FALSE(has(text(20), "classes of size"));
  CHECK_FALSE(has(text(40), "\n    write "));
  CHECK(has(text(40), "\n  reg_mr call ~ "));
  CHECK(has(text(40), "\n  and 40 classes of size, which the JSON has\n"));
}

TEST_CASE("the JSON has all of it") {
  Names names;
  const std::uint32_t host = names.number("a"), qp = names.number("q");
  std::vector<OperationRow> a, b;
  for (std::uint64_t wr = 0; wr < 30; ++wr) {
    a.push_back(
        {host, qp, verbs::Opcode::write, verbs::Status::SUCCESS, true, true, wr, wr < 15 ? 64u : 4096u, ns(100 + std::int64_t(wr))});
    b.push_back(a.back());
    b.back().latency = ns(200 + 2 * std::int64_t(wr));
  }
  std::swap(b[3], b[4]);
  b[9].status = verbs::Status::WR_FLUSH_ERR;
  Report report = sample::report();
  const Json json = Json::parse(to_json(compared(report, report, compare_operations(a, b, names))));
  CHECK(json["schema"] == 1);
  CHECK(json["version"] == MTSIM_VERSION);
  CHECK(json["differs"] == true);
  CHECK(json["a"]["name"] == "a.json");
  CHECK(json["notes"].size() == 2);
  CHECK(json["counts"]["write posted"] == Json({{"a", 4}, {"b", 4}, {"differs", false}}));
  CHECK(json["operations"] == Json({{"rows_a", 30}, {"rows_b", 30}, {"matched", 30}, {"differing", 1}, {"only_a", 0}, {"only_b", 0}}));
  CHECK(json["first_differing"][0]["wr"] == 9);
  CHECK(json["first_differing"][0]["b"]["status"] == "WR_FLUSH_ERR");
  CHECK(json["order"][0]["position"] == 4);
  CHECK(json["order"][0]["a"] == Json({{"wr", 3}, {"status", "SUCCESS"}}));
  REQUIRE(json["times"].size() == 4);
  const Json& all = json["times"][0];
  CHECK(all["name"] == "write");
  CHECK(all["n_b"] == 29);
  CHECK(all["a"]["min_ns"] == 100.0);
  CHECK(all["ratios"]["min"] == 2.0);
  CHECK(all["ks"] == 1.0);
  CHECK(all["ks_critical_1_percent"].get<double>() == Approx(1.6276 * 0.26040).epsilon(1e-3));
  CHECK(all["differs"] == true);
  CHECK(all["best"] == "factor");
  CHECK(all["laws"][0]["factor"].get<double>() == Approx(2));
  CHECK(json["times"][1]["name"] == "write 64 B");
  CHECK(json["times"][1]["of_one_size_class"] == true);
  CHECK(json["times"][3]["name"] == "reg_mr call");
  CHECK(json["times"][3]["approximate"] == true);
}
