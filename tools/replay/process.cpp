// Making, ending, waiting.
#include "process.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include "words.h"

namespace mtsim::replay {

using verbs::Progress;

namespace {

/// How often a waiting thread looks whether the run has been given up.
constexpr auto look_again = std::chrono::milliseconds(50);

WallClock::duration wall(Time span) { return std::chrono::nanoseconds(span.raw / 1'000); }

}  // namespace

int errno_of(int result) { return result == -1 && errno != 0 ? errno : std::abs(result); }

Process::Process(Surroundings& surroundings, std::uint32_t number, std::uint32_t count, std::vector<std::unique_ptr<Nic>> nics,
                 std::size_t threads)
    : around_(surroundings), number_(number), nics_(std::move(nics)), arena_(number, count), busy_since_(threads) {}

Process::~Process() {
  // In the order in which nothing is in the way. Windows go before their QPs: some kernels wait long for those of a destroyed QP.
  mws_.for_each([](Handle, Mw& mw) { ibv_dealloc_mw(mw.mw); });
  qps_.for_each([](Handle, Qp& qp) {
    ibv_destroy_qp(qp.qp);
    qp.connection.reset();
  });
  srqs_.for_each([](Handle, Srq& srq) { ibv_destroy_srq(srq.srq); });
  mrs_.for_each([](Handle, Mr& mr) { ibv_dereg_mr(mr.mr); });
  cqs_.for_each([](Handle, Cq& cq) {
    ibv_destroy_cq(cq.cq);
    if (cq.channel != nullptr) ibv_destroy_comp_channel(cq.channel);
  });
  pds_.for_each([](Handle, Pd& pd) { ibv_dealloc_pd(pd.pd); });
}

const std::set<std::string>& Process::carried_out() {
  static const std::set<std::string> words = [] {
    std::set<std::string> all = program::carried_out();
    for (const char* missing : {"fork", "migrate", "dma", "mmap backing=io", "poll hazard="}) all.erase(missing);
    return all;
  }();
  return words;
}

Time Process::now() const {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(WallClock::now() - around_.start);
  return ns(since.count());
}

WallClock::duration Process::in_call(Thread thread) const {
  const WallClock::time_point since = busy_since_[thread];
  return since == WallClock::time_point() ? WallClock::duration() : WallClock::now() - since;
}

void Process::never_came(Thread thread, const char* what) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(turn().limit()).count();
  turn().give_up(fmt::format("{}: {} while nothing else went on for {} s", where(thread), what, seconds));
  throw GivenUp{};
}

void Process::check_patience(Thread thread, WallClock::time_point until) const {
  const auto span = std::chrono::duration<double>(until - WallClock::now()).count();
  const auto limit = std::chrono::duration<double>(turn().limit()).count();
  if (span <= limit) return;
  turn().give_up(fmt::format("{}: that would take {:.3g} s, and --limit is {:.3g} s", where(thread), span, limit));
  throw GivenUp{};
}

void Process::sleep_away(Thread thread, WallClock::time_point until) {
  check_patience(thread, until);
  turn().wait_until(until, [] { return false; });
  turn().got_on();
}

Progress Process::compute(Thread thread, Time span, Reply&, Caller&) {
  const WallClock::time_point until = WallClock::now() + wall(span);
  check_patience(thread, until);
  {
    const Turn::Away elsewhere(turn());
    while (WallClock::now() < until && !turn().given_up()) continue;
  }
  turn().check();
  turn().got_on();
  return Progress::done;
}

Progress Process::sleep_until(Thread thread, Time time, Reply&, Caller&) {
  sleep_away(thread, around_.start + wall(time));
  return Progress::done;
}

void Process::assume_capability() const {
  // Capabilities belong to threads.
  thread_local bool has = true;
  if (has == may_lock_) return;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (syscall(SYS_capget, &header, data) != 0) return;
  constexpr std::uint32_t bit = std::uint32_t{1} << CAP_IPC_LOCK;
  data[0].effective = may_lock_ ? data[0].effective | (data[0].permitted & bit) : data[0].effective & ~bit;
  if (syscall(SYS_capset, &header, data) == 0) has = may_lock_;
}

Progress Process::next_event(Thread thread, Reply& reply, Caller&) {
  // One thread of a program asks for events as a rule; of several each takes its turn at the next.
  for (;;) {
    for (const auto& nic : nics_) {
      ibv_async_event event{};
      bool taken = false;
      away(thread, [&] { taken = nic->next_event(event, look_again); });
      if (!taken) continue;
      const verbs::Event known = from_ibv(event.event_type);
      ibv_ack_async_event(&event);
      if (known == verbs::Event::none) continue;
      reply.value = std::uint64_t(known);
      return Progress::done;
    }
    turn().check();
    if (turn().out_of_patience()) never_came(thread, "no asynchronous event came");
  }
}

void Process::finish() {
  const Time at = now();
  std::array<ibv_wc, 32> taken;
  cqs_.for_each([&](Handle, Cq& cq) {
    for (;;) {
      const int n = look(cq, taken);
      if (n <= 0) return;
      for (int i = 0; i < n; ++i) note(taken[static_cast<std::size_t>(i)], at);
    }
  });
  qps_.for_each([&](Handle handle, Qp& qp) {
    ibv_qp_attr attributes{};
    ibv_qp_init_attr made{};
    bool up = ibv_query_qp(qp.qp, &attributes, IBV_QP_STATE, &made) == 0 && attributes.qp_state == IBV_QPS_RTS;
    // siw says RESET whatever the state is.
    if (qp.connection) up = qp.connection->up();
    record().forget(number_, handle, up, at);
  });
}

}  // namespace mtsim::replay
