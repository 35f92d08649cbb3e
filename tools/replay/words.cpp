#include "words.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mtsim::replay {

std::optional<unsigned> to_ibv(verbs::Access access) {
  using verbs::Access;
  constexpr std::array<std::pair<Access, unsigned>, 9> names{{{Access::local_write, IBV_ACCESS_LOCAL_WRITE},
                                                              {Access::remote_read, IBV_ACCESS_REMOTE_READ},
                                                              {Access::remote_write, IBV_ACCESS_REMOTE_WRITE},
                                                              {Access::remote_atomic, IBV_ACCESS_REMOTE_ATOMIC},
                                                              {Access::mw_bind, IBV_ACCESS_MW_BIND},
                                                              {Access::zero_based, IBV_ACCESS_ZERO_BASED},
                                                              {Access::on_demand, IBV_ACCESS_ON_DEMAND},
                                                              {Access::huge_tlb, IBV_ACCESS_HUGETLB},
                                                              {Access::relaxed_ordering, IBV_ACCESS_RELAXED_ORDERING}}};
  unsigned out = 0;
  Access named = Access::none;
  for (const auto& [ours, theirs] : names)
    if (verbs::has(access, ours)) {
      out |= theirs;
      named = named | ours;
    }
  if (named != access) return std::nullopt;
  return out;
}

ibv_wr_opcode to_ibv(verbs::Opcode opcode) {
  using verbs::Opcode;
  switch (opcode) {
    case Opcode::send_imm:
      return IBV_WR_SEND_WITH_IMM;
    case Opcode::send_inv:
      return IBV_WR_SEND_WITH_INV;
    case Opcode::write:
      return IBV_WR_RDMA_WRITE;
    case Opcode::write_imm:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case Opcode::read:
      return IBV_WR_RDMA_READ;
    case Opcode::cas:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
    case Opcode::faa:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
    case Opcode::bind_mw:
      return IBV_WR_BIND_MW;
    case Opcode::local_inv:
      return IBV_WR_LOCAL_INV;
    default:
      return IBV_WR_SEND;
  }
}

ibv_qp_type to_ibv(verbs::QpType type) {
  switch (type) {
    case verbs::QpType::uc:
      return IBV_QPT_UC;
    case verbs::QpType::ud:
      return IBV_QPT_UD;
    default:
      return IBV_QPT_RC;
  }
}

ibv_qp_state to_ibv(verbs::QpState state) {
  switch (state) {
    case verbs::QpState::init:
      return IBV_QPS_INIT;
    case verbs::QpState::rtr:
      return IBV_QPS_RTR;
    case verbs::QpState::rts:
      return IBV_QPS_RTS;
    case verbs::QpState::sqd:
      return IBV_QPS_SQD;
    case verbs::QpState::sqe:
      return IBV_QPS_SQE;
    case verbs::QpState::err:
      return IBV_QPS_ERR;
    default:
      return IBV_QPS_RESET;
  }
}

ibv_mtu to_ibv_mtu(Bytes mtu, ibv_mtu most) {
  if (mtu.raw == 0) return most;
  ibv_mtu code = IBV_MTU_256;
  while (code < IBV_MTU_4096 && (std::uint64_t{256} << code) <= mtu.raw) code = ibv_mtu(code + 1);
  return std::min(code, most);
}

verbs::Status from_ibv(ibv_wc_status status) {
  // The statuses of a work completion are numbered as libibverbs does it; later ones (tag matching) do not occur here.
  return std::size_t(status) < verbs::status_count ? verbs::Status(status) : verbs::Status::GENERAL_ERR;
}

verbs::QpState from_ibv(ibv_qp_state state) {
  switch (state) {
    case IBV_QPS_INIT:
      return verbs::QpState::init;
    case IBV_QPS_RTR:
      return verbs::QpState::rtr;
    case IBV_QPS_RTS:
      return verbs::QpState::rts;
    case IBV_QPS_SQD:
      return verbs::QpState::sqd;
    case IBV_QPS_SQE:
      return verbs::QpState::sqe;
    case IBV_QPS_ERR:
      return verbs::QpState::err;
    default:
      return verbs::QpState::reset;
  }
}

verbs::Event from_ibv(ibv_event_type type) {
  using verbs::Event;
  switch (type) {
    case IBV_EVENT_CQ_ERR:
      return Event::CQ_ERR;
    case IBV_EVENT_QP_FATAL:
      return Event::QP_FATAL;
    case IBV_EVENT_QP_REQ_ERR:
      return Event::QP_REQ_ERR;
    case IBV_EVENT_QP_ACCESS_ERR:
      return Event::QP_ACCESS_ERR;
    case IBV_EVENT_COMM_EST:
      return Event::COMM_EST;
    case IBV_EVENT_SQ_DRAINED:
      return Event::SQ_DRAINED;
    case IBV_EVENT_SRQ_ERR:
      return Event::SRQ_ERR;
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return Event::SRQ_LIMIT_REACHED;
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return Event::QP_LAST_WQE_REACHED;
    case IBV_EVENT_DEVICE_FATAL:
      return Event::DEVICE_FATAL;
    default:
      return Event::none;
  }
}

}  // namespace mtsim::replay
