#include "nic/qp_table.h"

#include "ports/rank.h"

namespace mtsim::nic {

Qp& QpTable::add(const ports::QpAttributes& attributes) {
  Qp& qp = qps_.emplace_back();
  qp.qpn = first_number + static_cast<std::uint32_t>(qps_.size() - 1);
  qp.attributes = attributes;
  qp.outstanding.resize(attributes.ring ? attributes.ring->depth() : 0);
  qp.requester_order = ports::order(host_rank_, ports::Unit::requester, qp.qpn);
  qp.responder_order = ports::order(host_rank_, ports::Unit::responder, qp.qpn);
  return qp;
}

}  // namespace mtsim::nic
