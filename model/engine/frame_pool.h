// Memory for coroutine frames: free lists by size. Flows start and end with every operation, and the general allocator would be the
// largest cost of a step. One pool for the process, since a frame is allocated before any object of the model can be named; models run on
// one thread.
#pragma once

#include <cstddef>

namespace mtsim::engine {

void* allocate_frame(std::size_t bytes);
void release_frame(void* frame, std::size_t bytes) noexcept;

/// Base of promise types whose frames come from the pool.
struct PooledFrame {
  static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept { release_frame(frame, bytes); }
};

}  // namespace mtsim::engine
