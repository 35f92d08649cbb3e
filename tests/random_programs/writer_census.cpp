// How many of what a program has.
#include <map>
#include <sstream>

#include "writer.h"

namespace mtsim::random_programs {

namespace {

using Counts = std::map<std::string, unsigned>;

std::string word_of(const std::string& line, unsigned number) {
  std::istringstream in(line);
  std::string word;
  for (unsigned i = 0; i <= number; ++i) in >> word;
  return word;
}

/// What answers are expected: `7:SUCCESS,8:WR_FLUSH_ERR` are two.
void count_answers(const Operation& o, Counts& answers) {
  if (o.expect.empty()) {
    answers[o.kind == Kind::poll ? "SUCCESS" : "ok"] += o.kind == Kind::poll ? o.count : 1;
    return;
  }
  std::istringstream in(o.expect);
  for (std::string answer; std::getline(in, answer, ',');) {
    const std::size_t colon = answer.find(':');
    ++answers[colon == std::string::npos ? answer : answer.substr(colon + 1)];
  }
}

std::string line_of(const std::string& what, const Counts& counts) {
  std::string out = what + ":";
  for (const auto& [name, count] : counts) out += " " + name + " " + std::to_string(count);
  return out + "\n";
}

}  // namespace

std::string census_of(const Program& program) {
  Counts calls, requests, answers;
  std::map<int, std::uint64_t> waits;  // by host
  unsigned operations = 0;
  for (const Operation& o : program.operations) {
    if (o.kind == Kind::sleep || o.kind == Kind::poll_idle) waits[o.host] += o.time;
    if (!counts(o.kind)) continue;
    ++operations;
    const std::string line = random_programs::line_of(o);
    // "a.t0 post_send qp1 wr=5 write ..."
    ++calls[o.kind == Kind::poll_idle ? "poll_idle" : word_of(line, 1)];
    if (o.kind == Kind::post_send) ++requests[word_of(line, 4)];
    if (o.kind != Kind::poll_idle && !o.never_posted) count_answers(o, answers);
  }
  std::uint64_t longest = 0;
  for (const auto& [host, ns] : waits) longest = std::max(longest, ns);
  std::string out = std::to_string(operations) + " operations of " + std::to_string(program.hosts) + " hosts, seed " +
                    std::to_string(program.seed) + ", rules " + program.rules + "\n";
  out += line_of("calls", calls) + line_of("requests", requests) + line_of("answers", answers);
  return out + "waits: " + std::to_string(longest / 1'000'000) + " ms\n";
}

}  // namespace mtsim::random_programs
