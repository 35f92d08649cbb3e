// What is said while actors run: objects, barriers, steps of the run, the end.
#include "peers.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace mtsim::replay {

using program::Life;
using program::Object;
using program::ObjectKind;

namespace {

constexpr auto notice_every = std::chrono::seconds(1);

long long seconds(WallClock::duration span) { return std::chrono::duration_cast<std::chrono::seconds>(span).count(); }

nlohmann::json to_message(program::NameId name, const Object& o) {
  return {
      {"t", "object"},
      {"name", name},
      {"o", {unsigned(o.kind), unsigned(o.life), o.handle, o.address.raw, o.length.raw, o.iova.raw, o.lkey.raw, o.rkey.raw, o.identity}}};
}

Object object_of(const nlohmann::json& o) {
  const unsigned kind = o.at(0), life = o.at(1);
  if (kind > unsigned(ObjectKind::srq) || life > unsigned(Life::failed)) throw std::range_error("no such object");
  Object out;
  out.kind = ObjectKind(kind);
  out.life = Life(life);
  out.handle = o.at(2);
  out.address = Va(o.at(3));
  out.length = Bytes(o.at(4));
  out.iova = Iova(o.at(5));
  out.lkey = Key(o.at(6));
  out.rkey = Key(o.at(7));
  out.identity = o.at(8);
  return out;
}

}  // namespace

Peers::Peers(Turn& turn, Membership membership) : turn_(turn), self_(std::move(membership)) {
  turn_.take();
  turn_.tell([this](const std::string& reason) { say_given_up(reason); });
  turn_.pass();
  server_ = std::thread([this] { serve(); });
  network_ = std::make_unique<Network>(turn_, static_cast<Network::Listener&>(*this));
}

Peers::~Peers() {
  // Its thread may be telling something as this begins.
  network_->end();
  turn_.take();
  turn_.tell({});
  stopping_ = true;
  turn_.announce();
  turn_.pass();
  server_.join();
}

Peers::Member* Peers::member(Line line) {
  const auto found = members_.find(line);
  return found == members_.end() ? nullptr : &found->second;
}

Peers::Member* Peers::member_of(std::uint32_t host) {
  for (auto& [line, member] : members_)
    if (member.delivery.hosts.contains(host)) return &member;
  return nullptr;
}

std::string Peers::name_of(Line line) {
  if (line == hub_) return "the process of " + self_.hosts_text({0});
  const Member* const who = member(line);
  if (who == nullptr) return "a process";
  return fmt::format("the process of {} ({})", self_.hosts_text(who->delivery.hosts), who->from);
}

void Peers::tell(const Json& message, Line but) {
  if (hub_ != 0 && but != hub_) network_->send(hub_, message);
  for (const auto& [line, member] : members_)
    if (line != but && member.joined && !member.gone) network_->send(line, message);
}

void Peers::got(Line line, const Json& message) {
  const std::string what = message.at("t");
  Member* const from = member(line);
  if (from == nullptr && line != hub_) return;  // it has been sent away
  if (from != nullptr && !from->joined) {
    if (what != "hello") throw std::range_error("no hello");
    return got_hello(line, message);
  }
  origin_ = line;
  if (!(from == nullptr ? got_from_hub(what, message) : got_from_member(*from, what, message)) && !got_from_any(what, message))
    throw std::range_error("no such message");
  origin_ = 0;
  turn_.others_got_on();
  turn_.announce();
}

bool Peers::got_from_hub(const std::string& what, const Json& message) {
  if (what == "welcome") got_welcome(message);
  else if (what == "refused") failure_ = message.at("reason");
  else if (what == "open") waiting_.erase(message.at("ticket").get<std::uint64_t>());
  else if (what == "stepped")
    step_open_[message.at("name")] = WallClock::time_point(WallClock::duration(message.at("at").get<std::int64_t>()));
  else if (what == "deliver") deliver_ = true;
  else if (what == "bye") farewell_ = true;
  else return false;
  return true;
}

bool Peers::got_from_member(Member& from, const std::string& what, const Json& message) {
  if (what == "arrive") came_to(from.line, message.at("ticket"), message.at("barrier"), message.at("n"));
  else if (what == "step") step(from.line, message.at("name"));
  else if (what == "rows" && take_rows_) take_rows_(*from.delivery.hosts.begin(), message.at("calls"), message.at("text"));
  else if (what == "done") from.done = true;
  else if (what == "result") {
    from.delivery.report = message.at("report");
    from.delivery.stuck = message.at("stuck").get<std::vector<std::string>>();
  } else {
    return what == "rows";  // it has been given up to wait for them
  }
  return true;
}

bool Peers::got_from_any(const std::string& what, const Json& message) {
  if (what == "object") object_came(message);
  else if (what == "ask") asked(origin_, message);
  else if (what == "answer") answered(message);
  else if (what == "gave_up") turn_.give_up(message.at("reason"));
  else if (what == "got_on") tell(message, origin_);
  else return false;
  return true;
}

void Peers::lost(Line line, const std::string& why) {
  if (line == 0 || line == hub_) {
    hub_gone_ = true;
    if (failure_.empty()) failure_ = why;
    if (together_ && !farewell_) turn_.give_up(fmt::format("{} was lost: {}", name_of(hub_), why));
  } else if (Member* const who = member(line); who != nullptr && !together_) {
    if (who->joined) refused_.push_back(fmt::format("{}: {}", name_of(line), why));
    members_.erase(line);
  } else if (who != nullptr) {
    who->gone = true;
    origin_ = line;
    if (!who->done) turn_.give_up(fmt::format("{} was lost: {}", name_of(line), why));
    origin_ = 0;
  }
  turn_.announce();
}

