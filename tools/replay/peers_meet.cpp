// How the processes of a replay find each other: each says who it is, and the hub lets in whoever fits.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <stdexcept>

#include "base/error.h"
#include "peers.h"

namespace mtsim::replay {

namespace {

/// Rises with every change to what processes say to each other.
constexpr unsigned protocol = 1;

}  // namespace

std::string Membership::hosts_text(const std::set<std::uint32_t>& some) const {
  std::string text = some.size() == 1 ? "host" : "hosts";
  const char* between = " ";
  for (const std::uint32_t host : some) {
    text += between + hosts[host];
    between = ", ";
  }
  return text;
}

std::string boot_id() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(in, id);
  return id;
}

void Peers::came(Line line, const std::string& from) {
  if (!self_.hub()) {
    hub_ = line;
    network_->trust(line);
    std::vector<std::string> own;
    for (const std::uint32_t host : self_.own) own.push_back(self_.hosts[host]);
    network_->send(line, {{"t", "hello"},
                          {"protocol", protocol},
                          {"version", self_.version},
                          {"trace", self_.trace_hash},
                          {"title", self_.trace_title},
                          {"trace_hosts", self_.hosts},
                          {"hosts", own},
                          {"time", self_.time},
                          {"warmup", self_.warmup},
                          {"repeat", self_.repeat},
                          {"devices", self_.devices},
                          {"boot", self_.boot}});
    return;
  }
  Member member;
  member.line = line;
  member.from = from;
  members_.emplace(line, std::move(member));
}

std::string Peers::objection(const Json& hello, const std::set<std::uint32_t>& hosts) const {
  const auto differs = [&](const char* what, const auto& here) -> std::string {
    const auto there = hello.at(what).get<std::decay_t<decltype(here)>>();
    if (there == here) return {};
    return fmt::format("{} there, {} here", there, here);
  };
  if (hello.at("trace").get<std::string>() != self_.trace_hash)
    return fmt::format("its trace is another: {} ({}) there, {} ({}) here", hello.at("title").get<std::string>(),
                       hello.at("trace").get<std::string>(), self_.trace_title, self_.trace_hash);
  if (hello.at("trace_hosts").get<std::vector<std::string>>() != self_.hosts) return "its trace has other hosts";
  if (const std::string d = differs("time", self_.time); !d.empty()) return "--time differs: " + d;
  if (const std::string d = differs("warmup", self_.warmup); !d.empty()) return "--warmup differs: " + d;
  if (const std::string d = differs("repeat", self_.repeat); !d.empty()) return "--repeat differs: " + d;
  if (hosts.empty()) return "it runs no host";
  for (const std::uint32_t host : hosts) {
    if (self_.own.contains(host)) return fmt::format("host {} runs in the process that it connected to", self_.hosts[host]);
    for (const auto& [line, member] : members_)
      if (member.delivery.hosts.contains(host))
        return fmt::format("host {} runs in another process already ({})", self_.hosts[host], member.from);
  }
  return {};
}

void Peers::got_hello(Line line, const Json& message) {
  Member& who = *member(line);
  std::set<std::uint32_t> hosts;
  std::string why;
  if (message.at("protocol") != protocol || message.at("version") != self_.version) {
    why = fmt::format("its mtsim is {} and this one is {}", message.at("version").get<std::string>(), self_.version);
  } else {
    const auto names = message.at("hosts").get<std::vector<std::string>>();
    for (std::uint32_t host = 0; host < self_.hosts.size(); ++host)
      for (const std::string& name : names)
        if (name == self_.hosts[host]) hosts.insert(host);
    why = objection(message, hosts);
  }
  if (together_ && why.empty()) why = "the run has begun";
  if (!why.empty()) {
    refused_.push_back(who.from + ": " + why);
    refuse(line, why);
    members_.erase(line);
    turn_.announce();
    return;
  }
  who.delivery.hosts = std::move(hosts);
  who.devices = message.at("devices").get<std::vector<std::string>>();
  who.boot = message.at("boot");
  who.joined = true;
  network_->trust(line);
  turn_.announce();
}

