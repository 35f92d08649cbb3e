// Memory for coroutine frames: free lists by size. Flows start and end with every operation, and the general allocator would be the
// largest cost of a step. One pool for the process, since a frame is allocated before any object of the model can be named; models run
// on one thread.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace mtsim::engine {

class FramePool {
 public:
  void* take(std::size_t bytes) {
    const std::size_t bucket = (bytes + step - 1) / step;
    if (bucket >= buckets) [[unlikely]]
      return ::operator new(bytes);
    if (Free* frame = free_[bucket]) [[likely]] {
      free_[bucket] = frame->next;
      return frame;
    }
    return carve(bucket * step);
  }

  void give(void* memory, std::size_t bytes) noexcept {
    const std::size_t bucket = (bytes + step - 1) / step;
    if (bucket >= buckets) [[unlikely]]
      return ::operator delete(memory);
    free_[bucket] = new (memory) Free{free_[bucket]};
  }

 private:
  struct Free {
    Free* next;
  };
  static constexpr std::size_t step = 64, buckets = 64, slab = 64 * 1024;

  void* carve(std::size_t bytes);

  std::array<Free*, buckets> free_{};
  std::vector<std::unique_ptr<std::byte[]>> slabs_;
  std::byte* at_ = nullptr;
  std::size_t left_ = 0;
};

extern FramePool frame_pool;

/// Base of promise types whose frames come from the pool.
struct PooledFrame {
  static void* operator new(std::size_t bytes) { return frame_pool.take(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept { frame_pool.give(frame, bytes); }
};

}  // namespace mtsim::engine
