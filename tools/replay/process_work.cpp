// The data path: posting and polling.
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <array>

#include "process_calls.h"
#include "send_list.h"

namespace mtsim::replay {

using program::Kind;
using verbs::Progress;

Progress Process::post_send(Thread thread, Handle handle, std::span<const verbs::SendRequest> requests, Reply& reply, Caller&) {
  turn().check();
  const Use<Qp> qp(qps_.find(handle));
  if (!qp) reply.error = EINVAL;
  if (!qp || requests.empty()) return Progress::done;
  SendList list(requests, by_lkey_, qp->qp->pd);
  // The library would read them itself, and end the process.
  if (!list.is_readable()) {
    reply.error = EFAULT;
    return Progress::done;
  }
  ibv_send_wr* refused = nullptr;
  Timed timed{now(), {}};
  const int result = ibv_post_send(qp->qp, list.first(), &refused);
  timed.end = now();
  reply.error = errno_of(result);
  reply.value = reply.error == 0 ? requests.size() : list.accepted(refused);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const verbs::SendRequest& request = requests[i];
    std::uint64_t bytes = 0;
    for (const verbs::Sge& sge : request.sges) bytes += sge.length;
    if (i >= reply.value) record().refused(number_, handle, request.wr, request.opcode, bytes, timed);
    else record().posted(number_, Record::Side::send, handle, request.wr, request.opcode, bytes, timed);
  }
  called(thread, Kind::post_send, timed, {reply.error, {}, {}, 0, {}, {}});
  return Progress::done;
}

Progress Process::post_receives(Thread thread, Kind kind, Handle queue, std::span<const verbs::RecvRequest> requests, Reply& reply) {
  turn().check();
  const bool shared = kind == Kind::post_srq;
  const Use<Qp> qp(shared ? nullptr : qps_.find(queue));
  const Use<Srq> srq(shared ? srqs_.find(queue) : nullptr);
  // A QP with a shared queue has none of its own to post to.
  if (shared ? !srq : !qp || qp->asked.srq != 0) reply.error = EINVAL;
  if (reply.error != 0 || requests.empty()) return Progress::done;

  std::vector<ibv_recv_wr> list(requests.size());
  std::vector<ibv_sge> sges;
  std::size_t count = 0;
  for (const verbs::RecvRequest& request : requests) count += request.sges.size();
  sges.reserve(count);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    list[i].wr_id = requests[i].wr;
    list[i].next = i + 1 < requests.size() ? &list[i + 1] : nullptr;
    list[i].sg_list = sges.data() + sges.size();
    list[i].num_sge = static_cast<int>(requests[i].sges.size());
    for (const verbs::Sge& sge : requests[i].sges) sges.push_back({sge.address, sge.length, sge.lkey.raw});
  }
  ibv_recv_wr* refused = nullptr;
  Timed timed{now(), {}};
  const int result = shared ? ibv_post_srq_recv(srq->srq, list.data(), &refused) : ibv_post_recv(qp->qp, list.data(), &refused);
  timed.end = now();
  reply.error = errno_of(result);
  reply.value = requests.size();
  if (reply.error != 0) {
    reply.value = 0;
    while (refused != nullptr && reply.value < list.size() && &list[reply.value] != refused) ++reply.value;
  }
  const Record::Side side = shared ? Record::Side::shared : Record::Side::receive;
  for (std::size_t i = 0; i < reply.value; ++i) record().posted(number_, side, queue, requests[i].wr, verbs::Opcode::recv, 0, timed);
  called(thread, kind, timed, {reply.error, {}, {}, 0, {}, {}});
  return Progress::done;
}

Progress Process::post_recv(Thread thread, Handle qp, std::span<const verbs::RecvRequest> requests, Reply& reply, Caller&) {
  return post_receives(thread, Kind::post_recv, qp, requests, reply);
}

Progress Process::post_srq(Thread thread, Handle srq, std::span<const verbs::RecvRequest> requests, Reply& reply, Caller&) {
  return post_receives(thread, Kind::post_srq, srq, requests, reply);
}

