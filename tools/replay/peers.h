// The other processes of a replay, each with hosts of its own. The one that runs the trace's first host is the hub: every other has one
// connection, to it, and the hub passes on what is meant for others. What a process says thus arrives everywhere in the order in which it
// was said: whoever is let go by a barrier knows all that was said before anybody came to it.
//
// All of it needs the turn unless it says otherwise. docs/real-verbs.md tells what users see.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "endpoint.h"
#include "network.h"
#include "program/objects.h"
#include "program/op.h"

namespace mtsim::replay {

/// What all processes of a replay must agree on, and what is this one's own.
struct Membership {
  std::string version, trace_hash, trace_title;
  std::vector<std::string> hosts;    ///< of the trace
  std::set<std::uint32_t> own;       ///< those that run here
  std::string time;                  ///< how it is replayed
  unsigned warmup = 0, repeat = 1;   ///< how often
  std::vector<std::string> devices;  ///< of this process
  std::string boot;                  ///< tells machines apart: counters of one device count once
  bool hub() const { return own.contains(0); }
  std::string own_text() const { return hosts_text(own); }
  /// `host b`, `hosts b, c`
  std::string hosts_text(const std::set<std::uint32_t>& some) const;
};
/// Tells one machine, and one start of it, from all others.
std::string boot_id();

/// What the hub wants of the others.
struct Wanted {
  bool operations = false, calls = false;
};

/// What a process elsewhere has sent when all was over.
struct Delivery {
  std::set<std::uint32_t> hosts;
  std::string report;              ///< JSON
  std::vector<std::string> stuck;  ///< where its threads stood
};

class Peers final : private Network::Listener {
 public:
  /// This process, as the others see it. Told with the turn.
  class Side {
   public:
    virtual void learn(program::NameId name, const program::Object& object) = 0;
    /// Of a host that runs here.
    virtual Endpoint& endpoint(std::uint32_t host) = 0;

   protected:
    ~Side() = default;
  };
  /// Where rows of the others' files go: `calls` or operations.
  using TakeRows = std::function<void(std::uint32_t first_host, bool calls, const std::string& text)>;

  Peers(Turn& turn, Membership membership);
  /// Without the turn.
  ~Peers();

  // How they find each other; without the turn. Each throws UserError when it comes to nothing within the limit.
  /// The hub waits at `place` for all others.
  void gather_at(const Place& place, Wanted wanted);
  /// The hub has a connection to each already.
  void gather(const std::vector<std::pair<int, std::string>>& sockets, Wanted wanted);
  void join_at(const Place& place);
  void join(int socket);

  const Membership& membership() const { return self_; }
  bool is_local(std::uint32_t host) const { return self_.own.contains(host); }
  const Wanted& wanted() const { return wanted_; }
  /// Devices whose counters are for this process to tell.
  const std::vector<std::string>& counted_devices() const { return counted_; }

  /// From here on `side` is told and asked.
  void attach(Side& side);
  /// When this returns nobody is told or asked any more.
  void detach();
  /// Waits for all others. Gives the common time zero of the run. Throws GivenUp, as all waits of this.
  WallClock::time_point start();
  /// Waits until the actors of all processes have ended.
  void end();

  void publish(program::NameId name, const program::Object& object);
  /// A thread has come to a barrier: the ticket with which it asks whether it may go on.
  std::uint64_t arrive(std::uint32_t barrier, std::uint32_t n);
  bool opened(std::uint64_t ticket) const { return !waiting_.contains(ticket); }
  std::optional<QpAddress> path_to(std::uint32_t host, verbs::Handle qp);
  int bring_up(std::uint32_t host, verbs::Handle qp, const QpAddress& peer);
  /// Lets the others know, at most once a second, that something goes on here. Costs nothing when nothing does.
  void notify();

  // The end.
  /// The hub: what the others send, in the order of hosts; less than all when one is lost, which has given the run up then.
  std::vector<Delivery> collect(const TakeRows& take);
  void deliver(const std::string& report, const std::vector<std::string>& stuck);
  void deliver_rows(bool calls, const std::string& text);
  /// Without the turn. Waits until the hub has all of it.
  void delivered();

 private:
  using Line = Network::Line;
  using Json = nlohmann::json;
  /// A process elsewhere, as the hub sees it.
  struct Member {
    Line line = 0;
    std::string from;
    Delivery delivery;
    std::vector<std::string> devices;
    std::string boot;
    bool joined = false, done = false, gone = false;
  };
  struct Barrier {
    std::uint32_t count = 0;
    std::vector<std::pair<Line, std::uint64_t>> tickets;  ///< line 0: of this process
  };
  struct Question {
    Line from = 0;
    std::uint64_t id = 0;
    Json message;
  };
  struct Answer {
    int error = 0;
    QpAddress address;
  };

  void came(Line line, const std::string& from) override;
  void got(Line line, const Json& message) override;
  void lost(Line line, const std::string& why) override;

  bool got_from_hub(const std::string& what, const Json& message);
  bool got_from_member(Member& from, const std::string& what, const Json& message);
  bool got_from_any(const std::string& what, const Json& message);
  void got_hello(Line line, const Json& message);
  std::string objection(const Json& hello, const std::set<std::uint32_t>& hosts) const;
  void refuse(Line line, const std::string& why);
  void await_all(bool no_more_come);
  void await_welcome();
  void welcome();
  void got_welcome(const Json& message);

  void object_came(const Json& message);
  void came_to(Line line, std::uint64_t ticket, std::uint32_t barrier, std::uint32_t n);
  void step(Line line, const std::string& name);
  WallClock::time_point keep_step(const std::string& name);
  void asked(Line line, const Json& message);
  void answered(const Json& message);
  Answer ask(std::uint32_t host, Json question);
  void serve();
  Json answer_to(const Question& question);
  void say_given_up(const std::string& reason);

  Member* member(Line line);
  Member* member_of(std::uint32_t host);
  /// To all others, or all others but one: from the hub directly, else through it.
  void tell(const Json& message, Line but = 0);
  std::string name_of(Line line);

  Turn& turn_;
  const Membership self_;
  Wanted wanted_;
  std::vector<std::string> counted_;
  Side* side_ = nullptr;
  TakeRows take_rows_;

  // The hub's.
  std::map<Line, Member> members_;
  std::vector<std::string> refused_;  ///< who was not let in, and why
  std::map<std::string, std::set<Line>> steps_;
  std::map<std::uint32_t, Barrier> barriers_;
  // All others'.
  Line hub_ = 0;
  std::string failure_;  ///< why the hub cannot be had
  bool deliver_ = false, farewell_ = false, hub_gone_ = false;

  bool together_ = false;    ///< all have found each other
  bool same_clock_ = false;  ///< as the hub
  std::uint64_t last_ticket_ = 0, last_question_ = 0;
  std::set<std::uint64_t> waiting_;
  unsigned steps_taken_ = 0;
  std::map<std::string, WallClock::time_point> step_open_;
  std::map<std::uint64_t, Answer> answers_;
  Line origin_ = 0;  ///< of the message that is being heard
  WallClock::time_point notified_{};

  std::deque<Question> questions_;
  bool answering_ = false, stopping_ = false;
  std::thread server_;
  std::unique_ptr<Network> network_;  ///< last: its thread tells all of the above
};

}  // namespace mtsim::replay
