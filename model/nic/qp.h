// A queue pair's state in the NIC.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/deadline.h"
#include "engine/timer.h"
#include "engine/waiters.h"
#include "nic/receive_queue.h"
#include "ports/nic.h"
#include "ports/wire.h"
#include "verbs/qp_state.h"

namespace mtsim::nic {

/// Lets pieces of one QP's work leave in the order in which they were taken up, whatever order they get ready in.
class Turnstile {
 public:
  struct Ticket {
    std::coroutine_handle<> waiter;
    Ticket* next = nullptr;
  };

  void enter(Ticket& ticket) {
    ticket.next = nullptr;
    (first_ ? last_->next : first_) = &ticket;
    last_ = &ticket;
  }

  /// `co_await turn(ticket)`: goes on when all that entered before have left.
  class Turn {
   public:
    Turn(const Turnstile& turnstile, Ticket& ticket) : turnstile_(turnstile), ticket_(ticket) {}
    bool await_ready() const { return turnstile_.first_ == &ticket_; }
    void await_suspend(std::coroutine_handle<> waiter) { ticket_.waiter = waiter; }
    void await_resume() const {}

   private:
    const Turnstile& turnstile_;
    Ticket& ticket_;
  };
  Turn turn(Ticket& ticket) const { return Turn(*this, ticket); }

  /// The ticket whose turn it is leaves; the next goes on if it was waiting.
  void leave(Ticket& ticket) {
    first_ = ticket.next;
    if (first_ != nullptr && first_->waiter) first_->waiter.resume();
  }
  bool empty() const { return first_ == nullptr; }
  std::uint64_t length() const {
    std::uint64_t n = 0;
    for (const Ticket* ticket = first_; ticket != nullptr; ticket = ticket->next) ++n;
    return n;
  }

 private:
  Ticket* first_ = nullptr;
  Ticket* last_ = nullptr;
};

/// A FIFO of packets.
class Inbox {
 public:
  void push(ports::Packet& packet) {
    packet.next = nullptr;
    (first_ ? last_->next : first_) = &packet;
    last_ = &packet;
  }
  ports::Packet* pop() {
    ports::Packet* packet = first_;
    if (packet != nullptr) first_ = packet->next;
    return packet;
  }
  bool empty() const { return first_ == nullptr; }
  /// The oldest; null: none. `next` leads on.
  const ports::Packet* first() const { return first_; }

 private:
  ports::Packet* first_ = nullptr;
  ports::Packet* last_ = nullptr;
};

/// For how long the requester had no context while QPs waited for their turn.
class Stalls {
 public:
  void turn(bool on, Time now) {
    if (on) since_ = now;
    else total_ += now - since_;
    on_ = on;
  }
  Time until(Time now) const { return on_ ? total_ + (now - since_) : total_; }

 private:
  Time total_, since_;
  bool on_ = false;
};

/// Members that an operation touches lie together, those of the requester and those of the responder apart: with many QPs each line of
/// memory that one touches is a cold one.
struct alignas(64) Qp {
  std::uint32_t qpn = 0;
  verbs::QpState state = verbs::QpState::reset;
  bool destroyed = false;
  std::uint32_t life = 0;     ///< counts resets and failures: work taken up in an earlier life is void
  std::uint32_t attempt = 0;  ///< counts these and retransmissions: pieces taken up in an earlier attempt are not sent
  std::uint32_t resets = 0;
  void end_life() {
    ++life;
    ++attempt;
  }
  std::uint32_t peer_port = 0, peer_qpn = 0;
  engine::Order requester_order, responder_order;
  std::uint64_t train = 0;   ///< bytes of a message that travel as one: a multiple of the path MTU
  verbs::OpcodeSet opcodes;  ///< that its transport has
  /// Requests posted and not ended, over all QPs of the NIC that there are.
  std::uint64_t* outstanding_of_all = nullptr;
  ports::QpAttributes attributes;

  /// Packets that carry so many bytes of a message.
  std::uint32_t packets(std::uint64_t bytes) const {
    const std::uint64_t mtu = attributes.mtu.raw;
    return bytes <= mtu ? 1 : static_cast<std::uint32_t>((bytes + mtu - 1) / mtu);
  }

  bool connected() const { return attributes.type == verbs::QpType::rc; }
  bool may_send() const { return state == verbs::QpState::rts && !destroyed; }
  /// Requests that are posted now come back flushed.
  bool flushes_sends() const { return verbs::send_work(state) == verbs::QueueWork::flushed; }
  /// Whether what was taken up in that life, or is to be sent in that attempt, still stands: leaving RTS and being destroyed end both.
  bool lives(std::uint32_t of_life) const { return life == of_life; }
  bool still(std::uint32_t of_attempt) const { return attempt == of_attempt; }
  bool receives() const { return verbs::listens(state) && !destroyed; }