verbs::Completion Process::note(const ibv_wc& wc, Time at) {
  verbs::Completion c = record().completed(number_, wc.wr_id, from_ibv(wc.status), wc.byte_len, wc.qp_num, at);
  if (wc.status == IBV_WC_SUCCESS && (wc.wc_flags & IBV_WC_WITH_INV) != 0) {
    c.invalidates = true;
    c.invalidated = Key(wc.invalidated_rkey);
  }
  return c;
}

int Process::look(Cq& cq, std::span<ibv_wc> out) {
  if (cq.kept.empty()) return ibv_poll_cq(cq.cq, static_cast<int>(out.size()), out.data());
  const auto n = static_cast<std::ptrdiff_t>(std::min(out.size(), cq.kept.size()));
  std::copy_n(cq.kept.begin(), n, out.begin());
  cq.kept.erase(cq.kept.begin(), cq.kept.begin() + n);
  return static_cast<int>(n);
}

void Process::await_more(Thread thread, const Cq& cq, verbs::Wait wait) {
  // Short enough to see soon that the run has been given up.
  constexpr int patience_ms = 50;
  away(thread, [&] {
    if (wait == verbs::Wait::spin || cq.channel == nullptr) {
      sched_yield();
      return;
    }
    pollfd ready{cq.channel->fd, POLLIN, 0};
    if (::poll(&ready, 1, patience_ms) <= 0) return;
    ibv_cq* told = nullptr;
    void* context = nullptr;
    if (ibv_get_cq_event(cq.channel, &told, &context) == 0) ibv_ack_cq_events(told, 1);
  });
}

Progress Process::poll(Thread thread, Handle handle, verbs::Wait wait, std::span<verbs::Completion> out, Reply& reply, Caller&) {
  const Use<Cq> cq(cqs_.find(handle));
  if (!cq) reply.error = EINVAL;
  if (!cq || out.empty()) return Progress::done;
  std::array<ibv_wc, 32> taken;
  const std::size_t most = std::min(out.size(), taken.size());
  const bool asleep = wait == verbs::Wait::event && cq->channel != nullptr;
  int n = 0;
  while (n == 0) {
    const Timed last = away(thread, [&] {
      // What came before the notification was asked for is not told of: so it is looked after asking.
      if (asleep) ibv_req_notify_cq(cq->cq, 0);
      // Some hundred looks at a stretch: to pass the turn for each would cost more than they do.
      for (int times = 0; times < 256 && n == 0 && !turn().given_up(); ++times) n = look(*cq, std::span(taken).first(most));
    });
    if (n != 0) {
      if (n < 0) reply.error = EINVAL;
      turn().got_on();
      for (int i = 0; i < n; ++i) out[static_cast<std::size_t>(i)] = note(taken[static_cast<std::size_t>(i)], last.end);
      break;
    }
    if (cq.closing()) {
      reply.error = EINVAL;
      break;
    }
    if (turn().out_of_patience()) never_came(thread, "no completion came");
    await_more(thread, *cq, wait);
  }
  reply.value = n > 0 ? static_cast<std::uint64_t>(n) : 0;
  return Progress::done;
}

Progress Process::poll_after(Thread thread, Handle handle, Time span, std::span<verbs::Completion> out, Reply& reply, Caller&) {
  const Use<Cq> cq(cqs_.find(handle));
  if (!cq) {
    reply.error = EINVAL;
    return Progress::done;
  }
  sleep_away(thread, WallClock::now() + std::chrono::nanoseconds(span.raw / 1'000));
  std::array<ibv_wc, 32> taken;
  const std::size_t most = std::min(out.size(), taken.size());
  int n = 0;
  const Timed looked = away(thread, [&] { n = look(*cq, std::span(taken).first(most)); });
  for (int i = 0; i < n; ++i) out[static_cast<std::size_t>(i)] = note(taken[static_cast<std::size_t>(i)], looked.end);
  reply.value = n > 0 ? static_cast<std::uint64_t>(n) : 0;
  return Progress::done;
}

}  // namespace mtsim::replay
