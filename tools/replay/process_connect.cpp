// Queue pairs through their states: ibv_modify_qp and what it needs to know.
#include <algorithm>
#include <cstring>

#include "process_calls.h"

namespace mtsim::replay {

using program::Kind;
using verbs::Progress;
using verbs::QpState;
using verbs::QpType;

namespace {

/// Both ends count from the same number, which may be any.
constexpr std::uint32_t first_psn = 0x1000;
constexpr std::uint32_t q_key = 0x11111111;

/// EINVAL for a QP that does not tell.
int state_of(ibv_qp* qp, QpState& state) {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr made{};
  if (const int error = ibv_query_qp(qp, &attributes, IBV_QP_STATE, &made); error != 0) return errno_of(error);
  state = from_ibv(attributes.qp_state);
  return 0;
}

}  // namespace

int Process::to_init(const Qp& qp) const {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_INIT;
  a.port_num = nics_[qp.nic]->port();
  int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  if (qp.asked.type == QpType::ud) {
    a.qkey = q_key;
    mask |= IBV_QP_QKEY;
  } else {
    const auto access = to_ibv(qp.asked.access);
    if (!access) return EOPNOTSUPP;
    a.qp_access_flags = *access;
    mask |= IBV_QP_ACCESS_FLAGS;
  }
  return errno_of(ibv_modify_qp(qp.qp, &a, mask));
}

int Process::to_rtr(const Qp& qp, const QpAddress& peer) const {
  const Nic& nic = *nics_[qp.nic];
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RTR;
  int mask = IBV_QP_STATE;
  if (qp.asked.type != QpType::ud) {
    a.path_mtu = to_ibv_mtu(qp.asked.mtu, std::min(nic.port_attributes().active_mtu, ibv_mtu(peer.mtu)));
    a.dest_qp_num = peer.qpn;
    a.rq_psn = first_psn;
    a.ah_attr.port_num = nic.port();
    a.ah_attr.dlid = peer.lid;
    if (nic.port_attributes().link_layer == IBV_LINK_LAYER_ETHERNET) {
      a.ah_attr.is_global = 1;
      a.ah_attr.grh.hop_limit = 64;
      a.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(nic.gid_index());
      std::memcpy(a.ah_attr.grh.dgid.raw, peer.gid, sizeof peer.gid);
    }
    mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  }
  if (qp.asked.type == QpType::rc) {
    a.max_dest_rd_atomic =
        static_cast<std::uint8_t>(std::min<std::uint32_t>(qp.asked.dest_rd_atomic, std::uint32_t(nic.attributes().max_qp_rd_atom)));
    a.min_rnr_timer = qp.asked.rnr_timer;
    mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  }
  return errno_of(ibv_modify_qp(qp.qp, &a, mask));
}

int Process::to_rts(const Qp& qp) const {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RTS;
  a.sq_psn = first_psn;
  int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (qp.asked.type == QpType::rc) {
    a.timeout = qp.asked.timeout;
    a.retry_cnt = qp.asked.retry;
    a.rnr_retry = qp.asked.rnr_retry;
    a.max_rd_atomic = static_cast<std::uint8_t>(
        std::min<std::uint32_t>(qp.asked.rd_atomic, std::uint32_t(nics_[qp.nic]->attributes().max_qp_init_rd_atom)));
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  return errno_of(ibv_modify_qp(qp.qp, &a, mask));
}

std::optional<QpAddress> Process::address_of(const Qp& qp) const {
  QpState state{};
  int error = 0;
  {
    const Turn::Away elsewhere(turn());
    error = state_of(qp.qp, state);
  }
  if (error != 0 || (state != QpState::reset && state != QpState::init)) return std::nullopt;
  const Nic& nic = *nics_[qp.nic];
  QpAddress address;
  address.qpn = qp.qp->qp_num;
  address.mtu = nic.port_attributes().active_mtu;
  address.lid = nic.port_attributes().lid;
  std::memcpy(address.gid, nic.gid().raw, sizeof address.gid);
  return address;
}

std::optional<QpAddress> Process::path_to(Handle handle) {
  const Use<Qp> qp(qps_.find(handle));
  auto address = qp ? address_of(*qp) : std::nullopt;
  if (address && nics_[qp->nic]->iwarp() && listen_for(*qp, *address) != 0) return std::nullopt;
  return address;
}

int Process::bring_up(Handle handle, const QpAddress& peer) {
  const Use<Qp> qp(qps_.find(handle));
  if (!qp) return EINVAL;
  if (nics_[qp->nic]->iwarp()) return bring_up_iwarp(*qp, peer);
  if (peer.port != 0) return EINVAL;
  const Turn::Away elsewhere(turn());
  QpState state{};
  int error = state_of(qp->qp, state);
  if (error == 0 && state == QpState::reset) error = to_init(*qp);
  if (error == 0) error = to_rtr(*qp, peer);
  if (error == 0) error = to_rts(*qp);
  return error;
}

Progress Process::connect(Thread thread, Handle qp, verbs::Device& peer, Handle peer_qp, Reply& reply, Caller&) {
  turn().check();
  auto& other = dynamic_cast<Endpoint&>(peer);
  Timed timed{now(), {}};
  busy_since_[thread] = WallClock::now();
  const auto here = [&] {
    const Use<Qp> own(qps_.find(qp));
    return own ? address_of(*own) : std::nullopt;
  }();
  const auto there = other.path_to(peer_qp);
  reply.error = EINVAL;
  if (here && there) reply.error = bring_up(qp, *there);
  if (reply.error == 0) reply.error = conclude(qp, other.bring_up(peer_qp, *here));
  busy_since_[thread] = {};
  timed.end = now();
  called(thread, Kind::connect, timed, {reply.error, {}, {}, 0, {}, {}});
  return Progress::done;
}

Progress Process::modify_qp(Thread thread, Handle handle, QpState state, Reply& reply, Caller&) {
  const Use<Qp> qp(qps_.find(handle));
  if (!qp) {
    reply.error = EINVAL;
    return Progress::done;
  }
  simple(thread, Kind::modify_qp, reply, [&] {
    if (state == QpState::init) return to_init(*qp);
    const bool datagrams = qp->asked.type == QpType::ud;
    QpState now_in{};
    if (datagrams && state == QpState::rts && state_of(qp->qp, now_in) == 0 && now_in == QpState::rtr) return to_rts(*qp);
    // What leads to RTR or on from it on a connected QP needs the path to its peer, which is for connect alone: the kernel refuses.
    ibv_qp_attr a{};
    a.qp_state = to_ibv(state);
    return ibv_modify_qp(qp->qp, &a, IBV_QP_STATE);
  });
  if (reply.error != 0 || state != QpState::reset) return Progress::done;
  record().forget(number_, handle, false, now());
  drop(std::move(qp->connection));
  return Progress::done;
}

Progress Process::query_qp(Thread thread, Handle handle, Reply& reply, Caller&) {
  const Use<Qp> qp(qps_.find(handle));
  if (!qp) {
    reply.error = EINVAL;
    return Progress::done;
  }
  QpState state{};
  simple(thread, Kind::query_qp, reply, [&] { return state_of(qp->qp, state); });
  reply.value = std::uint64_t(state);
  return Progress::done;
}

}  // namespace mtsim::replay
