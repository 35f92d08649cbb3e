#include "results/derived.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mtsim::results {
namespace {

double per_second(double amount, Time window) { return window.raw <= 0 ? 0.0 : amount * 1e12 / static_cast<double>(window.raw); }

std::string described(const ResourceStats& r) {
  const std::string plural = r.capacity == 1 ? "" : "s";
  std::string what;
  switch (r.kind) {
    case ResourceKind::cpu:
      what = fmt::format("{} CPU{}", r.capacity, plural);
      break;
    case ResourceKind::server:
      what = fmt::format("{} server{}", r.capacity, plural);
      break;
    case ResourceKind::pool:
      what = fmt::format("{} unit{}", r.capacity, plural);
      break;
    case ResourceKind::link:
      what = "link";
      break;
  }
  if (!r.note.empty()) what += ", " + r.note;
  return fmt::format("{} ({})", r.name, what);
}

/// What registrations would fill first, and from how many threads on.
std::string limit_of_registration(const Report& r) {
  const Contention* first = nullptr;
  double fewest = 0;
  for (const Contention& c : r.registration.contention) {
    const double threads = full_from_threads(r, c);
    if (c.calls < contention_told_from || threads == 0 || (first != nullptr && threads >= fewest)) continue;
    first = &c;
    fewest = threads;
  }
  if (first == nullptr) return {};
  return fewest <= 1 ? fmt::format(" One thread that only registers fills {}.", first->name)
                     : fmt::format(" {:.0f} threads that only register fill {}.", std::ceil(fewest), first->name);
}

/// A message and the receive that it took are one operation: the sender's.
bool counts(const OperationStats& o) { return o.opcode != verbs::Opcode::recv; }

}  // namespace

Time CpuStats::registering() const {
  Time sum;
  for (const StepTime& s : registration) sum += s.time;
  return sum;
}

std::uint64_t completed_operations(const Report& r) {
  std::uint64_t n = 0;
  for (const OperationStats& o : r.operations)
    if (counts(o)) n += o.completed;
  return n;
}

Bytes payload(const Report& r) {
  Bytes n;
  for (const OperationStats& o : r.operations)
    if (counts(o)) n += o.bytes;
  return n;
}

double goodput_bits_per_s(const Report& r) { return per_second(static_cast<double>(payload(r).raw) * 8, r.window()); }
double bytes_per_s(const PhaseStats& p) { return per_second(static_cast<double>(p.bytes.raw), p.time); }
double operations_per_s(const Report& r) { return per_second(static_cast<double>(completed_operations(r)), r.window()); }

TotalTime service(const OperationStats& o) {
  TotalTime left = o.latency.latency().sum();
  for (const WaitStats& w : o.waits) left -= w.total;
  return left;
}

LatencyTable all_latencies(const Report& r) {
  std::vector<std::string> steps;
  std::vector<TotalTime> totals;
  Histogram latency;
  for (const OperationStats& o : r.operations) {
    if (!counts(o)) continue;
    latency.merge(o.latency.latency());
    for (std::size_t i = 0; i < o.latency.steps().size(); ++i) {
      const std::string& step = o.latency.steps()[i];
      const auto at = static_cast<std::size_t>(std::find(steps.begin(), steps.end(), step) - steps.begin());
      if (at == steps.size()) {
        steps.push_back(step);
        totals.emplace_back();
      }
      totals[at] += o.latency.total(i);
    }
  }
  return LatencyTable(std::move(steps), std::move(totals), std::move(latency));
}

double utilisation(const ResourceStats& r, Time window) {
  const double whole = static_cast<double>(r.capacity) * static_cast<double>(window.raw);
  return whole <= 0 ? 0.0 : static_cast<double>(r.busy.raw) / whole;
}

double registration_cpu_share(const Report& r) {
  double spent = 0, cpus = 0;
  for (const CpuStats& c : r.cpus) {
    if (c.registering().raw == 0) continue;
    spent += static_cast<double>(c.registering().raw);
    cpus += static_cast<double>(c.cpus);
  }
  return cpus == 0 || r.window().raw <= 0 ? 0.0 : spent / (cpus * static_cast<double>(r.window().raw));
}

