#include "results/operations_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "results/quoted.h"

namespace mtsim::results {

OperationsFile::OperationsFile(OutputFile& file, const std::vector<std::string>& steps, std::span<const char* const> causes)
    : out_(file), spans_(steps.size()) {
  out_.add("host,qp,qpn,wr,opcode,bytes,status,measured,begin_ns,end_ns,latency_ns");
  for (const std::string& step : steps) out_.add("," + quoted(step + "_ns"));
  out_.add(",service_ns");
  for (const char* cause : causes) out_.add("," + quoted(fmt::format("wait: {}_ns", cause)));
  out_.add(",waited_for,cqe\n");
}

std::string OperationsFile::queue(const std::string& host, const std::string& name, std::uint32_t qpn) {
  return fmt::format("{},{},{}", quoted(host), quoted(name), qpn);
}

void OperationsFile::add(const Operation& o) {
  assert(o.ends.size() == spans_.size());
  Time at = o.begin;
  for (std::size_t i = 0; i < o.ends.size(); ++i) {
    spans_[i] = std::max(o.ends[i], at) - at;
    at += spans_[i];
  }
  const auto number = [&](std::uint64_t n) {
    out_.add(',');
    out_.add(n);
  };
  const auto word = [&](std::string_view text) {
    out_.add(',');
    out_.add(text);
  };
  const auto time = [&](Time t) {
    out_.add(',');
    out_.add_ns(t);
  };
  out_.add(o.queue);
  number(o.wr);
  word(verbs::name(o.opcode));
  number(o.bytes);
  word(verbs::name(o.status));
  word(o.measured ? "yes" : "no");
  time(o.begin);
  time(at);
  time(at - o.begin);
  for (const Time span : spans_) time(span);
  Time waited;
  for (const Time wait : o.waits) waited += wait;
  time(at - o.begin - waited);
  for (const Time wait : o.waits) time(wait);
  number(o.waited_for);
  word(o.cqe ? "yes" : "no");
  out_.add('\n');
}

}  // namespace mtsim::results
