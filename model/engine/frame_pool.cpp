#include "engine/frame_pool.h"

namespace mtsim::engine {

constinit FramePool frame_pool;

void* FramePool::carve(std::size_t bytes) {
  if (left_ < bytes) {
    slabs_.push_back(std::make_unique<std::byte[]>(slab));
    at_ = slabs_.back().get();
    left_ = slab;
  }
  void* memory = at_;
  at_ += bytes;
  left_ -= bytes;
  return memory;
}

}  // namespace mtsim::engine
