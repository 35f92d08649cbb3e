// Kernel objects by handle, as an IDR keeps them. Handles count up and are not used again.
#pragma once

#include <unordered_map>
#include <utility>

#include "verbs/device.h"

namespace mtsim::kernel {

template <class Object>
class ObjectTable {
 public:
  /// Handles are those that leave `number` when they are divided by `of`, from `number + of` on: tables that share a space of handles
  /// differ in `number`.
  explicit ObjectTable(verbs::Handle number = 0, verbs::Handle of = 1) : step_(of), last_(number) {}

  verbs::Handle add(Object object) {
    objects_.emplace(last_ += step_, std::move(object));
    return last_;
  }
  /// Null for a handle that stands for nothing (any more).
  Object* find(verbs::Handle handle) {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : &found->second;
  }
  const Object* find(verbs::Handle handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : &found->second;
  }
  /// The handle must stand for something.
  Object remove(verbs::Handle handle) {
    auto node = objects_.extract(handle);
    return std::move(node.mapped());
  }

 private:
  std::unordered_map<verbs::Handle, Object> objects_;
  verbs::Handle step_, last_;
};

}  // namespace mtsim::kernel
