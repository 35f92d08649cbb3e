// Does the simulator answer every operation of a program drawn from a seed as the rules demand? The oracle that says so shares nothing with
// the model but this file.
//
// MTSIM_SEEDS=COUNT or MTSIM_SEEDS=FIRST:COUNT runs other seeds than those of every build.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <set>
#include <sstream>

#include "random_programs/generator.h"
#include "random_programs/writer.h"
#include "support/system_run.h"
#include "support/temp_folder.h"

using namespace mtsim;
using namespace mtsim::test;
namespace random_programs = mtsim::random_programs;

namespace {

struct Seeds {
  std::uint64_t first = 1, count = 20;
};

Seeds seeds() {
  Seeds s;
  const char* asked = std::getenv("MTSIM_SEEDS");
  if (asked == nullptr) return s;
  const std::string text = asked;
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) s.first = std::stoull(text.substr(0, colon));
  s.count = std::stoull(colon == std::string::npos ? text : text.substr(colon + 1));
  return s;
}

/// Keys are not used again, so that stale ones stay so; packets travel one by one, as the rules speak of them. What the hardware is does
/// not matter to any answer.
std::vector<std::string> settings(const random_programs::Options& options) {
  std::vector<std::string> out{"rules=" + options.rules.name, "driver.keys=cyclic", "network.train=0B"};
  if (options.rules.name == "rxe-6.1")
    for (const char* set : {"driver.rereg=none", "driver.rkey=lkey_if_remote", "kernel.pin_by_force=true"}) out.push_back(set);
  static const std::vector<std::vector<std::string>> choices{
      {"nic.requester.contexts=1", "nic.requester.contexts=64"},
      {"nic.responder.contexts=1", "nic.responder.contexts=64"},
      {"nic.requester.prefetch=1", "nic.requester.prefetch=16"},
      {"nic.requester.qp_pieces=1", "nic.requester.qp_pieces=4"},
      {"nic.responder.receive_prefetch=1", "nic.responder.receive_prefetch=8"},
      {"nic.mtt_cache.lines=0", "nic.mtt_cache.lines=8", "nic.mtt_cache.lines=8192"},
      {"nic.mpt_cache.lines=0", "nic.mpt_cache.lines=8", "nic.mpt_cache.lines=4096"},
      {"nic.walks=1", "nic.walks=32"},
      {"pcie.tags=1", "pcie.tags=64"},
      {"driver.table_writer=umr", "driver.table_writer=command"},
      {"host.iommu.mode=off", "host.iommu.mode=translate"},
      {"network.rate=10Gb/s", "network.rate=400Gb/s"},
  };
  random_programs::Dice dice(options.seed);
  for (const auto& choice : choices) out.push_back(dice.pick(choice));
  return out;
}

std::string as_options(const random_programs::Options& options) {
  std::string out;
  for (const std::string& set : settings(options)) out += " --set " + set;
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// A word of a line: `qp3` of "a.t0 post_send qp3 wr=7 ...", or what follows `wr=`.
std::string word_of(const std::string& line, std::size_t number) {
  std::istringstream in(line);
  std::string word;
  for (std::size_t i = 0; i <= number; ++i) in >> word;
  return word;
}
bool has_word(const std::string& line, const std::string& word) { return (" " + line + " ").find(" " + word + " ") != std::string::npos; }

/// The line, the post that it polls, and what was done to that queue before.
std::string story(const std::vector<std::string>& lines, const results::Unexpected& u) {
  constexpr std::size_t most = 8;
  constexpr std::size_t widest = 240;
  const auto numbered = [&](std::size_t i) {
    std::string text = "  " + std::to_string(i + 1) + ": ";
    text.append(lines[i], 0, widest);
    return text += lines[i].size() > widest ? " ...\n" : "\n";
  };
  std::size_t at = u.line - 1;
  std::string out = u.operation + ": expected " + u.expected + ", got " + u.got + "\n";
  // Of a poll: which request, named by the line or by the answer.
  const std::size_t wr = (u.got + " " + u.operation).find("wr=");
  if (word_of(lines.at(at), 1) == "poll" && wr != std::string::npos) {
    const std::string number = word_of((u.got + " " + u.operation).substr(wr), 0), actor = word_of(lines[at], 0);
    out += numbered(at);
    while (at > 0 && !(word_of(lines[at], 1) != "poll" && word_of(lines[at], 0) == actor && has_word(lines[at], number))) --at;
  }
  const std::string queue = word_of(lines[at], 2);
  std::vector<std::size_t> before;
  for (std::size_t i = at + 1; i-- > 0 && before.size() < most;)
    if (word_of(lines[i], 2) == queue) before.push_back(i);
  for (std::size_t i = before.size(); i-- > 0;) out += numbered(before[i]);
  return out;
}

random_programs::Options options_of(const std::string& rules, std::uint64_t seed, bool racy) {
  random_programs::Options options;
  options.seed = seed;
  options.rules = random_programs::rules_named(rules);
  options.racy = racy;
  return options;
}

/// Runs it and checks its answers; returns how many operations it had.
std::uint64_t judge(const random_programs::Options& options, const TempFolder& folder) {
  const random_programs::Program program = random_programs::generate(options);
  const std::string text = random_programs::trace_of(program);
  const SystemRun run = run_system(settings(options), folder.write("program.mtrace", text));
  std::uint64_t operations = 0;
  for (const random_programs::Operation& o : program.operations) operations += random_programs::counts(o.kind);
  std::string told;
  if (run.report.unexpected_total != 0 || !run.stuck.empty()) {
    const std::vector<std::string> lines = lines_of(text);
    for (std::size_t i = 0; i < run.report.unexpected.size() && i < 3; ++i) told += story(lines, run.report.unexpected[i]);
    for (const std::string& line : run.stuck) told += line + "\n";
  }
  const std::string device = " --for rxe --operations " + std::to_string(options.operations);
  INFO("random_program " << options.seed << (options.on_rxe ? device : " --rules " + options.rules.name) << (options.racy ? " --racy" : "")
                         << " -o p.mtrace; mtsim run configs/base.yaml p.mtrace" << as_options(options) << "\n"
                         << told);
  CHECK(run.stuck.empty());
  CHECK(run.report.unexpected_total == 0);
  return operations;
}

/// Whether a window is not bound, or no longer, after this: it is gone, invalidated, or the bind was answered with an error.
bool unbinds(const random_programs::Operation& o, const random_programs::Operation& bind) {
  using random_programs::Kind;
  if (o.kind == Kind::dealloc_mw) return o.id == bind.mw;
  if (o.kind == Kind::post_send) return o.inv.of == random_programs::KeyRef::Of::mw && o.inv.id == bind.mw;
  if (o.kind != Kind::poll || o.host != bind.host || o.expect.empty()) return false;
  if (o.by_number) return o.wr == bind.wr && o.expect != "SUCCESS";
  const std::string answers = "," + o.expect + ",", wr = "," + std::to_string(bind.wr) + ":";
  return answers.find(wr) != std::string::npos && answers.find(wr + "SUCCESS,") == std::string::npos;
}

}  // namespace

