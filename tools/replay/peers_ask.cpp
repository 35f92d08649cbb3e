// What one process asks of another: the ends of a connection.
#include <fmt/format.h>

#include <cerrno>
#include <stdexcept>

#include "peers.h"

namespace mtsim::replay {

namespace {

nlohmann::json to_json(const QpAddress& a) {
  nlohmann::json out{a.qpn, a.mtu, a.lid, a.port};
  for (const std::uint8_t byte : a.gid) out.push_back(byte);
  return out;
}

QpAddress address_of(const nlohmann::json& j) {
  QpAddress a;
  a.qpn = j.at(0);
  a.mtu = j.at(1);
  a.lid = j.at(2);
  a.port = j.at(3);
  for (std::size_t i = 0; i < std::size(a.gid); ++i) a.gid[i] = j.at(4 + i);
  return a;
}

}  // namespace

Peers::Answer Peers::ask(std::uint32_t host, Json question) {
  const std::uint64_t id = ++last_question_;
  question["t"] = "ask";
  question["id"] = id;
  question["host"] = host;
  question["from"] = 0;
  const Member* const owner = member_of(host);
  network_->send(self_.hub() ? owner->line : hub_, question);
  if (!turn_.wait_for([&] { return answers_.contains(id); })) {
    turn_.give_up(fmt::format("connect: the process of {} does not answer", self_.hosts_text({host})));
    throw GivenUp{};
  }
  return answers_.extract(id).mapped();
}

std::optional<QpAddress> Peers::path_to(std::uint32_t host, verbs::Handle qp) {
  const Answer answer = ask(host, Json::object({{"qp", qp}}));
  return answer.error == 0 ? std::optional(answer.address) : std::nullopt;
}

int Peers::bring_up(std::uint32_t host, verbs::Handle qp, const QpAddress& peer) {
  return ask(host, {{"qp", qp}, {"peer", to_json(peer)}}).error;
}

void Peers::asked(Line line, const Json& message) {
  const std::uint32_t host = message.at("host");
  if (is_local(host)) {
    questions_.push_back({self_.hub() ? line : message.at("from").get<Line>(), message.at("id"), message});
    return;
  }
  const Member* const owner = member_of(host);
  if (owner == nullptr) throw std::range_error("no such host");
  Json passed_on = message;
  passed_on["from"] = line;
  network_->send(owner->line, passed_on);
}

void Peers::answered(const Json& message) {
  const Line to = message.at("to");
  if (to != 0 && self_.hub()) return network_->send(to, message);
  Answer& answer = answers_[message.at("id")];
  answer.error = message.at("error");
  if (message.contains("address")) answer.address = address_of(message.at("address"));
}

nlohmann::json Peers::answer_to(const Question& question) {
  Json answer{{"t", "answer"}, {"to", question.from}, {"id", question.id}, {"error", EINVAL}};
  if (side_ == nullptr) return answer;
  Endpoint& endpoint = side_->endpoint(question.message.at("host"));
  const verbs::Handle qp = question.message.at("qp");
  if (question.message.contains("peer")) {
    answer["error"] = endpoint.bring_up(qp, address_of(question.message.at("peer")));
  } else if (const auto address = endpoint.path_to(qp)) {
    answer["error"] = 0;
    answer["address"] = to_json(*address);
  }
  return answer;
}

/// A thread of its own: to answer may take a call of the kernel.
void Peers::serve() {
  turn_.take();
  for (;;) {
    turn_.settle_until(WallClock::now() + std::chrono::hours(1), [&] { return stopping_ || !questions_.empty(); });
    if (stopping_) break;
    if (questions_.empty()) continue;
    const Question question = std::move(questions_.front());
    questions_.pop_front();
    answering_ = true;
    try {
      const Json answer = answer_to(question);
      network_->send(self_.hub() ? question.from : hub_, answer);
    } catch (const std::exception& error) {
      turn_.give_up(
          fmt::format("connect: {} asked what cannot be answered: {}", name_of(self_.hub() ? question.from : hub_), error.what()));
    }
    answering_ = false;
    turn_.announce();
  }
  turn_.pass();
}

}  // namespace mtsim::replay
