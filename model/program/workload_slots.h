// Slots of a block, taken in turn by the threads of a client.
#pragma once

#include <cstdint>

#include "program/workload_kinds.h"

namespace mtsim::program {

/// The slots that one thread takes: every `threads`-th of the client's, at both ends, over and over.
class SlotSequence {
 public:
  SlotSequence(const Shape& shape, const PoolParams& params, std::uint32_t client, std::uint32_t thread)
      : block_(shape.block.raw),
        step_(shape.threads),
        local_slots_(params.pool / shape.block),
        remote_slots_(params.storage / shape.clients / shape.block),
        remote_start_(client * remote_slots_ * block_),
        local_(thread % local_slots_),
        remote_(thread % remote_slots_) {}

  /// Offsets in the client's pool and in the server's storage.
  std::uint64_t local() const { return local_ * block_; }
  std::uint64_t remote() const { return remote_start_ + remote_ * block_; }
  void advance() {
    local_ = (local_ + step_) % local_slots_;
    remote_ = (remote_ + step_) % remote_slots_;
  }

 private:
  std::uint64_t block_, step_, local_slots_, remote_slots_, remote_start_, local_, remote_;
};

}  // namespace mtsim::program
