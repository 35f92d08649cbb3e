// Memory and its registration: what libibverbs does before and after the system call.
#include <cerrno>

#include "user/sim_device.h"

namespace mtsim::user {

using verbs::Access;
using verbs::Advice;
using verbs::Caller;
using verbs::Handle;
using verbs::Progress;
using verbs::Reply;
using verbs::Rereg;
using verbs::Thread;

Progress SimDevice::mprotect(Thread t, Va address, Bytes length, bool readable, bool writable, Reply& reply, Caller& caller) {
  return ask_kernel(t, kernel->mprotect(t, address, length, readable, writable), reply, caller);
}
Progress SimDevice::madvise(Thread t, Va address, Bytes length, Advice advice, Reply& reply, Caller& caller) {
  return ask_kernel(t, kernel->madvise(t, address, length, advice), reply, caller);
}

/// ibv_fork_init: nothing to do where fork copies pinned pages; too late once memory has been registered, or a queue made.
Progress SimDevice::fork_init(Thread t, bool huge_pages, Reply& reply, Caller&) {
  Library& library = library_of(t);
  if (library.fork_safe || kernel->copies_pinned_pages()) return Progress::done;
  if (library.too_late) {
    reply.error = EINVAL;
    return Progress::done;
  }
  library.fork_safe = true;
  library.fork_huge_pages = huge_pages;
  return Progress::done;
}

Progress SimDevice::fork(Thread t, const verbs::ForkRequest& request, Reply& reply, Caller& caller) {
  return spawn(t, fork_flow(t, request, reply, caller));
}

engine::Flow SimDevice::fork_flow(Thread t, verbs::ForkRequest request, Reply& reply, Caller& caller) {
  reply = co_await kernel->fork(t, request);
  if (reply.error == 0) {
    Library& copy = libraries_.emplace_back(library_of(t));
    for (const Thread thread : request.threads) library_of_[thread] = &copy;
  }
  finish(t, caller);
}

/// ibv_cmd_reg_mr refuses an implicit ODP region that does not start at 0.
Progress SimDevice::reg_mr(Thread t, const verbs::RegMrRequest& request, Reply& reply, Caller& caller) {
  library_of(t).too_late = true;
  if (has(request.access, Access::on_demand) && request.length == Bytes(~std::uint64_t{0}) && request.address != Va(0)) {
    reply.error = EINVAL;
    return Progress::done;
  }
  if (!library_of(t).fork_safe || has(request.access, Access::on_demand)) return ask_kernel(t, kernel->reg_mr(t, request), reply, caller);
  return spawn(t, reg_mr_flow(t, request, reply, caller));
}

Progress SimDevice::dereg_mr(Thread t, Handle mr, Reply& reply, Caller& caller) {
  if (library_of(t).fork_ranges_of.count(mr) == 0) return ask_kernel(t, kernel->dereg_mr(t, mr), reply, caller);
  return spawn(t, dereg_mr_flow(t, mr, reply, caller));
}

/// As drivers of programmable NICs have it, through a call of their own.
Progress SimDevice::dma(Thread t, const verbs::DmaRequest& request, Reply& reply, Caller& caller) {
  return ask_kernel(t, kernel->dma(t, request), reply, caller);
}

/// ibv_advise_mr is the kernel's alone.
Progress SimDevice::advise_mr(Thread t, const verbs::AdviseMrRequest& request, Reply& reply, Caller& caller) {
  return ask_kernel(t, kernel->advise_mr(t, request), reply, caller);
}

/// ibv_rereg_mr
Progress SimDevice::rereg_mr(Thread t, const verbs::ReregMrRequest& request, Reply& reply, Caller& caller) {
  if ((request.translation && (request.address == Va(0) || request.length == Bytes(0))) ||
      (request.access != Access::none && !request.change_access)) {
    reply.error = EINVAL;
    reply.value = static_cast<std::uint64_t>(Rereg::input);
    return Progress::done;
  }
  if (!library_of(t).fork_safe || !request.translation) return ask_kernel(t, kernel->rereg_mr(t, request), reply, caller);
  return spawn(t, rereg_mr_flow(t, request, reply, caller));
}

/// ibv_dontfork_range, ibv_dofork_range. A part whose advice fails ends it, and what was advised before is undone: an errno.
engine::Task<int> SimDevice::keep_from_children(Thread t, const ForkRanges::Range& range, bool keep) {
  const Advice advice = keep ? Advice::dontfork : Advice::dofork, opposite = keep ? Advice::dofork : Advice::dontfork;
  ForkRanges& ranges = library_of(t).fork_ranges;
  const auto parts = keep ? ranges.unused(range) : ranges.used_once(range);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Reply done = co_await kernel->madvise(t, parts[i].start, parts[i].length, advice);
    if (done.error == 0) continue;
    // A part with a hole has been advised up to there.
    for (std::size_t undo = i + 1; undo-- > 0;) co_await kernel->madvise(t, parts[undo].start, parts[undo].length, opposite);
    co_return done.error;
  }
  if (keep) ranges.add(range);
  else ranges.remove(range);
  co_return 0;
}

