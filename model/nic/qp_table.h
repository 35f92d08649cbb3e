// The NIC's queue pairs, by number. Numbers are not used again; a destroyed QP's state stays, since work in flight refers to it.
#pragma once

#include <memory>
#include <vector>

#include "nic/qp.h"

namespace mtsim::nic {

class QpTable {
 public:
  explicit QpTable(std::uint32_t host_rank) : host_rank_(host_rank) {}

  /// `train`: bytes that may travel as one on this network, the path MTU at least.
  Qp& add(const ports::QpAttributes& attributes, Bytes train);
  /// Null for a number that no QP has or that belongs to a destroyed one.
  Qp* find(std::uint32_t qpn) {
    if (qpn < first_number || qpn - first_number >= qps_.size()) return nullptr;
    Qp& qp = *qps_[qpn - first_number];
    return qp.destroyed ? nullptr : &qp;
  }
  const Qp* find(std::uint32_t qpn) const { return const_cast<QpTable*>(this)->find(qpn); }
  const std::vector<std::unique_ptr<Qp>>& all() const { return qps_; }
  /// Requests posted and not ended.
  std::uint64_t outstanding() const { return outstanding_; }

 private:
  static constexpr std::uint32_t first_number = 0x11;  ///< below lie the special QPs
  std::uint32_t host_rank_;
  std::vector<std::unique_ptr<Qp>> qps_;
  std::uint64_t places_ = 0;  ///< of all send queues
  std::uint64_t outstanding_ = 0;
};

}  // namespace mtsim::nic
