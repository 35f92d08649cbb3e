// alloc_mw and dealloc_mw: a memory window is a key of the device without a table of its own. Binding it is the data path's affair, and
// what it is bound to the device alone knows.
#pragma once

#include <cstdint>

#include "engine/flow.h"
#include "kernel/object_table.h"
#include "kernel/reg_parts.h"

namespace mtsim::kernel {

class WindowPath {
 public:
  explicit WindowPath(const RegParts& parts) : parts_(parts), windows_(parts.number, parts.of) {}

  /// EINVAL: no such PD or type; ENOMEM: no key left, or the device refuses.
  engine::Task<verbs::Reply> alloc_mw(verbs::Thread thread, verbs::Handle pd, std::uint8_t type);
  engine::Task<verbs::Reply> dealloc_mw(verbs::Thread thread, verbs::Handle mw);

 private:
  struct Window {
    verbs::Handle pd = 0;
    KeyGrant grant;
  };
  engine::Task<int> create(Call& call, verbs::Handle pd, std::uint8_t type, Window& window);

  RegParts parts_;
  ObjectTable<Window> windows_;
};

}  // namespace mtsim::kernel
