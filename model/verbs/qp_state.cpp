#include "verbs/qp_state.h"

namespace mtsim::verbs {
namespace {

constexpr unsigned bit(QpState state) { return 1u << unsigned(state); }

/// By state: the states that may follow. From RESET there is no way to ERR in Linux, though 10.3.1 has one.
constexpr unsigned next_states[] = {
    /* reset */ bit(QpState::reset) | bit(QpState::init),
    /* init  */ bit(QpState::reset) | bit(QpState::err) | bit(QpState::init) | bit(QpState::rtr),
    /* rtr   */ bit(QpState::reset) | bit(QpState::err) | bit(QpState::rts),
    /* rts   */ bit(QpState::reset) | bit(QpState::err) | bit(QpState::rts) | bit(QpState::sqd),
    /* sqd   */ bit(QpState::reset) | bit(QpState::err) | bit(QpState::rts) | bit(QpState::sqd),
    /* sqe   */ bit(QpState::reset) | bit(QpState::err) | bit(QpState::rts),
    /* err   */ bit(QpState::reset) | bit(QpState::err),
};

}  // namespace

bool is_change_allowed(QpType type, QpState from, QpState to) {
  if (type == QpType::rc && from == QpState::sqe) return false;
  return (next_states[unsigned(from)] & bit(to)) != 0;
}

QueueWork send_work(QpState state) {
  switch (state) {
    case QpState::reset:
    case QpState::init:
    case QpState::rtr:
      return QueueWork::refused;
    case QpState::rts:
      return QueueWork::done;
    case QpState::sqd:
      return QueueWork::finishing;
    case QpState::sqe:
    case QpState::err:
      return QueueWork::flushed;
  }
  return QueueWork::refused;
}

QueueWork receive_work(QpState state) {
  switch (state) {
    case QpState::reset:
      return QueueWork::refused;
    case QpState::init:
      return QueueWork::kept;
    case QpState::err:
      return QueueWork::flushed;
    default:
      return QueueWork::done;
  }
}

QpState after_request_error(QpType type, QpState state, const Rules& rules) {
  if (state == QpState::err) return state;
  return type != QpType::rc && rules.requester.stops_send_queue ? QpState::sqe : QpState::err;
}

QpState after_receive_error(QpState) { return QpState::err; }

Flushed flushed_by_error(QpType type, bool own_request, const Rules& rules) {
  if (!own_request) return {true, true};
  if (after_request_error(type, QpState::rts, rules) == QpState::sqe) return {true, false};
  return {true, rules.requester.flushes_receives};
}

}  // namespace mtsim::verbs
