// What is known of one shared receive queue: how many of its receives may still complete and where, and which completions of them were
// set aside. The rule by which polls take them stands in actor_requests.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "program/op.h"
#include "verbs/device.h"

namespace mtsim::program {

class SharedQueue {
 public:
  explicit SharedQueue(std::uint32_t depth);

  std::uint64_t coming = 0;  ///< receives posted whose completion has not been taken
  bool closed = false;       ///< destroyed: none completes any more, but completions set aside still count

  /// A QP that takes receives from here and completes them on `cq` came or went.
  void attach(NameId cq);
  void detach(NameId cq);
  bool serves(NameId cq) const;

  void set_aside(NameId cq, const verbs::Completion& c) { aside_.push_back({c, cq}); }
  /// The completion of `wr` on `cq` if it is here, else the one on `cq` that came first.
  std::optional<verbs::Completion> take_aside(NameId cq, std::uint64_t wr);
  void drop_aside(NameId cq);
  bool has_aside() const { return first_ < aside_.size(); }

  /// Keeps `wr`, whose completion another poll took, in mind. Gives back the oldest one kept when there are too many by now.
  std::optional<std::uint64_t> keep_name(std::uint64_t wr);

 private:
  struct Aside {
    verbs::Completion completion;
    NameId cq = 0;
  };
  struct Served {
    NameId cq = 0;
    std::uint32_t qps = 0;
  };

  std::vector<Served> served_;  ///< a few at the most: CQs, not QPs
  std::vector<Aside> aside_;    ///< in the order in which they came, from `first_` on
  std::size_t first_ = 0;
  std::size_t most_names_;
  std::vector<std::uint64_t> names_;  ///< a ring once it is full
  std::size_t oldest_name_ = 0;
};

}  // namespace mtsim::program
