// Actors post work requests, sends and receives, alone or in lists.
//
// A list is what consecutive posts to one queue with `more` build up: it goes down in one call with the first post that lacks it. When
// the device refuses a request, those before it stay posted, its own line gets the errno, and the lines behind it are not judged: they
// were never posted, are counted as such, and a poll for one of them is an error. A line that lacks an object fails by itself and is
// left out of its list.
#include <cassert>
#include <cerrno>

#include "program/actor.h"
#include "verbs/rules.h"

namespace mtsim::program {

using verbs::Progress;

namespace {

constexpr verbs::OpcodeSet handles_windows(verbs::Opcode::bind_mw, verbs::Opcode::local_inv, verbs::Opcode::send_inv);

}  // namespace

Progress Actor::issue_post() {
  requests_.passed(thread_, op_.wr);
  submitted_ = nullptr;
  List& list = list_of(op_.id, op_.kind);
  append_request(list);
  if (op_.more) return Progress::done;
  if (list.size != 0) return submit(list);
  clear(list);
  return Progress::done;
}

Actor::List& Actor::list_of(NameId queue, Kind kind) {
  List* free = open_lists_ == 0 ? lists_.front().get() : nullptr;
  if (!free)
    for (const auto& list : lists_) {
      if (list->queue == queue && list->kind == kind) return *list;
      if (list->queue == 0 && !free) free = list.get();
    }
  if (!free) {
    lists_.push_back(std::make_unique<List>());
    free = lists_.back().get();
  }
  free->queue = queue;
  free->kind = kind;
  ++open_lists_;
  return *free;
}

void Actor::clear(List& list) {
  list.queue = 0;
  list.size = 0;
  list.sends.clear();
  list.receives.clear();
  list.sges.clear();
  if (list.has_binds) [[unlikely]]
    drop_binds(list);
  --open_lists_;
}

/// All in one function: nearly every line of most programs comes through here, and calls would cost more than what they do.
void Actor::append_request(List& list) {
  const Objects& objects = scene_.objects;
  const std::size_t first_sge = list.sges.size();
  if (objects.handle(op_.id, op_.kind == Kind::post_srq ? ObjectKind::srq : ObjectKind::qp) == 0) {
    lack(op_.id);
    return;
  }
  // The line fails by itself; the list is what it was before.
  const auto give_up = [&](NameId id) {
    if (list.sends.size() > list.size) list.sends.pop_back();
    list.sges.resize(first_sge);
    lack(id);
  };

  const AddressView view = verbs::has(op_.flags, verbs::Send::inline_data) ? AddressView::process : AddressView::operation;
  for (const SgeRef& ref : op_.sges) {
    const auto address = objects.address(ref.address, view);
    if (!address) return give_up(ref.address.object);
    verbs::Sge& sge = list.sges.emplace_back();
    sge.address = *address;
    sge.length = static_cast<std::uint32_t>(ref.length);
    if (!objects.key(ref.key, ref.address, KeyPlace::local, sge.lkey)) return give_up(ref.key.object);
  }
  if (op_.kind != Kind::post_send) {
    list.receives.emplace_back().wr = op_.wr;
  } else {
    verbs::SendRequest& request = list.sends.emplace_back();
    request.wr = op_.wr;
    request.opcode = op_.opcode;
    request.flags = op_.flags;
    if (op_.has_to) {
      const auto address = objects.address(op_.to, AddressView::operation);
      if (!address) return give_up(op_.to.object);
      request.remote_address = *address;
      if (!objects.key(op_.to_key, op_.to, KeyPlace::remote, request.rkey)) return give_up(op_.to_key.object);
      request.meant = objects.meant(op_.to_key, op_.to);
    }
    if (handles_windows.has(op_.opcode)) [[unlikely]] {
      if (const auto lacking = append_window_work(list, request)) return give_up(*lacking);
    }
    request.immediate = op_.immediate;
    request.compare = op_.compare;
    request.swap_or_add = op_.opcode == verbs::Opcode::faa ? op_.add : op_.swap;
  }

  if (list.lines.size() == list.size) list.lines.emplace_back();
  List::Line& line = list.lines[list.size++];
  line.number = op_.line;
  line.wr = op_.wr;
  line.sges = op_.sges.size();
  // Few lines say what they expect, and copying the words of the others would cost more than the rest of the post.
  if (op_.expect.given) [[unlikely]]
    line.expect = op_.expect;
  else line.expect.given = false;
}

/// Only now, with the list complete, do its elements stay where they are.
template <class Request>
void Actor::attach_sges(const List& list, std::vector<Request>& requests) {
  const verbs::Sge* next = list.sges.data();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].sges = {next, list.lines[i].sges};
    next += list.lines[i].sges;
  }
}

Progress Actor::submit(List& list) {
  submitted_ = &list;
  if (list.kind != Kind::post_send) return submit_receives(list);
  attach_sges(list, list.sends);
  const verbs::Handle qp = scene_.objects.handle(list.queue, ObjectKind::qp);
  if (qp != 0) return device_->post_send(thread_, qp, list.sends, reply_, *this);
  reply_.error = EINVAL;  // the QP went between the list's lines
  return Progress::done;
}

Progress Actor::submit_receives(List& list) {
  attach_sges(list, list.receives);
  const bool shared = list.kind == Kind::post_srq;
  const verbs::Handle queue = scene_.objects.handle(list.queue, shared ? ObjectKind::srq : ObjectKind::qp);
  if (queue == 0) {
    reply_.error = EINVAL;
    return Progress::done;
  }
  if (!shared) return device_->post_recv(thread_, queue, list.receives, reply_, *this);
  // Another thread may take the completion of one before this call has been answered, and must know what it is.
  for (const verbs::RecvRequest& receive : list.receives) requests_.posted(receive.wr, queue_of(list));
  return device_->post_srq(thread_, queue, list.receives, reply_, *this);
}

/// The queue in the host's Requests to which it went.
std::uint32_t Actor::queue_of(const List& list) const {
  const Object& o = scene_.objects[list.queue];
  return list.kind == Kind::post_recv ? o.recv_queue : o.queue;
}

void Actor::answer_post() {
  List& list = *submitted_;
  submitted_ = nullptr;
  const std::size_t accepted = reply_.error == 0 ? list.size : reply_.value;
  assert(accepted <= list.size && "a device posts no more than it was given");
  const std::uint32_t queue = queue_of(list);
  if (list.has_binds) [[unlikely]]
    undo_binds(list, accepted);
  for (std::size_t i = 0; i < list.size && i <= accepted; ++i) {
    const List::Line& line = list.lines[i];
    if (i < accepted && list.kind != Kind::post_srq) requests_.posted(line.wr, queue);
    judge_error(line.expect, line.number, line.wr, i < accepted ? 0 : reply_.error);
  }
  if (list.kind == Kind::post_srq)
    for (std::size_t i = accepted; i < list.size; ++i) requests_.withdrawn(list.lines[i].wr);
  for (std::size_t i = accepted + 1; i < list.size; ++i) scene_.observer.left_unposted(list.lines[i].wr);
  clear(list);
}

}  // namespace mtsim::program
