// Memory windows: a window's name stands for the key that its last accepted bind gave, from the moment of the post on, and for the place
// that it opens.
#include "program/actor.h"
#include "verbs/window.h"

namespace mtsim::program {

using verbs::Progress;

Progress Actor::issue_alloc_mw() {
  const verbs::Handle pd = scene_.objects.handle(op_.pd, ObjectKind::pd);
  return pd == 0 ? lack(op_.pd) : device_->alloc_mw(thread_, pd, op_.mw_type, reply_, *this);
}

Progress Actor::issue_bind_mw() {
  if (op_.has_wr) requests_.passed(thread_, op_.wr);
  bind_mw_ = {};
  bind_mw_.mw = scene_.objects.handle(op_.id, ObjectKind::mw);
  if (bind_mw_.mw == 0) return lack(op_.id);
  bind_mw_.qp = scene_.objects.handle(op_.qp, ObjectKind::qp);
  if (bind_mw_.qp == 0) return lack(op_.qp);
  bind_mw_.mr = scene_.objects.handle(op_.mr, ObjectKind::mr);
  if (bind_mw_.mr == 0) return lack(op_.mr);
  const auto address = scene_.objects.address(op_.address, AddressView::operation);
  if (!address) return lack(op_.address.object);
  bind_mw_.address = Iova(*address);
  bind_mw_.length = Bytes(op_.length);
  bind_mw_.access = op_.access;
  bind_mw_.wr = op_.wr;
  bind_mw_.signaled = op_.has_wr;
  return device_->bind_mw(thread_, bind_mw_, reply_, *this);
}

void Actor::rebind(NameId window, mtsim::Key key, Iova address, verbs::Access access) {
  Object& o = scene_.objects[window];
  o.rkey = key;
  o.address = Va(address.raw);
  o.iova = verbs::has(access, verbs::Access::zero_based) ? Iova() : address;
  scene_.observer.object_changed(window, o);
}

/// A bind holds for the window's name from here on, so that later lines of the list can use it; what is refused is taken back.
std::optional<NameId> Actor::append_window_work(List& list, verbs::SendRequest& request) {
  Objects& objects = scene_.objects;
  const AddressRef none;
  if (op_.opcode != verbs::Opcode::bind_mw) {
    if (!objects.key(op_.inv, none, KeyPlace::remote, request.rkey)) return op_.inv.object;
    return std::nullopt;
  }
  const Object& window = objects[op_.mw];
  if (objects.handle(op_.mw, ObjectKind::mw) == 0) return op_.mw;
  verbs::Bind bind;
  const auto address = objects.address(op_.address, AddressView::operation);
  if (!address) return op_.address.object;
  // Of an MR that is gone its last key: stale keys can be bound to as they can be used.
  const KeyRef region{KeyRef::Form::of_place, op_.mr, 0, 0, 0};
  if (!objects.key(region, none, KeyPlace::local, bind.region)) return op_.mr;
  bind.window = window.rkey;
  bind.new_key = verbs::next_variant(window.rkey);
  if (op_.new_key.form != KeyRef::Form::omitted && !objects.key(op_.new_key, none, KeyPlace::remote, bind.new_key))
    return op_.new_key.object;
  bind.address = Iova(*address);
  bind.length = Bytes(op_.length);
  bind.access = op_.access;
  list.has_binds = true;
  list.rebound.push_back({list.size, op_.mw, window});
  // The device takes no more of the new key than its low byte.
  rebind(op_.mw, mtsim::Key((bind.window.raw & ~0xffu) | (bind.new_key.raw & 0xffu)), bind.address, bind.access);
  request.bind = &list.binds.emplace_back(bind);
  return std::nullopt;
}

void Actor::undo_binds(List& list, std::size_t accepted) {
  for (; !list.rebound.empty() && list.rebound.back().line >= accepted; list.rebound.pop_back()) {
    const List::Rebound& last = list.rebound.back();
    scene_.objects[last.window] = last.before;
    scene_.observer.object_changed(last.window, last.before);
  }
}

void Actor::drop_binds(List& list) {
  list.binds.clear();
  list.rebound.clear();
  list.has_binds = false;
}

}  // namespace mtsim::program
