// What a completion queue knows of the send and receive queues whose completions it holds.
#pragma once

#include <cstdint>

namespace mtsim::user {

class WorkQueue {
 public:
  virtual ~WorkQueue() = default;
  /// A completion was polled: `place` is the request's index in a send queue, or the receive's slot. Its room is free again.
  virtual void completed(std::uint32_t place) = 0;
};

}  // namespace mtsim::user
