// Connections of this process to others of the same replay. Messages are JSON values, sent as CBOR with their length before them. A thread
// of its own does all input and output, so no sender ever waits for a receiver.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "place.h"
#include "turn.h"

namespace mtsim::replay {

class Network {
 public:
  /// Number of a connection, never used again.
  using Line = std::uint32_t;

  /// Who is told what happens; always with the turn.
  class Listener {
   public:
    virtual void came(Line line, const std::string& from) = 0;
    /// Whatever it throws ends the connection: the other side does not speak this protocol.
    virtual void got(Line line, const nlohmann::json& message) = 0;
    /// It has ended, but not by close(). `line` 0: connect() came to nothing.
    virtual void lost(Line line, const std::string& why) = 0;

   protected:
    ~Listener() = default;
  };

  Network(Turn& turn, Listener& listener);
  ~Network() { end(); }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Ends all connections; without the turn. What was sent goes out first, for two seconds at the most. Nobody is told anything any more.
  void end();

  /// Takes connections there. Throws UserError for a place that is not this machine's or is taken.
  void listen(const Place& place);
  void stop_listening();
  /// Tries until the deadline, again and again.
  void connect(const Place& place, WallClock::time_point deadline);
  /// A connected socket, which is this object's from now on. Needs the turn: came() is called at once.
  Line adopt(int socket, const std::string& from);

  void send(Line line, const nlohmann::json& message);
  /// How many messages are not on their way yet.
  std::size_t unsent(Line line) const;
  /// A stranger may send no message longer than `longest_first`, and not be silent at first; others may send `longest`.
  void trust(Line line);
  /// When what was sent has gone out.
  void close(Line line);

  static constexpr std::size_t longest_first = std::size_t{64} << 10, longest = std::size_t{256} << 20;
  static constexpr std::chrono::seconds first_within{5};

 private:
  class Work;
  std::shared_ptr<Work> work_;
};

}  // namespace mtsim::replay
