#include "engine/frame_pool.h"

#include <array>
#include <memory>
#include <new>
#include <vector>

namespace mtsim::engine {
namespace {

class FramePool {
 public:
  void* take(std::size_t bytes) {
    const std::size_t bucket = (bytes + step - 1) / step;
    if (bucket >= buckets) return ::operator new(bytes);
    if (Free* frame = free_[bucket]) {
      free_[bucket] = frame->next;
      return frame;
    }
    return carve(bucket * step);
  }

  void give(void* memory, std::size_t bytes) noexcept {
    const std::size_t bucket = (bytes + step - 1) / step;
    if (bucket >= buckets) return ::operator delete(memory);
    free_[bucket] = new (memory) Free{free_[bucket]};
  }

 private:
  struct Free {
    Free* next;
  };
  static constexpr std::size_t step = 64, buckets = 64, slab = 64 * 1024;

  void* carve(std::size_t bytes) {
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

  std::array<Free*, buckets> free_{};
  std::vector<std::unique_ptr<std::byte[]>> slabs_;
  std::byte* at_ = nullptr;
  std::size_t left_ = 0;
};

// A model runs on one thread.
constinit FramePool pool;

}  // namespace

void* allocate_frame(std::size_t bytes) { return pool.take(bytes); }
void release_frame(void* frame, std::size_t bytes) noexcept { pool.give(frame, bytes); }

}  // namespace mtsim::engine
