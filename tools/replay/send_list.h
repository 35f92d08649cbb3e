// Work requests of one post call, as libibverbs has them.
#pragma once

#include <infiniband/verbs.h>

#include <deque>
#include <map>
#include <span>
#include <vector>

#include "verbs/device.h"

namespace mtsim::replay {

/// Must outlive the call, as must what it is made from.
class SendList {
 public:
  /// `by_lkey`: MRs, for binds, which name them by key; `pd` stands for that of those that there never were.
  SendList(std::span<const verbs::SendRequest> requests, const std::map<std::uint32_t, ibv_mr>& by_lkey, ibv_pd* pd);
  ibv_send_wr* first() { return requests_.data(); }
  /// How many of them the call accepted, from what it gave as the one that it refused; none for null: it refused without a word.
  std::size_t accepted(const ibv_send_wr* refused) const;
  /// Whether the data of all inline requests can be read.
  bool is_readable() const;

 private:
  void add_bind(ibv_send_wr& out, const verbs::Bind& bind, const std::map<std::uint32_t, ibv_mr>& by_lkey, ibv_pd* pd);

  std::vector<ibv_send_wr> requests_;
  std::vector<ibv_sge> sges_;
  std::deque<ibv_mw> windows_;  ///< each with the key that it has when its bind is posted
  std::deque<ibv_mr> regions_;
};

}  // namespace mtsim::replay
