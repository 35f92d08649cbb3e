#include "results/text.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "results/human.h"
#include "sample.h"

namespace mtsim::results {
namespace {

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}
std::ptrdiff_t line_count(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }
bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("figures take the unit that suits") {
  CHECK(human::time_ns(0) == "0 ns");
  CHECK(human::time(ps(850)) == "850 ps");
  CHECK(human::time(ps(2'314)) == "2.31 ns");
  CHECK(human::time(ps(999'499)) == "999 ns");
  CHECK(human::time(ps(999'600)) == "1.00 us");
  CHECK(human::time(us(1'500'000)) == "1.50 s");
  CHECK(human::bytes(Bytes(64)) == "64 B");
  CHECK(human::bytes(KiB(4)) == "4.10 KB");
  CHECK(human::bit_rate(97.71e9) == "97.7 Gb/s");
  CHECK(human::rate(2.98e6) == "2.98 M/s");
  CHECK(human::count(999) == "999");
  CHECK(human::count(16'384) == "16,384");
  CHECK(human::count(1'234'567) == "1,234,567");
  CHECK(human::count(123'456'789) == "123 M");
  CHECK(human::percent(0.351) == "35.1 %");
  CHECK(human::bar(0.5, 10) == "#####");
  CHECK(human::bar(0.001, 10).empty());
  CHECK(human::cut("a.nic.mtt_cache", 8) == "a.nic...");
}

TEST_CASE("the summary says what a person asks first") {
  const std::string text = summary(sample::report());
  CHECK(holds(text, "mtsim 0.1.0: pool.mtrace, seed 7\n"));
  CHECK(holds(text, "3 operations at 30.0 K/s, 8.19 KB of payload at 655 Mb/s, in 100 us (120 us simulated)\n"));
  CHECK(holds(text, "Completions: 2 SUCCESS, 1 REM_ACCESS_ERR"));
  CHECK(holds(text, "Calls that failed: 1 reg_mr ENOMEM"));
  CHECK(holds(text, "reg_mr   2 calls, 1 ENOMEM; 1.05 MB, 256 pages; 30.0 us a call"));
  CHECK(holds(text, "a.cpu (2 CPUs, 2.1 GHz) saturates: in use 95.0 % of the time."));
  CHECK(holds(text, "line 17: a.t0 poll cq wr=3: expected SUCCESS, got REM_ACCESS_ERR"));
  CHECK_FALSE(holds(text, "\x1b"));
}

TEST_CASE("memory that ran short has a part of its own, with the ends that its levels came to") {
  Report r = sample::report();
  CHECK_FALSE(holds(summary(r), "swapped out"));
  MemoryStats m;
  m.host = "a";
  m.swapped_out = 2;
  r.memory.push_back(m);
  const std::string text = summary(r);
  CHECK(holds(text, "a        2 pages swapped out, 0 read back"));
  CHECK(holds(text, "least free 66.1 MB at 1.00 us; at most 1.05 MB pinned, 8.19 KB in swap"));
}

TEST_CASE("a summary fits one screen whatever happened") {
  const std::string text = summary(sample::crowded());
  CHECK(line_count(text) <= 50);
  CHECK(longest_line(text) <= 100);
  CHECK(holds(text, "and 9 more opcodes"));
  CHECK(holds(text, "(1 of 21)"));
  CHECK(holds(text, "What operations waited for (1 of "));
  CHECK(holds(text, "Misses in a row (1 of "));
}

TEST_CASE("where not all fits, caches that miss stay, and the steps of latency before CPUs and PCIe") {
  Report r = sample::report();
  const CacheStats missing = r.caches.front();
  r.caches.clear();
  for (int i = 0; i < 6; ++i) {
    CacheStats hits{"host" + std::to_string(i) + ".nic.mpt_cache", 1'000, 1'000, 0, 0, 0, 0, 0, TotalTime(0), Time()};
    r.caches.push_back(hits);
  }
  r.caches.push_back(missing);
  r.phases.assign(4, {"touch", 2, us(30), Bytes(0)});
  r.resources.insert(r.resources.end(), 6, r.resources.front());
  r.cpus.insert(r.cpus.end(), 6, r.cpus.front());
  r.pcie.insert(r.pcie.end(), 6, r.pcie.front());
  r.miss_chains.insert(r.miss_chains.end(), 6, r.miss_chains.front());
  const std::string text = summary(r);
  CHECK(line_count(text) <= 50);
  CHECK(holds(text, "  a.nic.mtt_cache "));
  for (const char* step : {"  doorbell ", "  translation ", "  wire "}) CHECK(holds(text, step));
  CHECK(holds(text, "Caches (4 of 7)"));
  CHECK(holds(text, "CPU time (1 of 7)"));
  CHECK(holds(text, "PCIe (2 of 7)"));
}

TEST_CASE("a host that is idle has no row of CPU time, an idle direction none of PCIe") {
  Report r = sample::report();
  r.cpus.front().host = "idler";
  r.cpus.front().user = r.cpus.front().system_call = us(0);
  r.cpus.front().registration.clear();
  r.pcie.front().busy = ns(900);
  CHECK_FALSE(holds(summary(r), "idler"));
  CHECK_FALSE(holds(summary(r), "PCIe  "));
}

TEST_CASE("PCIe tells how busy it is and what for") {
  Report r = sample::report();
  r.pcie.front().busy = us(50);
  r.counters.push_back({"a.pcie.up.payload", "bytes", "", 264});
  r.counters.push_back({"a.pcie.up.cqes", "bytes", "", 88});
  r.counters.push_back({"a.pcie.up.tables", "bytes", "", 0});
  // 352 B in all.
  const std::string text = summary(r);
  CHECK(holds(text,
              "PCIe                                busy   payload      cqes   stalled\n"
              "  a.pcie.up                       50.0 %    37.5 %    12.5 %   50.0 ns\n"));
}

TEST_CASE("an interrupted run says so") {
  Report r = sample::report();
  r.partial = true;
  CHECK(holds(summary(r), "INCOMPLETE"));
}

TEST_CASE("what is empty is left out") {
  const std::string text = summary(Report{});
  CHECK(line_count(text) == 2);
}

TEST_CASE("colour changes nothing but colour") {
  std::string text = summary(sample::report(), {.colour = true});
  CHECK(holds(text, "\x1b[1m"));
  for (const std::string style : {"\x1b[1m", "\x1b[31m", "\x1b[0m"})
    for (std::size_t at; (at = text.find(style)) != std::string::npos;) text.erase(at, style.size());
  CHECK(text == summary(sample::report()));
}

TEST_CASE("variants stand side by side, registration charged to each operation") {
  Report pool = sample::report();
  pool.registration.reg_mr = {};
  pool.unexpected_total = 0;
  pool.unexpected.clear();
  const std::string text = side_by_side(std::vector<Variant>{{"per_op", sample::report()}, {"pool", pool}});
  CHECK(holds(text, "Variant                                 per_op              pool\n"));
  // 30 us of reg_mr over three operations.
  CHECK(holds(text, "  reg_mr                               10.0 us                 -\n"));
  CHECK(holds(text, "    pin                                9.67 us                 -\n"));
  CHECK(holds(text, "CPU share of registration               35.0 %            35.0 %\n"));
  CHECK(holds(text, "per_op: a.cpu (2 CPUs, 2.1 GHz) saturates: in use 95.0 % of the time.\n"));
  CHECK(holds(text, "per_op: first unexpected answer: line 17:"));
  CHECK(longest_line(text) <= 100);
}

TEST_CASE("phases are told with the time of one and the rate of all") {
  Report r = sample::report();
  r.phases = {{"touch", 2, us(30), Bytes(0)}, {"registration", 2, us(200), Bytes(2'000'000)}};
  const std::string text = summary(r);
  CHECK(holds(text, "Phases\n  touch           2 of 15.0 us\n  registration    2 of 100 us; 2.00 MB at 10.0 GB/s\n"));
  const std::string beside = side_by_side(std::vector<Variant>{{"with", r}, {"without", sample::report()}});
  CHECK(holds(beside, "touch, time                            15.0 us                 -\n"));
  CHECK(holds(beside, "registration, time                      100 us                 -\n"));
  CHECK(holds(beside, "registration, rate                   10.0 GB/s                 -\n"));
  CHECK_FALSE(holds(beside, "touch, rate"));
}

TEST_CASE("more than four variants wrap into blocks") {
  std::vector<Variant> variants;
  for (int i = 0; i < 6; ++i) variants.push_back({"a_variant_with_a_long_name_" + std::to_string(i), sample::crowded()});
  const std::string text = side_by_side(variants);
  CHECK(longest_line(text) <= 100);
  std::size_t blocks = 0;
  for (std::size_t at = 0; (at = text.find("\nVariant ", at)) != std::string::npos; ++at) ++blocks;
  CHECK(blocks == 2);
}

}  // namespace
}  // namespace mtsim::results
