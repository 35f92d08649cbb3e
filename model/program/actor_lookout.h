// Threads of one host that wait for another to make the CQ which they poll.
//
// A poll ends when a completion comes, so a recording needs no barrier between a thread that makes a CQ and one that polls it: the
// message orders them. Run as fast as it goes, the one that polls may come first. It then waits as long as another thread of its host
// stands before that line of the file; after that no line before it can make the CQ, and the poll fails as any line does that comes
// before the making of its object.
#pragma once

#include <cstdint>
#include <vector>

#include "program/op.h"

namespace mtsim::program {

class Actor;

struct Lookout {
  struct Waiter {
    const Actor* actor = nullptr;
    NameId cq = 0;
    std::uint32_t barrier = 0;  ///< where it stands, one of its own
  };
  std::vector<const Actor*> threads;  ///< of the host
  std::vector<Waiter> waiters;
};

}  // namespace mtsim::program