TEST_CASE("Every operation of a program that is free of races answers as the rules say") {
  const TempFolder folder;
  const Seeds asked = seeds();
  for (const char* rules : {"ib", "mlx5", "rxe-6.1"}) {
    std::uint64_t operations = 0;
    for (std::uint64_t i = 0; i < asked.count; ++i) operations += judge(options_of(rules, asked.first + i, false), folder);
    CHECK(operations >= asked.count * 10'000);
  }
}

TEST_CASE("What races is answered as one of its orders would be") {
  const TempFolder folder;
  const Seeds asked = seeds();
  for (const char* rules : {"ib", "mlx5", "rxe-6.1"})
    for (std::uint64_t i = 0; i < asked.count; ++i) judge(options_of(rules, asked.first + i, true), folder);
}

TEST_CASE("Programs for a real rxe are answered by the simulated one as the rules say") {
  const TempFolder folder;
  const Seeds asked = seeds();
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(asked.count, 8); ++i) {
    random_programs::Options options = options_of("rxe-6.1", asked.first + i, false);
    options.operations = 2000;
    random_programs::for_rxe(options);
    const std::uint64_t operations = judge(options, folder);
    CHECK(operations > 1800);
    CHECK(operations < 2200);
  }
}

TEST_CASE("Programs for a real rxe have nothing that it answers in its own time or way") {
  using random_programs::Kind;
  using random_programs::Opcode;
  random_programs::Options options = options_of("rxe-6.1", 1, false);
  for (options.seed = 1; options.seed <= 10; ++options.seed) {
    options.operations = 2000;
    random_programs::for_rxe(options);
    const random_programs::Program program = random_programs::generate(options);
    std::size_t exhausted = 0;
    std::uint64_t idle = 0;
    std::vector<random_programs::Operation> bound;  // by which windows of type 2 are bound
    std::set<random_programs::Id> windows, type_1;
    for (const random_programs::Operation& o : program.operations) {
      INFO(options.seed << ": " << random_programs::line_of(o));
      CHECK(o.kind != Kind::rereg_mr);
      CHECK(o.kind != Kind::event);
      if (o.kind == Kind::sleep || o.kind == Kind::poll_idle) idle += o.time;
      if (o.expect.find("RETRY_EXC_ERR") != std::string::npos) ++exhausted;
      if (o.kind == Kind::create_qp) {
        CHECK(o.settings.mtu <= 1024);
        CHECK(o.settings.retry < 7);
        CHECK(o.settings.rnr_retry <= 3);
        CHECK(o.settings.rnr_timer != 0);  // the longest
      }
      if (o.kind == Kind::alloc_mw) windows.insert(o.id);
      if (o.kind == Kind::alloc_mw && o.window_type == 1) type_1.insert(o.id);
      if (o.kind == Kind::dealloc_mw) windows.erase(o.id);
      if (o.kind == Kind::post_send && o.opcode == Opcode::bind_mw && o.expect.empty() && type_1.count(o.mw) == 0) bound.push_back(o);
      std::erase_if(bound, [&](const auto& bind) { return unbinds(o, bind); });
      if (o.kind == Kind::destroy_qp || o.kind == Kind::modify_qp)
        for (const auto& bind : bound) CHECK((o.state == random_programs::QpState::init || bind.id != o.id));
    }
    CHECK(windows.empty());
    CHECK(exhausted <= 10);
    CHECK(idle < 3 * 1'000'000'000ull);
    CHECK(random_programs::trace_of(program) == random_programs::trace_of(random_programs::generate(options)));
  }
  options.racy = true;
  CHECK_THROWS_AS(random_programs::for_rxe(options), std::invalid_argument);
}

TEST_CASE("Generator and oracle include nothing of the model") {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(MTSIM_SOURCE_DIR "/tests/random_programs")) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() || name == "random_programs_test.cpp") continue;
    ++files;
    for (const std::string& line : lines_of(read_file(entry.path().string())))
      if (line.starts_with("#include \"")) {
        INFO(name << ": " << line);
        CHECK(line.find('/') == std::string::npos);
      }
  }
  CHECK(files >= 15);
}
