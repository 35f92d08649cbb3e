#include "system/occupancy.h"

#include <cmath>
#include <utility>

#include "fabric/network.h"
#include "system/host.h"

namespace mtsim::system {
namespace {

constexpr Time first_step{65'536};

}  // namespace

Occupancy::Occupancy(engine::Scheduler& scheduler, const std::vector<std::unique_ptr<Host>>& hosts, const fabric::Switch& network)
    : scheduler_(scheduler) {
  for (std::uint32_t port = 0; port < hosts.size(); ++port) {
    add_host(*hosts[port]);
    const std::string name = hosts[port]->title;
    // What is booked ahead is not in use yet.
    const auto wire = [this, &network, port](bool out) {
      const engine::Server& link = out ? network.up(port) : network.down(port);
      return engine::usage_up_to(link, scheduler_.now()).busy;
    };
    add_busy(name + ".wire.out", 1, [wire] { return wire(true); });
    add_busy(name + ".wire.in", 1, [wire] { return wire(false); });
  }
}

void Occupancy::add_busy(std::string name, std::uint64_t capacity, std::function<Time()> busy) {
  units_.push_back({std::move(name), capacity, [busy = std::move(busy)] { return busy().raw; }, false});
}

void Occupancy::add_level(std::string name, std::uint64_t capacity, std::function<std::uint64_t()> level) {
  units_.push_back({std::move(name), capacity, [level = std::move(level)] { return static_cast<std::int64_t>(level()); }, true});
}

void Occupancy::add_host(Host& host) {
  add_busy(host.title + ".cpus", host.cpus.cpus(), [&host] { return host.cpus.usage().busy; });
  for (const Host::Adapter& adapter : host.adapters()) {
    nic::Nic& nic = adapter.nic;
    pcie::Link& link = adapter.pcie;
    const std::string on = host.title + "." + adapter.nic_name;
    add_level(on + ".requests", 0, [&nic] { return nic.queue_pairs().outstanding(); });
    const auto pool = [&](const char* name, const engine::Semaphore& places) {
      add_busy(on + name, places.places(), [&places] { return places.usage().busy; });
    };
    const auto buffer = [&](const char* name, const engine::Buffer& room) {
      add_level(on + name, room.capacity().raw, [&room] { return room.in_use().raw; });
    };
    pool(".requester.contexts", nic.requester.contexts());
    buffer(".requester.buffer", nic.requester.buffer());
    pool(".responder.contexts", nic.responder.contexts());
    buffer(".responder.buffer", nic.responder.buffer());
    pool(".walker.walks", nic.walker.walks());
    add_busy(on + ".dma.tags", nic.dma.tags(), [&nic] { return nic.dma.tag_usage().busy; });
    add_busy(host.title + "." + adapter.pcie_name + ".up", 1, [&link] { return link.up_usage().busy; });
    add_busy(host.title + "." + adapter.pcie_name + ".down", 1, [&link] { return link.down_usage().busy; });
  }
}

void Occupancy::restart() {
  from_ = scheduler_.now();
  step_ = first_step;
  at_.clear();
  read_.clear();
  first_.clear();
  for (const Unit& unit : units_) first_.push_back(unit.read());
  scheduler_.set_sampler(from_ + step_, [this](Time now) { return sample(now); });
}

void Occupancy::stop() {
  scheduler_.set_sampler(engine::Deadline::never, {});
  note(scheduler_.now());
}

Time Occupancy::sample(Time now) {
  note(now);
  if (at_.size() > most_points) thin();
  // Long after the last one when nothing happened in between.
  const std::int64_t passed = (now - from_) / step_;
  return from_ + step_ * (passed + 1);
}

void Occupancy::note(Time now) {
  if (now <= (at_.empty() ? from_ : at_.back())) return;
  at_.push_back(now);
  std::vector<std::int64_t>& values = read_.emplace_back();
  for (const Unit& unit : units_) values.push_back(unit.read());
}

/// What is read counts from the start, so that a point may go without touching the next.
void Occupancy::thin() {
  step_ = step_ * 2;
  std::size_t kept = 0;
  for (std::size_t i = 1; i < at_.size(); i += 2, ++kept) {
    at_[kept] = at_[i];
    std::swap(read_[kept], read_[i]);
  }
  at_.resize(kept);
  read_.resize(kept);
}

results::Occupancy Occupancy::collect() const {
  results::Occupancy out;
  out.from = from_;
  out.at = at_;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    results::Occupancy::Unit series{unit.name, unit.capacity, unit.level, {}};
    bool used = false;
    for (std::size_t i = 0; i < at_.size(); ++i) {
      double value = static_cast<double>(read_[i][u]);
      if (!unit.level) {
        const std::int64_t before = i == 0 ? first_[u] : read_[i - 1][u];
        const Time span = at_[i] - (i == 0 ? from_ : at_[i - 1]);
        value = static_cast<double>(read_[i][u] - before) / static_cast<double>(span.raw);
      }
      // Four digits are enough for any picture.
      series.in_use.push_back(std::round(value * 1e4) / 1e4);
      used |= series.in_use.back() != 0;
    }
    if (used) out.units.push_back(std::move(series));
  }
  return out;
}

}  // namespace mtsim::system
