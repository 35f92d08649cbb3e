// Objects that are handed out, come back and are handed out again: no allocation once there are as many as are in use at a time.
#pragma once

#include <memory>
#include <vector>

namespace mtsim::nic {

/// `T` has a member `T* next_free`.
template <class T>
class ReusePool {
 public:
  T& take() {
    if (free_ == nullptr) {
      all_.push_back(std::make_unique<T>());
      return *all_.back();
    }
    T& object = *free_;
    free_ = object.next_free;
    return object;
  }
  void give(T& object) {
    object.next_free = free_;
    free_ = &object;
  }

 private:
  std::vector<std::unique_ptr<T>> all_;
  T* free_ = nullptr;
};

}  // namespace mtsim::nic
