// The closed loop: a thread posts to its QPs in turn, and before it posts to one whose window is full it waits for that QP's oldest
// request with a completion.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "program/workload.h"
#include "program/workload_requests.h"

namespace mtsim::program {

/// Where the requests of one thread go, one after the other.
class Places {
 public:
  virtual ~Places() = default;
  virtual Place next() = 0;
};

/// With one QP a thread polls for the next completion, with several for the one of the QP whose turn it is; others are set aside. So the
/// program is the same whatever completes first, and no QP ever has more than its window outstanding.
class ClosedLoop final : public Cursor {
 public:
  ClosedLoop(const Shape&, const Workload::ClientThread&, std::unique_ptr<Places>);
  bool next(Op&) override;
  /// How many operations a thread's loop has.
  static std::uint64_t size(const Shape&);

 private:
  struct Queue {
    NameId qp = 0;
    std::uint64_t posted = 0, polled = 0;
    std::uint64_t unsignaled = 0;  ///< posted since the last one that asked for a completion
  };

  void post(Op&);
  void poll(Op&);
  void advance() { turn_ = turn_ + 1 == queues_.size() ? 0 : turn_ + 1; }

  RequestForm form_;
  std::vector<Queue> queues_;
  std::unique_ptr<Places> places_;
  const std::uint64_t operations_, window_, signal_every_;
  std::uint64_t posted_ = 0;
  std::size_t turn_ = 0;
  bool computed_ = false;  ///< the program has done its own work on the block to come
};

/// The form of a thread's requests in a workload of this shape.
RequestForm request_form(const Shape&, const Workload::ClientThread&);

}  // namespace mtsim::program
