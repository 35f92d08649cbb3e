// Devices that carry messages without taking time: each queue in its order, sends matched with receives, a sender waiting for a receive
// that is not there. What happens first among all that could happen is the schedule's choice.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "program/meeting.h"
#include "verbs/device.h"

namespace mtsim::test {

enum class Schedule : std::uint8_t {
  fast_nic,  ///< all that is posted is carried out before a program goes on
  slow_nic,  ///< nothing is, as long as a program can go on
  mixed,     ///< by chance; messages to one shared queue overtake each other once they have their receive
};

class Fabric final : public verbs::Meeting {
 public:
  using Handle = verbs::Handle;

  explicit Fabric(Schedule s, unsigned seed = 1) : schedule(s), random_(seed) {}

  struct Work {
    std::uint64_t wr = 0, bytes = 0;
    verbs::Opcode opcode = verbs::Opcode::recv;
    bool signaled = true;
  };
  struct Poll {
    std::span<verbs::Completion> out;
    verbs::Reply* reply = nullptr;
    verbs::Caller* caller = nullptr;
  };
  struct Cq {
    std::deque<std::pair<Handle, verbs::Completion>> waiting;  ///< with the QP they are of
    std::deque<Poll> polls;
    std::uint32_t users = 0;
  };
  struct Srq {
    std::deque<Work> receives;
    std::uint32_t users = 0;
  };
  struct Qp {
    verbs::CreateQpRequest made;
    verbs::QpState state = verbs::QpState::reset;
    Handle peer = 0;
    std::deque<Work> sends, receives;
    std::optional<Work> taken;  ///< the receive of the message under way from this QP
  };

  const Schedule schedule;
  std::map<Handle, Cq> cqs;
  std::map<Handle, Srq> srqs;
  std::map<Handle, Qp> qps;
  Handle next_handle = 1;

  verbs::Progress arrive(verbs::Device& d, verbs::Thread t, std::uint32_t barrier, std::uint32_t n, verbs::Caller& c) override {
    const auto outcome = gathering_.arrive(d, t, barrier, n, c);
    for (const auto& waiting : outcome.released) later([caller = waiting.caller] { caller->resume(); });
    return outcome.complete ? verbs::Progress::done : verbs::Progress::pending;
  }

  void later(std::function<void()> action) { actions_.push_back(std::move(action)); }
  void run() {
    for (;;) {
      const bool nic_first = schedule == Schedule::fast_nic || (schedule == Schedule::mixed && chance() % 2 == 0);
      if (nic_first && step()) continue;
      if (!actions_.empty()) {
        const auto at = actions_.begin() + static_cast<std::ptrdiff_t>(schedule == Schedule::mixed ? chance() % actions_.size() : 0);
        const auto action = std::move(*at);
        actions_.erase(at);
        action();
      } else if (!step()) {
        return;
      }
    }
  }

  void posted(Handle qp) {
    if (std::find(ready_.begin(), ready_.end(), qp) == ready_.end()) ready_.push_back(qp);
  }
  /// Receives were posted: whoever waited for one can go on.
  void received() {
    for (const Handle qp : stalled_) posted(qp);
    stalled_.clear();
  }
  void complete(Handle cq_handle, Handle qp, const verbs::Completion& completion) {
    Cq& cq = cqs[cq_handle];
    if (cq.polls.empty()) {
      cq.waiting.emplace_back(qp, completion);
      return;
    }
    const Poll poll = cq.polls.front();
    cq.polls.pop_front();
    poll.out[0] = completion;
    poll.reply->value = 1;
    later([poll] { poll.caller->resume(); });
  }
  /// The QP goes to ERR: what it still has is flushed.
  void fail(Handle handle) {
    Qp& qp = qps[handle];
    leave(qp);
    qp.state = verbs::QpState::err;
    for (const Work& w : qp.sends) complete(qp.made.send_cq, handle, {w.wr, verbs::Status::WR_FLUSH_ERR, w.opcode, 0});
    for (const Work& w : qp.receives) complete(qp.made.recv_cq, handle, {w.wr, verbs::Status::WR_FLUSH_ERR, w.opcode, 0});
    qp.sends.clear();
    qp.receives.clear();
  }
  /// Nothing of the QP completes any more.
  void purge(Handle handle) {
    Qp& qp = qps[handle];
    leave(qp);
    qp.sends.clear();
    qp.receives.clear();
    for (const Handle cq : {qp.made.send_cq, qp.made.recv_cq})
      std::erase_if(cqs[cq].waiting, [handle](const auto& waiting) { return waiting.first == handle; });
  }

 private:
  std::size_t chance() { return random_(); }

  bool step() {
    if (ready_.empty()) return false;
    const auto at = ready_.begin() + static_cast<std::ptrdiff_t>(schedule == Schedule::mixed ? chance() % ready_.size() : 0);
    const Handle handle = *at;
    if (const auto found = qps.find(handle); found == qps.end() || found->second.sends.empty() || !carry(handle, found->second))
      ready_.erase(std::find(ready_.begin(), ready_.end(), handle));
    return true;
  }

  /// One step of the QP's oldest request; false when it can make none for now.
  bool carry(Handle handle, Qp& qp) {
    const Work work = qp.sends.front();
    const auto found = qps.find(qp.peer);
    if (found == qps.end() || (found->second.state != verbs::QpState::rts && found->second.state != verbs::QpState::rtr)) {
      qp.sends.pop_front();
      complete(qp.made.send_cq, handle, {work.wr, verbs::Status::RETRY_EXC_ERR, work.opcode, 0});
      fail(handle);
      return false;
    }
    Qp& peer = found->second;
    using verbs::Opcode;
    if (work.opcode == Opcode::send || work.opcode == Opcode::send_imm || work.opcode == Opcode::write_imm) {
      if (!qp.taken) {
        auto& receives = peer.made.srq ? srqs[peer.made.srq].receives : peer.receives;
        if (receives.empty()) {
          if (std::find(stalled_.begin(), stalled_.end(), handle) == stalled_.end()) stalled_.push_back(handle);
          return false;
        }
        qp.taken = receives.front();
        receives.pop_front();
        return true;
      }
      deliver(qp);
    }
    qp.sends.pop_front();
    if (work.signaled) complete(qp.made.send_cq, handle, {work.wr, verbs::Status::SUCCESS, work.opcode, 0});
    return true;
  }

  /// What is on the wire from the QP still arrives; what was on the wire to it does not.
  void leave(Qp& qp) {
    if (qp.taken) deliver(qp);
    const auto peer = qps.find(qp.peer);
    if (peer == qps.end() || !peer->second.taken) return;
    if (qp.made.srq == 0) qp.receives.push_front(*peer->second.taken);
    peer->second.taken.reset();
  }

  void deliver(Qp& qp) {
    const Work receive = *qp.taken;
    qp.taken.reset();
    const auto found = qps.find(qp.peer);
    if (found == qps.end()) return;
    const Work& send = qp.sends.front();
    const bool fits = send.opcode == verbs::Opcode::write_imm || send.bytes <= receive.bytes;
    complete(found->second.made.recv_cq, qp.peer,
             {receive.wr, fits ? verbs::Status::SUCCESS : verbs::Status::LOC_LEN_ERR, verbs::Opcode::recv, 0});
  }

  program::Gathering gathering_;
  std::vector<std::function<void()>> actions_;
  std::vector<Handle> ready_, stalled_;
  std::minstd_rand random_;
};

}  // namespace mtsim::test