void Peers::refuse(Line line, const std::string& why) {
  network_->send(line, {{"t", "refused"}, {"reason", why}});
  network_->close(line);
}

void Peers::gather_at(const Place& place, Wanted wanted) {
  wanted_ = wanted;
  network_->listen(place);
  turn_.take();
  try {
    await_all(false);
  } catch (...) {
    turn_.pass();
    throw;
  }
  network_->stop_listening();
  turn_.pass();
}

void Peers::gather(const std::vector<std::pair<int, std::string>>& sockets, Wanted wanted) {
  wanted_ = wanted;
  turn_.take();
  try {
    for (const auto& [socket, name] : sockets) network_->trust(network_->adopt(socket, name));
    await_all(true);
  } catch (...) {
    turn_.pass();
    throw;
  }
  turn_.pass();
}

void Peers::await_all(bool no_more_come) {
  const auto missing = [&] {
    std::set<std::uint32_t> hosts;
    for (std::uint32_t host = 0; host < self_.hosts.size(); ++host)
      if (!is_local(host) && (member_of(host) == nullptr || !member_of(host)->joined)) hosts.insert(host);
    return hosts;
  };
  turn_.settle_until(WallClock::now() + turn_.limit(), [&] { return missing().empty() || (no_more_come && !refused_.empty()); });
  if (const auto absent = missing(); !absent.empty()) {
    const auto limit = std::chrono::duration_cast<std::chrono::seconds>(turn_.limit()).count();
    std::vector<std::string> messages{fmt::format("no process came for {} within {} s", self_.hosts_text(absent), limit)};
    if (no_more_come) messages.front() = fmt::format("the process of {} did not begin", self_.hosts_text(absent));
    for (const std::string& who : refused_) messages.push_back("  " + who);
    for (const auto& [line, member] : members_) refuse(line, messages.front());
    members_.clear();
    throw UserError(std::move(messages));
  }
  welcome();
}

void Peers::welcome() {
  std::erase_if(members_, [&](const auto& m) {
    if (!m.second.joined) network_->close(m.first);
    return !m.second.joined;
  });
  std::set<std::pair<std::string, std::string>> counted;
  const auto count = [&](const std::string& boot, const std::vector<std::string>& devices) {
    std::vector<std::string> out;
    for (const std::string& device : devices)
      if (counted.emplace(boot, device).second) out.push_back(device);
    return out;
  };
  counted_ = count(self_.boot, self_.devices);
  same_clock_ = true;
  for (const auto& [line, member] : members_)
    network_->send(line, {{"t", "welcome"},
                          {"boot", self_.boot},
                          {"operations", wanted_.operations},
                          {"calls", wanted_.calls},
                          {"devices", count(member.boot, member.devices)}});
  together_ = true;
}

void Peers::got_welcome(const Json& message) {
  wanted_ = {message.at("operations"), message.at("calls")};
  counted_ = message.at("devices").get<std::vector<std::string>>();
  same_clock_ = message.at("boot") == self_.boot;
  together_ = true;
}

void Peers::join_at(const Place& place) {
  const WallClock::time_point deadline = WallClock::now() + turn_.limit();
  network_->connect(place, deadline);
  turn_.take();
  // Its own end ends it; what is added is for that to be told.
  turn_.settle_until(deadline + std::chrono::seconds(1), [&] { return hub_ != 0 || hub_gone_; });
  const bool found = hub_ != 0;
  turn_.pass();
  if (!found) throw UserError(fmt::format("{} does not answer at {}: {}", name_of(0), place.text(), failure_));
  await_welcome();
}

void Peers::join(int socket) {
  turn_.take();
  network_->adopt(socket, "");
  turn_.pass();
  await_welcome();
}

void Peers::await_welcome() {
  turn_.take();
  turn_.settle_until(WallClock::now() + turn_.limit(), [&] { return together_ || !failure_.empty(); });
  const bool welcome = together_;
  const std::string why = failure_.empty() ? "it still waits for other processes" : failure_;
  turn_.pass();
  if (!welcome) throw UserError(fmt::format("{} did not begin: {}", name_of(hub_), why));
}

}  // namespace mtsim::replay
