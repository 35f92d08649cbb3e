// How calls of Process are made: shared by the files that implement it.
#pragma once

#include <cerrno>

#include "process.h"
#include "words.h"

namespace mtsim::replay {

template <class Call>
verbs::Progress Process::simple(Thread thread, program::Kind kind, Reply& reply, Call call, Bytes bytes) {
  int error = 0;
  const Timed timed = away(thread, [&] {
    errno = 0;
    error = errno_of(call());
  });
  reply.error = error;
  called(thread, kind, timed, {error, bytes, {}, 0, {}, {}});
  return verbs::Progress::done;
}

template <class T, class Call>
bool Process::destroy(Thread thread, program::Kind kind, Handles<T>& all, Handle handle, Reply& reply, Call call, Bytes bytes) {
  Item<T>* const item = all.find(handle);
  if (item == nullptr) {
    reply.error = EINVAL;
    return false;
  }
  item->closing = true;
  turn().announce();
  while (item->users != 0) turn().wait_until(WallClock::now() + std::chrono::milliseconds(1), [&] { return item->users == 0; });
  simple(
      thread, kind, reply, [&] { return call(item->object); }, bytes);
  item->closing = false;
  if (reply.error == 0) all.remove(handle);
  return reply.error == 0;
}

}  // namespace mtsim::replay