  void posted(std::uint32_t up_to) {
    *outstanding_of_all += up_to - producer;
    producer = up_to;
  }
  /// The oldest outstanding request has ended: its index.
  std::uint32_t retire() {
    if (!destroyed) --*outstanding_of_all;
    return retired++;
  }
  /// Whatever is outstanding goes.
  void forget_outstanding() { *outstanding_of_all -= producer - retired; }

  // Send queue. Indices run on: retired <= next <= fetched <= producer.
  std::uint32_t producer = 0;   ///< as the last doorbell said
  std::uint32_t fetched = 0;    ///< WQEs in the NIC
  std::uint32_t next = 0;       ///< the request being cut into pieces
  std::uint32_t retired = 0;    ///< the oldest one outstanding
  std::uint64_t offset = 0;     ///< bytes of request `next` already taken up
  std::uint32_t reads = 0;      ///< READs and atomics outstanding
  std::uint32_t preparing = 0;  ///< pieces between taking up and the end of their translation
  bool fetching = false, listed = false;
  bool halted = false;          ///< a request failed: nothing further is taken up
  bool stopped = false;         ///< a piece failed when its turn to leave came: nothing behind it leaves
  bool changes_window = false;  ///< a request binds or invalidates: nothing behind it is taken up
  std::uint32_t local = 0;      ///< requests at the end of the queue that send no packet
  Qp* next_listed = nullptr;
  std::uint32_t turn = 0;  ///< requests taken up in its turn; 0: it stands behind the others
  Turnstile sends;
  /// What the piece that comes next has waited for so far.
  struct Turns {
    Time taken;     ///< when the piece before it was taken up
    Time prepared;  ///< when that one's look-up was over
    Time listed;    ///< when the QP last queued for its turn
    Time stalled;   ///< of its turn: for want of a context
    // The turn before this one, if it found that contexts of the QP or the request had to be fetched.
    Time before_listed, before_stalled;
    Time missed;   ///< when it had that turn
    Time asked;    ///< when looking for the contexts was over
    Time brought;  ///< when they were there
  };
  Turns turns;

  /// What the NIC keeps of each outstanding request, by index modulo the ring's depth.
  struct Outstanding {
    bool answered = false;
    bool reading = false;       ///< counted in `reads`
    bool repeated = false;      ///< sent again, or to be
    std::uint32_t skipped = 0;  ///< requests right before it that sent no packet
    verbs::Status status = verbs::Status::SUCCESS;
  };
  std::vector<Outstanding> outstanding;
  Outstanding& request(std::uint32_t index) { return outstanding[index & (outstanding.size() - 1)]; }
  const Outstanding& request(std::uint32_t index) const { return outstanding[index & (outstanding.size() - 1)]; }
  ports::Wqe& wqe(std::uint32_t index) { return attributes.ring->at(index); }

  // Retransmission.
  struct Patience : engine::Deadline {
    Qp* qp = nullptr;
    void* owner = nullptr;
  };
  Patience ack;
  Time progress;                               ///< when the acknowledgement timer was last set going; with `waiting`: when the wait ends
  bool waiting = false;                        ///< for the time that an RNR NAK asked for
  std::uint32_t retries = 0, rnr_retries = 0;  ///< since the last answer

  // Response side.
  Inbox responses;
  bool accepting = false;
  bool read_begun = false;  ///< an answer to a READ ended behind its first packet (Rules::Requester::remembers_read)
  // Where the piece being prepared and the request being served stand: told of a run in which nothing moves any more.
  const char* prepares = "";
  const char* serves = "";
  const char* accepts = nullptr;  ///< where the answer being taken in stands; null: there is none that waits

  // Responder.
  Inbox requests;
  bool serving = false;
  bool refused = false;        ///< a NAK asks for what is expected: nothing else is answered until it comes
  bool waits_for_end = false;  ///< of a message, for ever: nothing else is taken (Rules::Responder)
  const ports::Packet* served = nullptr;
  Turnstile answers;
  std::uint32_t expected = 0;         ///< the request that comes next: with the offset it stands for the expected PSN
  std::uint64_t expected_offset = 0;  ///< bytes of it that have come
  std::shared_ptr<ReceiveQueue> receive_queue;
  std::optional<std::uint32_t> receive;  ///< slot of the receive that the message under way has taken
  ports::Mishap mishap;                  ///< of the data of the message under way

  Patience rnr;

  // Where the NIC does not hold all contexts.
  std::uint64_t number = 0;                  ///< of the QP within its NIC, from 0
  std::uint64_t first_place = 0;             ///< of the places of all QPs' send queues, the first that is this one's
  engine::Waiters* context_fetch = nullptr;  ///< who waits besides for the fetch under way; null: there is none
  bool brings_contexts = false;              ///< for the piece that is taken up next
  bool contexts_in_hand = false;             ///< what was missing for the piece that is taken up next has been fetched
  std::uint32_t contexts_made = 0;           ///< requests before it have come into the NIC and got their contexts
};

}  // namespace mtsim::nic
