#include "system/collect_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace mtsim::system {
namespace {

/// Steps as waits name them: those of a look-up are told as one.
constexpr std::array<const char*, ports::step_count> steps{
    "post",      "doorbell",          "WQE fetch",         "retry",         "schedule",      "look-up", "look-up",   "DMA", "wire",
    "responder", "responder look-up", "responder look-up", "responder DMA", "response wire", "scatter", "completion"};

}  // namespace

std::string wait_name(ports::Step step, ports::Cause cause) {
  return fmt::format("{}: {}", steps[unsigned(step)], ports::cause_names[unsigned(cause)]);
}

std::string longest_waits(const ports::Waits& waits) {
  std::vector<ports::Waits::Entry> sorted(waits.begin(), waits.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.span > b.span; });
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, sorted.size()); ++i)
    out += fmt::format("{}{} {:.1f} ns", i == 0 ? "" : ", ", wait_name(sorted[i].step(), sorted[i].cause()),
                       static_cast<double>(sorted[i].span) / 1e3);
  return out;
}

void collect_waits(const std::vector<std::unique_ptr<Host>>& hosts, results::Report& report) {
  for (results::OperationStats& operation : report.operations) {
    results::WaitTable waits;
    for (const auto& host : hosts) waits.merge(host->operations.kept()[unsigned(operation.opcode)].waits);
    operation.waits = waits.stats(operation.latency.latency().count(), [](std::uint32_t kind) {
      const ports::Waits::Entry entry{0, kind};
      return wait_name(entry.step(), entry.cause());
    });
  }
}

}  // namespace mtsim::system
