// What the oracle knows of hosts, objects and queues. Everything is kept, also what is gone: a stale key still names its object.
#pragma once

#include <map>
#include <set>

#include "program.h"

namespace mtsim::random_programs {

/// A key as a request carries it: which object gave it, and which of its keys it was. Values never matter.
struct Key {
  enum class Of { nothing, mr, mw };
  Of of = Of::nothing;
  Id id = nobody;
  int version = 0;
};

struct Buffer {
  int host = 0;
  std::uint64_t start = 0, length = 0;
  bool writable = true;
};

struct Pd {
  int host = 0;
  bool alive = false;
};

struct Mr {
  int host = 0;
  bool alive = false;
  Id pd = nobody, buffer = nobody;
  std::uint64_t start = 0, length = 0;  ///< as operations name it
  Rights rights = 0;
  bool pinned_for_writing = false;
  int version = 0;  ///< of its key
};

struct Window {
  int host = 0;
  bool alive = false;
  int type = 1;
  Id pd = nobody;
  bool bound = false;
  Id mr = nobody, qp = nobody;
  std::uint64_t start = 0, length = 0;  ///< as operations name it
  std::uint64_t in_mr = 0;              ///< its first byte as the MR names it
  Rights rights = 0;
  int version = 0;
  /// A bind of it failed, or its QP was reset since: what its key and its state are then is not for a program to rely on.
  bool spoilt = false;
  bool by_request = false;  ///< of type 1: a request bound it, and the library, which did not see that, has the key from before
};

struct Cq {
  int host = 0;
  bool alive = false;
  unsigned depth = 0;
};

/// An element of a posted request.
struct Element {
  std::uint64_t address = 0;
  std::uint32_t length = 0;
  Key key;
};

struct Receive {
  std::uint64_t wr = 0;
  std::vector<Element> elements;
  std::uint64_t room() const {
    std::uint64_t sum = 0;
    for (const Element& e : elements) sum += e.length;
    return sum;
  }
};

struct Send {
  std::uint64_t wr = 0;
  Opcode opcode{};
  std::vector<Element> elements;
  std::uint64_t address = 0;
  Key rkey, inv;
  bool signaled = false, inline_data = false;
  // Of a bind.
  Id window = nobody, mr = nobody;
  std::uint64_t length = 0;
  Rights rights = 0;
  int window_type = 2;
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const Element& e : elements) sum += e.length;
    return sum;
  }
};

struct Srq {
  int host = 0;
  bool alive = false;
  Id pd = nobody;
  unsigned sges = 0;
  std::vector<Receive> receives;
};

struct Qp {
  int host = 0;
  bool alive = false;
  Id pd = nobody;
  QpSettings settings;
  QpState state = QpState::reset;
  /// What the program set last lets the library take sends.
  bool takes_sends = false;
  Id peer = nobody;
  std::vector<Receive> receives;
  /// So many requests behind one that failed when its answer came are carried out at the peer: they were under way.
  unsigned ahead = 0;
  bool read_begun = false;       ///< its requester waits for the rest of a READ's answer, whatever comes
  bool waits_for_end = false;    ///< its responder waits for the end of a message, for ever
  std::vector<Send> kept;        ///< requests that were refused and lie in its queue
  std::optional<Receive> begun;  ///< taken by a message of which only the first packets came
};

struct Completion {
  std::uint64_t wr = 0;
  Status status;
  Id shared = nobody;  ///< the SRQ of a receive
  Id qp = nobody;
};

struct World {
  std::vector<Buffer> buffers;
  std::vector<Pd> pds;
  std::vector<Mr> mrs;
  std::vector<Window> windows;
  std::vector<Cq> cqs;
  std::vector<Srq> srqs;
  std::vector<Qp> qps;
  std::map<Id, std::vector<Completion>> completions;  ///< by CQ, in the order in which they came
  std::map<int, std::vector<std::string>> events;     ///< by host

  template <class T>
  static const T& at(const std::vector<T>& table, Id id) {
    return table.at(static_cast<std::size_t>(id));
  }
  template <class T>
  static T& at(std::vector<T>& table, Id id) {
    return table.at(static_cast<std::size_t>(id));
  }
  /// The PD of a QP's receives.
  Id receive_pd(const Qp& qp) const { return qp.settings.srq == nobody ? qp.pd : at(srqs, qp.settings.srq).pd; }
};

}  // namespace mtsim::random_programs
