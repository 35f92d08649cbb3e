// Objects of libibverbs by the handles that programs have for them. An object that a thread uses while it is away cannot be destroyed
// under it: whoever destroys it waits.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "verbs/device.h"

namespace mtsim::replay {

/// What a handle stands for. All of it needs the turn.
template <class T>
struct Item {
  T object{};
  unsigned users = 0;
  bool closing = false;  ///< it is about to be destroyed: those who wait for it give up
};

template <class T>
class Handles {
 public:
  verbs::Handle add(T object) {
    if (free_.empty()) {
      items_.emplace_back();
      free_.push_back(static_cast<verbs::Handle>(items_.size()));
    }
    const verbs::Handle handle = free_.back();
    free_.pop_back();
    items_[handle - 1] = std::make_unique<Item<T>>();
    items_[handle - 1]->object = std::move(object);
    return handle;
  }
  /// Null when there is none, or when it is about to be destroyed.
  Item<T>* find(verbs::Handle handle) {
    if (handle == 0 || handle > items_.size()) return nullptr;
    Item<T>* const item = items_[handle - 1].get();
    return item == nullptr || item->closing ? nullptr : item;
  }
  void remove(verbs::Handle handle) {
    items_[handle - 1].reset();
    free_.push_back(handle);
  }
  template <class Visit>
  void for_each(Visit visit) {
    for (verbs::Handle handle = 1; handle <= items_.size(); ++handle)
      if (items_[handle - 1]) visit(handle, items_[handle - 1]->object);
  }

 private:
  std::vector<std::unique_ptr<Item<T>>> items_;
  std::vector<verbs::Handle> free_;
};

/// Keeps an object from being destroyed while it lives. Made and destroyed with the turn.
template <class T>
class Use {
 public:
  explicit Use(Item<T>* item) : item_(item) {
    if (item_ != nullptr) ++item_->users;
  }
  ~Use() {
    if (item_ != nullptr) --item_->users;
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  explicit operator bool() const { return item_ != nullptr; }
  T& operator*() const { return item_->object; }
  T* operator->() const { return &item_->object; }
  bool closing() const { return item_->closing; }

 private:
  Item<T>* item_;
};

}  // namespace mtsim::replay
