// The inside of Network: what its thread works on. Only the files that implement it see this, since Boost.Asio is dear to compile.
#pragma once

#include <array>
#include <boost/asio.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "network.h"

namespace mtsim::replay {

namespace asio = boost::asio;
using boost::system::error_code;
using Tcp = asio::ip::tcp;
using Stream = asio::generic::stream_protocol;

/// What the thread of a network works on. All of it but what mutex_ guards belongs to that thread.
class Network::Work : public std::enable_shared_from_this<Work> {
 public:
  Work(Turn& turn, Listener& listener) : turn_(turn), listener_(listener) {}

  void run() {
    thread_ = std::thread([this] { context_.run(); });
  }
  void end();

  void listen(const Place& place);
  void stop_listening() {
    asio::post(context_, [self = shared_from_this()] { self->close_listeners(); });
  }

  void connect(const Place& place, WallClock::time_point deadline);

  Line adopt(int socket, const std::string& from) {
    Stream::socket stream(context_, Stream(AF_UNIX, 0), socket);
    return take(std::move(stream), from, true);
  }

  void send(Line number, const nlohmann::json& message);
  std::size_t unsent(Line number) const {
    const std::lock_guard lock(mutex_);
    const auto found = lines_.find(number);
    return found == lines_.end() ? 0 : found->second->out.size();
  }
  void trust(Line number) {
    const std::lock_guard lock(mutex_);
    if (const auto found = lines_.find(number); found != lines_.end()) found->second->trusted = true;
  }
  void close(Line number);

 private:
  struct Open {
    Open(asio::io_context& context, Stream::socket&& s) : socket(std::move(s)), silence(context) {}
    Line number = 0;
    Stream::socket socket;
    asio::steady_timer silence;
    std::array<std::uint8_t, 4> head{};
    std::vector<std::uint8_t> body;
    std::vector<std::string> under_way;
    // The rest is for all threads, with mutex_.
    std::vector<std::string> out;
    bool writing = false, closing = false, trusted = false;
  };
  using Ref = std::shared_ptr<Open>;

  void close_listeners() {
    error_code ignored;
    for (Tcp::acceptor& acceptor : acceptors_) acceptor.close(ignored);
  }
  void stop_connecting();

  void accept(Tcp::acceptor& acceptor);
  std::size_t strangers() const;

  void reach(const Place& place, WallClock::time_point deadline);
  void reach_again(const Place& place, WallClock::time_point deadline, const error_code& error);

  void take_tcp(Tcp::socket&& socket, const std::string& from);
  Line take(Stream::socket&& socket, const std::string& from, bool with_the_turn);

  void read(const Ref& open);
  std::size_t most(const Open& open) const {
    const std::lock_guard lock(mutex_);
    return open.trusted ? longest : longest_first;
  }
  bool has(Line number) const {
    const std::lock_guard lock(mutex_);
    return lines_.contains(number);
  }

  void write(const Ref& open);

  /// It has ended from the other side.
  void lose(const Ref& open, const std::string& why);
  /// Needs mutex_.
  void shut(Open& open);
  void stop_if_idle() {
    if (ending_ && lines_.empty()) stop_.cancel();
  }

  template <class Call>
  void with_turn(Call call) {
    turn_.take();
    try {
      {
        const std::lock_guard lock(mutex_);
        if (ending_) {
          turn_.pass();
          return;
        }
      }
      call();
    } catch (...) {
      turn_.pass();
      throw;
    }
    turn_.pass();
  }

  Turn& turn_;
  Listener& listener_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
  std::thread thread_;
  std::vector<Tcp::acceptor> acceptors_;
  Tcp::resolver resolver_{context_};
  std::optional<Tcp::socket> reaching_;
  asio::steady_timer again_{context_}, deadline_{context_}, stop_{context_};
  bool given_in_ = false;
  std::string reason_;
  mutable std::mutex mutex_;
  std::map<Line, Ref> lines_;
  Line last_ = 0;
  bool ending_ = false;
};

}  // namespace mtsim::replay
