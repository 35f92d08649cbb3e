// What each name of a program stands for while it runs. One table serves all actors of a run, since a request of one host names
// memory of another (`to=b.mr0+4096`).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "program/op.h"
#include "verbs/device.h"

namespace mtsim::program {

enum class ObjectKind : std::uint8_t { none, buf, pd, mr, mw, cq, qp, srq };

/// `gone` objects keep the last address and keys that they had, so that a program can use a stale key on purpose.
enum class Life : std::uint8_t { unmade, alive, gone, failed };

struct Object {
  ObjectKind kind = ObjectKind::none;
  Life life = Life::unmade;
  verbs::Handle handle = 0;
  Va address;  ///< buf, mr and mw: the first byte as the process sees it
  Bytes length;
  std::uint32_t gone_in = 0;     ///< buf: the process that unmapped it; copies of processes still have theirs
  Iova iova;                     ///< mr, mw: the first byte as operations see it; buf: the same as `address`
  mtsim::Key lkey, rkey;         ///< mw: rkey as of the last bind that was accepted
  std::uint32_t identity = 0;    ///< mr: of its registration (Grant::identity)
  std::uint32_t queue = 0;       ///< qp: its send queue in the host's Requests; srq: itself
  std::uint32_t recv_queue = 0;  ///< qp: its receive queue there
};

/// Where a key stands decides which of an object's keys is meant.
enum class KeyPlace : std::uint8_t { local, remote };

/// Which reading of a memory address is wanted: that of work requests, or that of the process (for inline data and CPU accesses).
enum class AddressView : std::uint8_t { operation, process };

class Objects {
 public:
  explicit Objects(const Names& names) : objects_(names.object_count()) {}

  Object& operator[](NameId id) { return objects_[id]; }
  const Object& operator[](NameId id) const { return objects_[id]; }

  /// The handle of a live object of that kind; 0 when there is none.
  verbs::Handle handle(NameId id, ObjectKind kind) const {
    const Object& o = objects_[id];
    return o.life == Life::alive && o.kind == kind ? o.handle : 0;
  }

  /// Nothing when the object was never made: then the line that names it cannot be carried out.
  std::optional<std::uint64_t> address(const AddressRef& ref, AddressView view) const {
    if (ref.object == 0) return ref.offset;
    const Object& o = objects_[ref.object];
    if (!was_made(o)) return std::nullopt;
    return (view == AddressView::process ? o.address.raw : o.iova.raw) + ref.offset;
  }
  /// Puts into `out` the key written, or the one of `addressed`'s object when it was left out; false when the object was never made.
  /// A buffer has no key: 0, which no check looks at. (Out by reference: an optional of it halts the pipeline when it is read back.)
  bool key(const KeyRef& ref, const AddressRef& addressed, KeyPlace place, mtsim::Key& out) const {
    if (ref.form == KeyRef::Form::raw) {
      out = mtsim::Key(ref.raw);
      return true;
    }
    const NameId id = ref.form == KeyRef::Form::omitted ? addressed.object : ref.object;
    const Object& o = objects_[id];
    if (ref.form == KeyRef::Form::omitted) out = id == 0 ? mtsim::Key() : key_in_place(o, place);
    else out = changed_key(o, ref, place);
    return id == 0 || was_made(o);
  }
  /// The registration that a key in the place of an rkey means, where it is that of an MR as it stands; else 0.
  std::uint32_t meant(const KeyRef& ref, const AddressRef& addressed) const {
    if (ref.form == KeyRef::Form::raw || (ref.add | ref.flip) != 0) return 0;
    return objects_[ref.form == KeyRef::Form::omitted ? addressed.object : ref.object].identity;
  }

 private:
  static bool was_made(const Object& o) { return o.life == Life::alive || o.life == Life::gone; }
  /// A window has no local key: wherever it is named, its rkey is meant.
  static mtsim::Key key_in_place(const Object& o, KeyPlace place) {
    return place == KeyPlace::local && o.kind != ObjectKind::mw ? o.lkey : o.rkey;
  }
  static mtsim::Key changed_key(const Object&, const KeyRef&, KeyPlace);

  std::vector<Object> objects_;
};

}  // namespace mtsim::program
