// The states of a QP: which changes ibv_modify_qp may ask for, what each state lets a program post and a device carry out, and what an
// error does to it (InfiniBand Architecture Specification, volume 1, 10.3.1 and 10.7.2). Pure functions.
#pragma once

#include "verbs/rules.h"
#include "verbs/types.h"

namespace mtsim::verbs {

/// Whether ibv_modify_qp takes a QP from one state to another, all attributes given: EINVAL where not. The table of Linux
/// ib_modify_qp_is_ok (core/verbs.c); SQE is for unreliable QPs alone, since nothing else gets there (10.3.1.7).
bool is_change_allowed(QpType type, QpState from, QpState to);

/// What becomes of the requests in a queue.
enum class QueueWork : std::uint8_t {
  refused,    ///< none may be posted
  kept,       ///< they wait
  finishing,  ///< SQD: those begun are carried through, the others wait
  done,       ///< they are carried out
  flushed,    ///< each completes with WR_FLUSH_ERR, in the order in which they were posted
};
QueueWork send_work(QpState state);
QueueWork receive_work(QpState state);

/// Whether a post is refused at once (with the errno that Rules::Posting has for it).
constexpr bool refuses_posts(QueueWork work) { return work == QueueWork::refused; }

/// The state after a request of the QP itself has failed: ERR for RC; of an unreliable QP only the send queue stops, where the rules have
/// it so. An error leaves ERR and SQE as they are.
QpState after_request_error(QpType type, QpState state, const Rules& rules);
/// The state after a receive has failed, or after a peer's request has been refused in a way that the QP does not survive: ERR.
QpState after_receive_error(QpState state);

/// What an error makes flush besides the failed request.
struct Flushed {
  bool sends = false, receives = false;
};
/// `own_request`: the error was one of the QP's own requests, not of a receive.
Flushed flushed_by_error(QpType type, bool own_request, const Rules& rules);

/// Whether a request that ended so leaves a completion: an error always, also of a request that did not ask for one (10.7.3.1).
constexpr bool leaves_completion(Status status, bool signaled) { return signaled || status != Status::SUCCESS; }

/// Whether SQ_DRAINED is due: a QP in SQD, asked to tell, has none of its begun requests left (10.3.1.5). `begun` are those of which a
/// packet has left and that have not completed.
constexpr bool is_drained(QpState state, std::uint32_t begun) { return state == QpState::sqd && begun == 0; }

/// Whether type 2 windows bound to the QP go on serving it: not from RESET on, which ends what the QP was bound for.
constexpr bool keeps_windows(QpState state) { return state != QpState::reset; }

/// Whether packets that come in are looked at (10.3.1): elsewhere they are dropped without a word.
constexpr bool listens(QpState state) {
  return state == QpState::rtr || state == QpState::rts || state == QpState::sqd || state == QpState::sqe;
}

}  // namespace mtsim::verbs
