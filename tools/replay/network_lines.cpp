// What goes over the connections of a Network.
#include <utility>

#include "network_work.h"

namespace mtsim::replay {

void Network::Work::send(Line number, const nlohmann::json& message) {
  const std::vector<std::uint8_t> body = nlohmann::json::to_cbor(message);
  std::string frame(4, '\0');
  for (unsigned i = 0; i < 4; ++i) frame[i] = static_cast<char>(body.size() >> (24 - 8 * i) & 0xff);
  frame.append(body.begin(), body.end());
  const std::lock_guard lock(mutex_);
  const auto found = lines_.find(number);
  if (found == lines_.end() || found->second->closing) return;
  Open& line = *found->second;
  line.out.push_back(std::move(frame));
  if (std::exchange(line.writing, true)) return;
  asio::post(context_, [self = shared_from_this(), open = found->second] { self->write(open); });
}

void Network::Work::close(Line number) {
  asio::post(context_, [self = shared_from_this(), number] {
    const std::lock_guard lock(self->mutex_);
    const auto found = self->lines_.find(number);
    if (found == self->lines_.end()) return;
    const auto open = found->second;
    open->closing = true;
    if (!open->writing) self->shut(*open);
  });
}

Network::Line Network::Work::take(Stream::socket&& socket, const std::string& from, bool with_the_turn) {
  const auto open = std::make_shared<Open>(context_, std::move(socket));
  {
    const std::lock_guard lock(mutex_);
    open->number = ++last_;
    lines_[open->number] = open;
  }
  const auto told = [&] { listener_.came(open->number, from); };
  if (with_the_turn) told();
  else with_turn(told);
  asio::post(context_, [self = shared_from_this(), open] {
    open->silence.expires_after(first_within);
    open->silence.async_wait([self, open](const error_code& cancelled) {
      if (!cancelled && self->most(*open) == longest_first) self->lose(open, "it said nothing");
    });
    self->read(open);
  });
  return open->number;
}

void Network::Work::read(const Ref& open) {
  asio::async_read(open->socket, asio::buffer(open->head), [self = shared_from_this(), open](const error_code& error, std::size_t) {
    if (error) return self->lose(open, error == asio::error::eof ? "it closed the connection" : error.message());
    std::size_t length = 0;
    for (const std::uint8_t byte : open->head) length = length << 8 | byte;
    if (length > self->most(*open)) return self->lose(open, "it sent what is no message");
    open->body.resize(length);
    asio::async_read(open->socket, asio::buffer(open->body), [self, open](const error_code& cut, std::size_t) {
      if (cut) return self->lose(open, cut == asio::error::eof ? "it closed the connection" : cut.message());
      open->silence.cancel();
      try {
        const auto message = nlohmann::json::from_cbor(open->body);
        self->with_turn([&] {
          if (self->has(open->number)) self->listener_.got(open->number, message);
        });
      } catch (const std::exception&) { return self->lose(open, "it sent what is no message"); }
      self->read(open);
    });
  });
}

void Network::Work::write(const Ref& open) {
  std::vector<asio::const_buffer> buffers;
  {
    const std::lock_guard lock(mutex_);
    open->under_way = std::exchange(open->out, {});
  }
  for (const std::string& frame : open->under_way) buffers.push_back(asio::buffer(frame));
  asio::async_write(open->socket, buffers, [self = shared_from_this(), open](const error_code& error, std::size_t) {
    // A connection that is broken is lost to the reader, who may still find why.
    const std::lock_guard lock(self->mutex_);
    if (!error && !open->out.empty()) return asio::post(self->context_, [self, open] { self->write(open); });
    open->writing = false;
    if (error) open->out.clear();
    if (open->closing) self->shut(*open);
  });
}

void Network::Work::lose(const Ref& open, const std::string& why) {
  bool told = false;
  {
    const std::lock_guard lock(mutex_);
    told = lines_.contains(open->number) && !open->closing;
    shut(*open);
  }
  if (told) with_turn([&] { listener_.lost(open->number, why); });
}

void Network::Work::shut(Open& open) {
  error_code ignored;
  open.silence.cancel();
  open.socket.shutdown(Stream::socket::shutdown_both, ignored);
  open.socket.close(ignored);
  lines_.erase(open.number);
  stop_if_idle();
}

}  // namespace mtsim::replay
