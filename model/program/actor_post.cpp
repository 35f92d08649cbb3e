// Actors post work requests, alone or in lists.
//
// A list is what consecutive posts to one queue with `more` build up: it goes down in one call with the first post that lacks it. When
// the device refuses a request, those before it stay posted, its own line gets the errno, and the lines behind it are not judged: they
// were never posted, are counted as such, and a poll for one of them is an error. A line that lacks an object fails by itself and is
// left out of its list.
#include <cassert>
#include <cerrno>

#include "program/actor.h"

namespace mtsim::program {

using verbs::Progress;

Progress Actor::issue_post() {
  requests_.passed(thread_, op_.wr);
  submitted_ = nullptr;
  List& list = list_of(op_.id);
  append_request(list);
  if (op_.more) return Progress::done;
  if (!list.requests.empty()) return submit(list);
  clear(list);
  return Progress::done;
}

Actor::List& Actor::list_of(NameId queue) {
  List* free = nullptr;
  for (const auto& list : lists_) {
    if (list->queue == queue && open_lists_ != 0) return *list;
    if (list->queue == 0 && !free) free = list.get();
    if (open_lists_ == 0) break;
  }
  if (!free) {
    lists_.push_back(std::make_unique<List>());
    free = lists_.back().get();
  }
  free->queue = queue;
  ++open_lists_;
  return *free;
}

void Actor::clear(List& list) {
  list.queue = 0;
  list.requests.clear();
  list.sges.clear();
  --open_lists_;
}

void Actor::append_request(List& list) {
  const Objects& objects = scene_.objects;
  const std::size_t first_sge = list.sges.size();
  if (objects.handle(op_.id, ObjectKind::qp) == 0) {
    lack(op_.id);
    return;
  }
  const std::size_t n = list.requests.size();
  verbs::SendRequest& request = list.requests.emplace_back();
  const auto give_up = [&](NameId id) {
    list.requests.pop_back();
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
  request.wr = op_.wr;
  request.opcode = op_.opcode;
  request.flags = op_.flags;
  if (op_.has_to) {
    const auto address = objects.address(op_.to, AddressView::operation);
    if (!address) return give_up(op_.to.object);
    request.remote_address = *address;
    if (!objects.key(op_.to_key, op_.to, KeyPlace::remote, request.rkey)) return give_up(op_.to_key.object);
  }
  request.immediate = op_.immediate;
  request.compare = op_.compare;
  request.swap_or_add = op_.opcode == verbs::Opcode::faa ? op_.add : op_.swap;

  if (list.lines.size() == n) list.lines.emplace_back();
  List::Line& line = list.lines[n];
  line.number = op_.line;
  line.sges = op_.sges.size();
  // Few lines say what they expect, and copying the words of the others would cost more than the rest of the post.
  if (op_.expect.given) line.expect = op_.expect;
  else line.expect.given = false;
}

Progress Actor::submit(List& list) {
  submitted_ = &list;
  // Only now do the elements stay where they are.
  const verbs::Sge* next = list.sges.data();
  for (std::size_t i = 0; i < list.requests.size(); ++i) {
    list.requests[i].sges = {next, list.lines[i].sges};
    next += list.lines[i].sges;
  }
  const verbs::Handle qp = scene_.objects.handle(list.queue, ObjectKind::qp);
  if (qp != 0) return device_->post_send(thread_, qp, list.requests, reply_, *this);
  reply_.error = EINVAL;  // the QP went between the list's lines
  return Progress::done;
}

void Actor::answer_post() {
  List& list = *submitted_;
  submitted_ = nullptr;
  const std::size_t size = list.requests.size();
  const std::size_t accepted = reply_.error == 0 ? size : reply_.value;
  assert(accepted <= size && "a device posts no more than it was given");
  const std::uint32_t queue = scene_.objects[list.queue].queue;
  for (std::size_t i = 0; i < size && i <= accepted; ++i) {
    const std::uint64_t wr = list.requests[i].wr;
    if (i < accepted) requests_.posted(wr, queue);
    judge_error(list.lines[i].expect, list.lines[i].number, wr, i < accepted ? 0 : reply_.error);
  }
  for (std::size_t i = accepted + 1; i < size; ++i) scene_.observer.left_unposted(list.requests[i].wr);
  clear(list);
}

}  // namespace mtsim::program
