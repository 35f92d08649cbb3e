// How connections come about, and how all of it ends.
#include <fmt/format.h>
#include <netinet/tcp.h>

#include <utility>

#include "base/error.h"
#include "network_work.h"

namespace mtsim::replay {

namespace {

/// Messages on their way at one time; more strangers than that are not let in.
constexpr std::size_t most_strangers = 32;
constexpr auto try_again = std::chrono::milliseconds(100);

std::string text(const Tcp::endpoint& end) {
  const bool v6 = end.address().is_v6();
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", end.address().to_string(), v6 ? "]" : "", end.port());
}

}  // namespace

void Network::Work::end() {
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    ending_ = true;
  }
  asio::post(context_, [this] {
    close_listeners();
    stop_connecting();
    // Strangers and those who do not read do not hold up the end.
    stop_.expires_after(std::chrono::seconds(2));
    stop_.async_wait([this](const error_code& cancelled) {
      if (!cancelled) context_.stop();
    });
    const std::lock_guard lock(mutex_);
    const auto all = lines_;
    for (const auto& [number, line] : all) {
      line->closing = true;
      if (!line->writing) shut(*line);
    }
    guard_.reset();
    stop_if_idle();
  });
  thread_.join();
}

void Network::Work::listen(const Place& place) {
  Tcp::resolver resolver(context_);
  error_code error;
  const auto ends = resolver.resolve(place.address, place.port, Tcp::resolver::passive, error);
  if (error) throw UserError(fmt::format("--peers: '{}' cannot be found: {}", place.address, error.message()));
  // A name may stand for several addresses of this machine: each is listened on.
  for (const auto& end : ends) {
    Tcp::acceptor acceptor(context_);
    acceptor.open(end.endpoint().protocol(), error);
    if (!error) acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
    if (!error && end.endpoint().address().is_v6()) acceptor.set_option(asio::ip::v6_only(true), error);
    if (!error) acceptor.bind(end.endpoint(), error);
    if (!error) acceptor.listen(Tcp::acceptor::max_listen_connections, error);
    if (!error) acceptors_.push_back(std::move(acceptor));
  }
  if (acceptors_.empty()) throw UserError(fmt::format("--peers: cannot listen on {}: {}", place.text(), error.message()));
  asio::post(context_, [self = shared_from_this()] {
    for (Tcp::acceptor& acceptor : self->acceptors_) self->accept(acceptor);
  });
}

void Network::Work::connect(const Place& place, WallClock::time_point deadline) {
  asio::post(context_, [self = shared_from_this(), place, deadline] {
    self->deadline_.expires_at(deadline);
    self->deadline_.async_wait([self](const error_code& cancelled) {
      if (!cancelled) self->stop_connecting();
    });
    self->reach(place, deadline);
  });
}

void Network::Work::stop_connecting() {
  error_code ignored;
  given_in_ = true;
  resolver_.cancel();
  again_.cancel();
  deadline_.cancel();
  if (reaching_) reaching_->close(ignored);
}

void Network::Work::accept(Tcp::acceptor& acceptor) {
  if (!acceptor.is_open()) return;
  acceptor.async_accept([self = shared_from_this(), &acceptor](const error_code& error, Tcp::socket socket) {
    if (!acceptor.is_open()) return;
    if (!error && self->strangers() < most_strangers) {
      error_code unknown;
      const Tcp::endpoint end = socket.remote_endpoint(unknown);
      if (!unknown) self->take_tcp(std::move(socket), text(end));
    }
    self->accept(acceptor);
  });
}

std::size_t Network::Work::strangers() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [number, line] : lines_) count += !line->trusted;
  return count;
}

void Network::Work::reach(const Place& place, WallClock::time_point deadline) {
  resolver_.async_resolve(
      place.address, place.port, [self = shared_from_this(), place, deadline](const error_code& error, const auto& ends) {
        if (error || self->given_in_) return self->reach_again(place, deadline, error);
        self->reaching_.emplace(self->context_);
        asio::async_connect(*self->reaching_, ends, [self, place, deadline](const error_code& failed, const Tcp::endpoint& end) {
          if (failed || self->given_in_) return self->reach_again(place, deadline, failed);
          self->deadline_.cancel();
          self->take_tcp(std::move(*self->reaching_), text(end));
          self->reaching_.reset();
        });
      });
}

void Network::Work::reach_again(const Place& place, WallClock::time_point deadline, const error_code& error) {
  // What ended it last may be that time was over: what came before says more.
  if (error && error != asio::error::operation_aborted) reason_ = error.message();
  if (given_in_ || WallClock::now() + try_again > deadline) {
    deadline_.cancel();
    return with_turn([&] { listener_.lost(0, reason_.empty() ? "no answer" : reason_); });
  }
  again_.expires_after(try_again);
  again_.async_wait([self = shared_from_this(), place, deadline](const error_code& cancelled) {
    if (cancelled || self->given_in_) return self->reach_again(place, deadline, cancelled);
    self->reach(place, deadline);
  });
}

void Network::Work::take_tcp(Tcp::socket&& socket, const std::string& from) {
  error_code ignored;
  socket.set_option(Tcp::no_delay(true), ignored);
  socket.set_option(Tcp::socket::keep_alive(true), ignored);
  // A machine that has gone without a word is noticed by what it does not acknowledge.
  const auto patience = static_cast<unsigned>(std::chrono::duration_cast<std::chrono::milliseconds>(turn_.limit()).count());
  setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience);
  take(Stream::socket(std::move(socket)), from, false);
}

Network::Network(Turn& turn, Listener& listener) : work_(std::make_shared<Work>(turn, listener)) { work_->run(); }
void Network::end() { work_->end(); }
void Network::listen(const Place& place) { work_->listen(place); }
void Network::stop_listening() { work_->stop_listening(); }
void Network::connect(const Place& place, WallClock::time_point deadline) { work_->connect(place, deadline); }
Network::Line Network::adopt(int socket, const std::string& from) { return work_->adopt(socket, from); }
void Network::send(Line line, const nlohmann::json& message) { work_->send(line, message); }
std::size_t Network::unsent(Line line) const { return work_->unsent(line); }
void Network::trust(Line line) { work_->trust(line); }
void Network::close(Line line) { work_->close(line); }

}  // namespace mtsim::replay
