// What hosts change between bursts: memory regions, windows, and calls that must fail.
#include <algorithm>

#include "generator.h"

namespace mtsim::random_programs {

namespace {

template <class T>
void erase(std::vector<T>& list, const T& value) {
  list.erase(std::remove(list.begin(), list.end(), value), list.end());
}

constexpr std::size_t most_mrs = 16, most_windows = 10;

}  // namespace

void Generator::change(int h) {
  switch (dice_.weighted({45, 10, options_.on_rxe ? 0u : 10u, options_.windows ? 30u : 0u, 6, 10, 2})) {
    case 0:
      return change_mr(h);
    case 1:
      return register_badly(h);
    case 2:
      return rereg(h);
    case 3:
      return change_window(h);
    case 4:
      return try_busy(h);
    case 5:
      return probe_qp(h);
    default:
      return end_connection(h);
  }
}

/// One side goes to ERR by itself.
void Generator::end_connection(int h) {
  const Pair& pair = dice_.pick(pairs_);
  const Id id = qp(pair.left).host == h ? pair.left : pair.right;
  if (qp(id).host != h || keeps_refused(id)) return;
  if (options_.on_rxe) end_windows_of(id);
  Operation o = operation(h, Kind::modify_qp, id);
  o.state = QpState::err;
  call(o);
  settle(h);
  // Receives that are posted next are not to be flushed with those that there were.
  if (options_.on_rxe) pause(h);
}

void Generator::change_mr(int h) {
  Host& self = host(h);
  if (self.mrs.size() >= most_mrs || dice_.chance(45)) {
    const Id old = dice_.pick(self.mrs);
    for (const auto& [pd, stay] : self.anchors)
      if (std::find(stay.begin(), stay.end(), old) != stay.end()) return;
    for (const Id id : self.windows)
      if (window(id).spoilt && window(id).mr == old) return;
    if (call(operation(h, Kind::dereg_mr, old)) == "ok") forget_mr(h, old);
    return;
  }
  static const std::vector<Rights> some{0, lw, rr, lw | rr, lw | rw, lw | ra, lw | rr | rw, lw | rr | rw | ra, lw | mw_bind, mw_bind | rr};
  const std::uint64_t length = dice_.chance(20) ? dice_.from_to(1, 64) : dice_.from_to(1, 48 * 1024);
  const bool only_read = dice_.chance(5);
  const Id made =
      reg_mr(h, dice_.pick(self.pds), only_read ? self.read_only : dice_.pick(self.buffers),
             only_read ? (dice_.chance(50) ? 0 : rr) : dice_.pick(some), dice_.from_to(1, 128 * 1024), length, dice_.chance(20));
  self.mrs.push_back(made);
}

void Generator::forget_mr(int h, Id old) {
  erase(host(h).mrs, old);
  host(h).gone_mrs.push_back(old);
}

void Generator::register_badly(int h) {
  Host& self = host(h);
  Operation o = operation(h, Kind::reg_mr, static_cast<Id>(oracle_.world().mrs.size()));
  o.pd = dice_.pick(self.pds);
  o.address = {Address::Of::buf, dice_.pick(self.buffers), static_cast<std::int64_t>(dice_.below(4096))};
  o.length = 8192;
  o.access = lw | rr;
  switch (dice_.below(4)) {
    case 0:
      o.access = dice_.chance(50) ? rw : ra | rr;
      break;
    case 1:
      o.length = 0;
      // rxe registers nothing where that lies within a page.
      if (options_.on_rxe) o.address.offset = 0;
      break;
    case 2:
      o.iova = (std::uint64_t{1} << 41) + (static_cast<std::uint64_t>(o.address.offset) + dice_.from_to(1, 4095)) % 4096;
      break;
    default:
      o.address.id = self.read_only;
  }
  call(o);
}

void Generator::rereg(int h) {
  Host& self = host(h);
  Operation o = operation(h, Kind::rereg_mr, dice_.pick(self.mrs));
  for (const auto& [pd, stay] : self.anchors)
    if (std::find(stay.begin(), stay.end(), o.id) != stay.end()) return;
  // What becomes of a window bound to it nobody says.
  const auto bound_to_it = [&](const Window& w) { return w.alive && w.mr == o.id && (w.bound || w.spoilt); };
  const auto& windows = oracle_.world().windows;
  if (std::any_of(windows.begin(), windows.end(), bound_to_it)) return;
  if (dice_.chance(40)) o.pd = dice_.pick(self.pds);
  static const std::vector<Rights> some{0, lw, lw | rr, lw | rw, lw | rr | rw | ra, rw};
  o.change_access = dice_.chance(50);
  if (o.change_access) o.access = dice_.pick(some);
  o.change_translation = dice_.chance(30);
  if (o.change_translation) {
    // Nothing in common with the old range: whether the key stays the same must not matter.
    o.address = {Address::Of::buf, dice_.pick(self.buffers), static_cast<std::int64_t>(dice_.below(64 * 1024))};
    if (o.address.id == mr(o.id).buffer) return;
    o.length = dice_.from_to(1, 32 * 1024);
  }
  call(o);
}

void Generator::end_window(int h, Id old) {
  call(operation(h, Kind::dealloc_mw, old));
  erase(host(h).windows, old);
  host(h).gone_windows.push_back(old);
}

/// Those bound through a QP: of no use when it is down, and rxe waits for them for a minute when a QP is destroyed.
void Generator::end_windows_of(Id id) {
  const int h = qp(id).host;
  for (const Id w : std::vector<Id>(host(h).windows))
    if (window(w).type == 2 && window(w).bound && window(w).qp == id) end_window(h, w);
}

void Generator::alloc_window(int h) {
  Operation o = operation(h, Kind::alloc_mw, static_cast<Id>(oracle_.world().windows.size()));
  o.pd = dice_.pick(host(h).pds);
  o.window_type = dice_.chance(50) ? 1 : 2;
  call(o);
  host(h).windows.push_back(o.id);
}

void Generator::change_window(int h) {
  Host& self = host(h);
  for (const Id id : std::vector<Id>(self.windows))
    if (window(id).spoilt) end_window(h, id);
  if (self.windows.size() < most_windows && dice_.chance(40)) {
    alloc_window(h);
  } else if (!self.windows.empty() && dice_.chance(15)) {
    end_window(h, dice_.pick(self.windows));
  } else if (!self.windows.empty()) {
    bind_by_call(h);
  }
}

/// ibv_bind_mw: windows of type 1. It completes on the QP's CQ, and is polled at once.
void Generator::bind_by_call(int h) {
  std::vector<Id> kind_1;
  for (const Id id : host(h).windows)
    if (window(id).type == 1 && !window(id).by_request) kind_1.push_back(id);
  Operation o = operation(h, Kind::bind_mw, dice_.pick(kind_1.empty() || dice_.chance(8) ? host(h).windows : kind_1));
  o.mw = o.id;
  std::vector<Id> able;
  for (const Pair& pair : pairs_)
    for (const Id id : {pair.left, pair.right})
      if (qp(id).host == h && qp(id).state == QpState::rts && qp(id).settings.type == QpType::rc) able.push_back(id);
  if (able.empty()) return;
  o.qp = dice_.pick(able);
  const Id pd = window(o.id).pd;
  for (const Id id : able)
    if (qp(id).pd == pd && dice_.chance(70)) o.qp = id;
  static const std::vector<Rights> some{rr, rw, rr | rw, ra, rr | rw | ra};
  o.access = dice_.pick(some);
  o.mr = dice_.chance(90) ? mr_with(h, pd, dice_.chance(92) ? mw_bind | lw : 0, 1) : dice_.pick(host(h).mrs);
  const std::uint64_t size = mr(o.mr).length, from = dice_.below(size);
  o.length = dice_.chance(10) ? 0 : dice_.from_to(1, size - from);
  if (dice_.chance(5)) o.length += size;
  o.address = {Address::Of::mr, o.mr, static_cast<std::int64_t>(from)};
  // Which of two mistakes is found first differs.
  if (mr(o.mr).pd == pd && dice_.chance(4)) o.access |= zero_based;
  o.wr = next_wr(h);
  call(o);
  settle(h);
  if (!options_.on_rxe || qp(o.qp).state == QpState::rts) return;
  // The completion comes before the QP is in error.
  pause(h);
}

void Generator::pause(int h) {
  Operation sleep = operation(h, Kind::sleep);
  sleep.time = settling_ns;
  program_.operations.push_back(sleep);
}

/// Objects that others use stay.
void Generator::try_busy(int h) {
  Host& self = host(h);
  switch (dice_.below(4)) {
    case 0:
      call(operation(h, Kind::dealloc_pd, dice_.pick(self.pds)));
      return;
    case 1:
      for (const Pair& pair : pairs_)
        for (const Id id : {pair.left, pair.right})
          if (qp(id).host == h) {
            call(operation(h, Kind::destroy_cq, qp(id).settings.recv_cq));
            return;
          }
      return;
    case 2:
      for (const Pair& pair : pairs_)
        for (const Id id : {pair.left, pair.right})
          if (qp(id).host == h && qp(id).settings.srq != nobody) {
            call(operation(h, Kind::destroy_srq, qp(id).settings.srq));
            return;
          }
      return;
    default: {
      Operation o = operation(h, Kind::alloc_pd, static_cast<Id>(oracle_.world().pds.size()));
      call(o);
      const Id mr_in_it = reg_mr(h, o.id, self.buffers[0], lw, 0, 4096);
      call(operation(h, Kind::dealloc_pd, o.id));
      call(operation(h, Kind::dereg_mr, mr_in_it));
      call(operation(h, Kind::dealloc_pd, o.id));
    }
  }
}

/// A QP made only to be asked what may not be done with it.
void Generator::probe_qp(int h) {
  Host& self = host(h);
  const Id pd = dice_.pick(self.pds);
  const Id id = make_qp(h, pd, dice_.chance(70) ? QpType::rc : QpType::uc, nobody, 256);
  const auto set = [&](QpState state) {
    Operation o = operation(h, Kind::modify_qp, id);
    o.state = state;
    call(o);
  };
  const auto send = [&] {
    Operation o = operation(h, Kind::post_send, id);
    o.wr = next_wr(h);
    o.opcode = Opcode::send;
    o.sges = elements(h, pd, 64, 1, 0, false);
    o.signaled = true;
    post(o);
  };
  const auto receive = [&] {
    Operation o = operation(h, Kind::post_recv, id);
    o.wr = next_wr(h);
    o.sges = elements(h, pd, 64, 1, lw, false);
    post(o);
  };
  if (dice_.chance(50)) send();
  if (dice_.chance(50)) receive();
  if (dice_.chance(30)) set(QpState::err);
  if (dice_.chance(80)) {
    set(QpState::init);
    if (dice_.chance(60)) receive();
    if (dice_.chance(60)) send();
    if (dice_.chance(30)) set(QpState::init);
    if (!keeps_refused(id) && dice_.chance(60)) {
      set(QpState::err);
      if (dice_.chance(50)) send();
      // Those that were there are flushed in the kernel's own time.
      if (options_.on_rxe) pause(h);
      if (dice_.chance(50)) receive();
    }
    settle(h);
  }
  if (dice_.chance(30)) set(QpState::reset);
  call(operation(h, Kind::destroy_qp, id));
}

}  // namespace mtsim::random_programs