const ResourceStats* busiest(const Report& r) {
  const auto found = std::max_element(r.resources.begin(), r.resources.end(), [&](const ResourceStats& a, const ResourceStats& b) {
    return utilisation(a, r.window()) < utilisation(b, r.window());
  });
  return found == r.resources.end() ? nullptr : &*found;
}

double full_from_threads(const Report& r, const Contention& c) {
  const auto found = std::find_if(r.resources.begin(), r.resources.end(), [&](const ResourceStats& s) { return s.name == c.name; });
  if (found == r.resources.end() || c.kept.raw <= 0) return 0;
  return std::max(1.0, static_cast<double>(c.alone.raw) * static_cast<double>(found->capacity) / static_cast<double>(c.kept.raw));
}

std::string what_saturates(const Report& r) {
  const ResourceStats* top = busiest(r);
  if (top == nullptr) return {};
  const double share = utilisation(*top, r.window());
  if (share < saturated_from)
    return fmt::format("Nothing saturates; the busiest is {}, in use {:.1f} % of the time.", described(*top), share * 100) +
           limit_of_registration(r);
  const auto others = std::count_if(r.resources.begin(), r.resources.end(),
                                    [&](const ResourceStats& o) { return &o != top && utilisation(o, r.window()) >= saturated_from; });
  const std::string also = others == 0 ? "" : fmt::format("; {} more at {:.0f} % or above", others, saturated_from * 100);
  return fmt::format("{} saturates: in use {:.1f} % of the time{}.", described(*top), share * 100, also) + limit_of_registration(r);
}

std::vector<std::string> contradictions(const Report& r) {
  std::vector<std::string> out;
  const auto table = [&](const std::string& what, const LatencyTable& t) {
    if (!t.adds_up()) out.push_back(fmt::format("{}: the steps do not add up to the latency", what));
  };
  for (const OperationStats& o : r.operations) {
    table(std::string(verbs::name(o.opcode)), o.latency);
    if (o.latency.latency().count() > o.completed)
      out.push_back(fmt::format("{}: {} latencies of {} completed", verbs::name(o.opcode), o.latency.latency().count(), o.completed));
  }
  for (const OperationStats& o : r.operations)
    if (service(o).raw < 0) out.push_back(fmt::format("{}: waits for longer than the latency", verbs::name(o.opcode)));
  table("reg_mr", r.registration.reg_mr.latency);
  table("dereg_mr", r.registration.dereg_mr.latency);
  for (const CacheStats& c : r.caches)
    if (c.hits + c.misses() != c.lookups)
      out.push_back(fmt::format("{}: {} look-ups, but {} hits and {} misses", c.name, c.lookups, c.hits, c.misses()));
  for (const ResourceStats& s : r.resources) {
    if (utilisation(s, r.window()) > 1) out.push_back(fmt::format("{}: in use {} ps, more than its time", s.name, s.busy.raw));
    // Of CPUs it is the longest queue.
    if (s.kind != ResourceKind::cpu && s.most_in_use > s.capacity)
      out.push_back(fmt::format("{}: {} units in use of {}", s.name, s.most_in_use, s.capacity));
  }
  for (const PcieStats& p : r.pcie)
    if (p.busy > r.window()) out.push_back(fmt::format("{}: busy {} ps, more than the window", p.name, p.busy.raw));
  for (const CpuStats& c : r.cpus) {
    const Time parts = c.user + c.system_call + c.registering() + c.interrupt + c.polling + c.idle;
    const Time whole = r.window() * static_cast<std::int64_t>(c.cpus);
    if (parts != whole) out.push_back(fmt::format("{}: CPU time adds up to {} ps of {} ps", c.host, parts.raw, whole.raw));
  }
  return out;
}

}  // namespace mtsim::results
