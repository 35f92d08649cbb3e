// Actors call the process's memory.
#include "program/actor.h"
#include "program/trace_words.h"

namespace mtsim::program {

using verbs::Progress;

Progress Actor::issue_memory() {
  const Object& o = scene_.objects[op_.id];
  const bool there = o.life == Life::alive || (o.life == Life::gone && o.gone_in != process_);
  if (!there || o.kind != ObjectKind::buf) return lack(op_.id);
  const std::uint64_t rest = op_.offset < o.length.raw ? o.length.raw - op_.offset : 0;
  const Bytes length(op_.whole ? rest : op_.length);
  const Va address = o.address + Bytes(op_.offset);
  const auto advise = [&](verbs::Advice advice) { return device_->madvise(thread_, address, length, advice, reply_, *this); };
  switch (op_.kind) {
    case Kind::munmap:
      return device_->munmap(thread_, address, length, reply_, *this);
    case Kind::mprotect:
      return device_->mprotect(thread_, address, length, op_.mmap.readable, op_.mmap.writable, reply_, *this);
    case Kind::madvise:
      return advise(static_cast<verbs::Advice>(madvise_words().find(op_.word)));
    case Kind::swapout:
      return advise(verbs::Advice::pageout);
    case Kind::migrate:
      return advise(verbs::Advice::migrate);
    default:
      return device_->touch(thread_, address, length, op_.flag, reply_, *this);
  }
}

/// The CPU reads the one and writes the other: two calls.
Progress Actor::issue_copy() {
  const NameId id = copied_ ? op_.peer : op_.id;
  const Object& o = scene_.objects[id];
  const bool there = o.life == Life::alive || (o.life == Life::gone && o.gone_in != process_);
  if (!there || o.kind != ObjectKind::buf) return lack(id);
  return device_->touch(thread_, o.address, Bytes(op_.length), copied_, reply_, *this);
}

Progress Actor::issue_fork() {
  fork_threads_.clear();
  for (const Actor* actor : scene_.children[op_.child]) fork_threads_.push_back(actor->thread_);
  fork_ = {scene_.names.child_name(op_.child), fork_threads_};
  return device_->fork(thread_, fork_, reply_, *this);
}

}  // namespace mtsim::program