void Peers::say_given_up(const std::string& reason) {
  if (together_) tell({{"t", "gave_up"}, {"reason", reason}}, origin_);
}

void Peers::attach(Side& side) { side_ = &side; }

void Peers::detach() {
  side_ = nullptr;
  while (answering_) turn_.settle_until(WallClock::now() + notice_every, [&] { return !answering_; });
}

void Peers::publish(program::NameId name, const Object& object) { tell(to_message(name, object)); }

void Peers::object_came(const Json& message) {
  if (side_ != nullptr) side_->learn(message.at("name"), object_of(message.at("o")));
  tell(message, origin_);
}

std::uint64_t Peers::arrive(std::uint32_t barrier, std::uint32_t n) {
  const std::uint64_t ticket = ++last_ticket_;
  waiting_.insert(ticket);
  if (self_.hub()) came_to(0, ticket, barrier, n);
  else network_->send(hub_, {{"t", "arrive"}, {"barrier", barrier}, {"n", n}, {"ticket", ticket}});
  return ticket;
}

void Peers::came_to(Line line, std::uint64_t ticket, std::uint32_t barrier, std::uint32_t n) {
  Barrier& here = barriers_[barrier];
  here.tickets.emplace_back(line, ticket);
  if (here.tickets.size() < n) return;
  for (const auto& [to, opened] : std::exchange(here.tickets, {})) {
    if (to == 0) waiting_.erase(opened);
    else network_->send(to, {{"t", "open"}, {"ticket", opened}});
  }
  turn_.announce();
}

WallClock::time_point Peers::keep_step(const std::string& name) {
  if (self_.hub()) step(0, name);
  else network_->send(hub_, {{"t", "step"}, {"name", name}});
  if (!turn_.wait_for([&] { return step_open_.contains(name); })) {
    turn_.give_up(
        fmt::format("not all processes came to the {} of the run, and nothing else went on for {} s", name, seconds(turn_.limit())));
    throw GivenUp{};
  }
  return step_open_[name];
}

void Peers::step(Line line, const std::string& name) {
  std::set<Line>& here = steps_[name];
  here.insert(line);
  if (here.size() <= members_.size()) return;
  steps_.erase(name);
  const WallClock::time_point at = WallClock::now();
  step_open_[name] = at;
  tell({{"t", "stepped"}, {"name", name}, {"at", at.time_since_epoch().count()}});
  turn_.announce();
}

WallClock::time_point Peers::start() {
  turn_.got_on();
  const WallClock::time_point at = keep_step(fmt::format("start {}", ++steps_taken_));
  // The clock of another machine says nothing here: there the run begins when it is told so.
  return same_clock_ ? at : WallClock::now();
}

void Peers::end() { keep_step(fmt::format("end {}", steps_taken_)); }

void Peers::notify() {
  const WallClock::time_point now = WallClock::now();
  if (turn_.got_on_at() <= notified_ || now - notified_ < std::min<WallClock::duration>(notice_every, turn_.limit() / 4)) return;
  notified_ = now;
  tell(Json::object({{"t", "got_on"}}));
}

std::vector<Delivery> Peers::collect(const TakeRows& take) {
  take_rows_ = take;
  turn_.got_on();
  tell(Json::object({{"t", "deliver"}}));
  const auto all = [&] {
    for (const auto& [line, member] : members_)
      if (!member.done && !member.gone) return false;
    return true;
  };
  while (!all() && !turn_.out_of_patience()) turn_.settle_until(WallClock::now() + notice_every, all);
  take_rows_ = {};
  std::map<std::uint32_t, Delivery> in_order;
  for (auto& [line, member] : members_) {
    if (member.done) in_order.emplace(*member.delivery.hosts.begin(), std::move(member.delivery));
    else if (!member.gone) turn_.give_up(fmt::format("{}: its results did not come", name_of(line)));
  }
  tell(Json::object({{"t", "bye"}}));
  std::vector<Delivery> out;
  for (auto& [host, delivery] : in_order) out.push_back(std::move(delivery));
  return out;
}

void Peers::deliver(const std::string& report, const std::vector<std::string>& stuck) {
  // Not before the hub's own threads have ended: until then it does not know where to put it.
  turn_.got_on();
  const auto ready = [&] { return deliver_ || hub_gone_; };
  while (!ready() && !turn_.out_of_patience()) turn_.settle_until(WallClock::now() + notice_every, ready);
  network_->send(hub_, {{"t", "result"}, {"report", report}, {"stuck", stuck}});
}

void Peers::deliver_rows(bool calls, const std::string& text) {
  // Some at a time, so that a long file is not all in memory.
  constexpr std::size_t most = 16;
  const auto room = [&] { return hub_gone_ || network_->unsent(hub_) < most; };
  while (!room()) turn_.settle_until(WallClock::now() + std::chrono::milliseconds(1), room);
  network_->send(hub_, {{"t", "rows"}, {"calls", calls}, {"text", text}});
}

void Peers::delivered() {
  network_->send(hub_, Json::object({{"t", "done"}}));
  turn_.settle_until(WallClock::now() + turn_.limit(), [&] { return farewell_ || hub_gone_; });
}

}  // namespace mtsim::replay
