// What holds of every replay of a trace, whatever its pace and the order of its lines.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>
#include <sstream>

#include "support/run_command.h"
#include "support/system_run.h"

using namespace mtsim;
using namespace mtsim::test;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// The operations of a trace by actor, in order, and the header before them.
struct Parts {
  std::string header;
  std::map<std::string, std::vector<std::string>> actors;
};

Parts parts_of(const std::string& path) {
  Parts out;
  for (const std::string& line : lines_of(read_file(path))) {
    const std::string actor = line.substr(0, line.find(' '));
    if (actor.find('.') == std::string::npos || line[0] == '#') out.header += line + '\n';
    else out.actors[actor].push_back(line);
  }
  return out;
}

/// The same trace with the actors' lines shuffled together in another way, each actor's own in order.
std::string shuffled(const Parts& parts, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::string> turns;
  for (const auto& [actor, lines] : parts.actors) turns.insert(turns.end(), lines.size(), actor);
  for (std::size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[random() % i]);
  std::map<std::string, std::size_t> next;
  std::string out = parts.header;
  for (const std::string& actor : turns) out += parts.actors.at(actor)[next[actor]++] + '\n';
  return out;
}

/// The report's JSON without the trace's hash, which is that of its bytes.
std::string without_hash(SystemRun run) {
  run.report.trace_hash.clear();
  return run.json();
}

std::vector<std::string> lessons() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator("traces"))
    if (entry.path().extension() == ".mtrace") out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("A trace gives the same bytes in whatever order its hosts and actors appear") {
  const TempFolder folder;
  for (const std::string& trace : lessons()) {
    const Parts parts = parts_of(trace);
    INFO(trace);
    const std::string first = without_hash(run_system({}, folder.write("t.mtrace", shuffled(parts, 0))));
    for (unsigned seed = 1; seed <= 3; ++seed) {
      INFO("order " << seed);
      CHECK(without_hash(run_system({}, folder.write("t.mtrace", shuffled(parts, seed)))) == first);
    }
  }
}

TEST_CASE("A replay at the recorded times has the completions of one as fast as possible, and takes longer") {
  for (const char* name : {"ib_write_bw-4k-list", "ib_write_bw-64k-mrperqp", "ib_read_lat-64", "ib_read_bw-1m-q2"}) {
    const std::string trace = std::string("traces/recorded/") + name + ".mtrace";
    INFO(name);
    const results::Report fast = run_system({}, trace, program::ReplayTime::asap).report;
    const results::Report paced = run_system({}, trace, program::ReplayTime::recorded).report;
    CHECK(paced.unexpected_total == 0);
    CHECK(fast.unexpected_total == 0);
    CHECK(paced.completions == fast.completions);
    REQUIRE(paced.operations.size() == fast.operations.size());
    for (std::size_t i = 0; i < fast.operations.size(); ++i) {
      CHECK(paced.operations[i].completed == fast.operations[i].completed);
      CHECK(paced.operations[i].bytes == fast.operations[i].bytes);
    }
    CHECK(paced.simulated > fast.simulated);
  }
}

TEST_CASE("Statuses do not depend on limits of the hardware, nor on how its caches work") {
  for (const std::string& trace : lessons()) {
    INFO(trace);
    const results::Report usual = run_system({}, trace).report;
    const results::Report least = run_system({"nic.walks=1", "nic.mtt_cache.lines=0", "nic.mpt_cache.lines=0", "nic.requester.contexts=1",
                                              "nic.responder.contexts=1", "nic.requester.prefetch=1", "pcie.tags=1"},
                                             trace)
                                      .report;
    CHECK(usual.unexpected_total == 0);
    CHECK(least.unexpected_total == 0);
    CHECK(least.completions == usual.completions);
    CHECK(least.failed_calls == usual.failed_calls);
    const results::Report other =
        run_system({"nic.mtt_cache.table_write=update", "nic.mpt_cache.table_write=update", "nic.cache_pool.table_write=update",
                    "nic.mtt_cache.prefetch=next_line", "nic.mpt_cache.prefetch=next_line", "nic.mtt_cache.lines=4", "nic.mtt_cache.ways=0",
                    "nic.mpt_cache.lines=4", "nic.mpt_cache.index=skewed", "nic.mpt_cache.replacement=srrip", "nic.cache_pool.lines=64",
                    "nic.cache_pool.pd_ways=2"},
                   trace)
            .report;
    CHECK(other.unexpected_total == 0);
    CHECK(other.completions == usual.completions);
    CHECK(other.failed_calls == usual.failed_calls);
  }
}