/// The page size to which a range is rounded: found out anew for each, with RDMAV_HUGEPAGES_SAFE (get_page_size).
engine::Task<ForkRanges::Range> SimDevice::fork_range(Thread t, Va address, Bytes length) {
  Bytes page = page_bytes;
  if (library_of(t).fork_huge_pages) {
    co_await cpus->run(t, ports::Work::user, params_.find_page_size);
    page = kernel->page_size_at(t, address);
  }
  co_return ForkRanges::pages_of(address, length, page);
}

engine::Flow SimDevice::reg_mr_flow(Thread t, verbs::RegMrRequest request, Reply& reply, Caller& caller) {
  // An empty range and address 0 are passed over.
  const bool counted = request.length != Bytes(0) && request.address != Va(0);
  ForkRanges::Range range;
  if (counted) {
    range = co_await fork_range(t, request.address, request.length);
    reply.error = co_await keep_from_children(t, range, true);
  }
  if (reply.error == 0) {
    reply = co_await kernel->reg_mr(t, request);
    if (counted) {
      if (reply.error == 0) library_of(t).fork_ranges_of[reply.handle] = range;
      else co_await keep_from_children(t, range, false);
    }
  }
  finish(t, caller);
}

engine::Flow SimDevice::dereg_mr_flow(Thread t, Handle mr, Reply& reply, Caller& caller) {
  reply = co_await kernel->dereg_mr(t, mr);
  auto& ranges = library_of(t).fork_ranges_of;
  const auto found = ranges.find(mr);
  if (reply.error == 0 && found != ranges.end()) {
    const ForkRanges::Range range = found->second;
    ranges.erase(found);
    co_await keep_from_children(t, range, false);  // ibv_dereg_mr does not tell
  }
  finish(t, caller);
}

engine::Flow SimDevice::rereg_mr_flow(Thread t, verbs::ReregMrRequest request, Reply& reply, Caller& caller) {
  const ForkRanges::Range range = co_await fork_range(t, request.address, request.length);
  const int error = co_await keep_from_children(t, range, true);
  if (error != 0) {
    reply.error = error;
    reply.value = static_cast<std::uint64_t>(Rereg::dont_fork_new);
  } else {
    reply = co_await kernel->rereg_mr(t, request);
    auto& ranges = library_of(t).fork_ranges_of;
    const auto old = ranges.find(request.mr);
    if (reply.error != 0) {
      if (co_await keep_from_children(t, range, false) != 0) reply.value = static_cast<std::uint64_t>(Rereg::command_and_do_fork_new);
    } else {
      if (old != ranges.end()) {
        reply.error = co_await keep_from_children(t, old->second, false);
        if (reply.error != 0) reply.value = static_cast<std::uint64_t>(Rereg::do_fork_old);
      }
      ranges[request.mr] = range;
    }
  }
  finish(t, caller);
}

}  // namespace mtsim::user
