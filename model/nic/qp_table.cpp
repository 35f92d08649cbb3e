#include "nic/qp_table.h"

#include <algorithm>
#include <bit>

#include "ports/rank.h"

namespace mtsim::nic {

Qp& QpTable::add(const ports::QpAttributes& attributes, Bytes train) {
  Qp& qp = *qps_.emplace_back(std::make_unique<Qp>());
  qp.qpn = first_number + static_cast<std::uint32_t>(qps_.size() - 1);
  qp.number = qps_.size() - 1;
  qp.first_place = places_;
  qp.attributes = attributes;
  qp.train = std::max(round_down(train.raw, attributes.mtu.raw), attributes.mtu.raw);
  qp.outstanding.resize(std::bit_ceil(attributes.ring ? attributes.ring->depth() : 1));
  qp.outstanding_of_all = &outstanding_;
  places_ += qp.outstanding.size();
  qp.requester_order = ports::order(host_rank_, ports::Unit::requester, qp.qpn);
  qp.responder_order = ports::order(host_rank_, ports::Unit::responder, qp.qpn);
  return qp;
}

}  // namespace mtsim::nic
