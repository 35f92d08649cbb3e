// What a program begins with: memory, PDs, CQs, MRs that stay, and connections.
#include "generator.h"

namespace mtsim::random_programs {

namespace {

constexpr std::uint64_t buffer_bytes = 256 * 1024;

}  // namespace

void Generator::set_up() {
  for (int h = 0; h < host_count(); ++h) set_up_host(h);
  barrier();
  set_up_pairs();
  barrier();
}

void Generator::set_up_host(int h) {
  Host& self = host(h);
  const World& world = oracle_.world();
  for (int i = 0; i < 6; ++i) {
    Operation o = operation(h, Kind::mmap, static_cast<Id>(world.buffers.size()));
    o.length = buffer_bytes;
    o.writable = i != 5;
    call(o);
    (o.writable ? self.buffers.emplace_back() : self.read_only) = o.id;
  }
  for (std::uint64_t i = dice_.from_to(2, 3); i > 0; --i) {
    self.pds.push_back(static_cast<Id>(world.pds.size()));
    call(operation(h, Kind::alloc_pd, self.pds.back()));
  }
  for (std::uint64_t i = dice_.from_to(options_.on_rxe ? 2 : 1, 3); i > 0; --i) {
    Operation o = operation(h, Kind::create_cq, static_cast<Id>(world.cqs.size()));
    o.depth = 2048;
    call(o);
    self.cqs.push_back(o.id);
  }
  for (const Id pd : self.pds) {
    // One that allows all, and one that allows nothing but being read locally.
    self.anchors[pd].push_back(reg_mr(h, pd, self.buffers[0], lw | rr | rw | ra | mw_bind, 0, 96 * 1024));
    self.anchors[pd].push_back(reg_mr(h, pd, dice_.pick(self.buffers), 0, 4096 + dice_.below(64), 32 * 1024));
    self.mrs.insert(self.mrs.end(), self.anchors[pd].begin(), self.anchors[pd].end());
  }
  for (int i = 0; options_.windows && i < 6; ++i) alloc_window(h);
  if (!dice_.chance(options_.racy ? 20 : 60)) return;
  Operation o = operation(h, Kind::create_srq, static_cast<Id>(world.srqs.size()));
  o.pd = dice_.pick(self.pds);
  o.depth = 63;
  call(o);
  self.srq = o.id;
}

void Generator::set_up_pairs() {
  struct Connect {
    int host;
    Pair pair;
  };
  std::vector<Connect> connects;
  for (std::uint64_t i = dice_.from_to(6, 12); i > 0; --i) {
    const int left = static_cast<int>(dice_.below(hosts_.size()));
    const int right = static_cast<int>((static_cast<std::uint64_t>(left) + dice_.from_to(1, hosts_.size() - 1)) % hosts_.size());
    const QpType type = dice_.chance(75) ? QpType::rc : QpType::uc;
    unsigned mtu = 256u << dice_.below(5);
    while (mtu > options_.largest_mtu) mtu /= 2;
    const auto side = [&](int h) { return make_qp(h, dice_.pick(host(h).pds), type, type == QpType::rc ? host(h).srq : nobody, mtu); };
    const Id first = side(left), second = side(right);
    pairs_.push_back({first, second});
    connects.push_back({left, pairs_.back()});
  }
  barrier();
  for (const Connect& c : connects) {
    Operation o = operation(c.host, Kind::connect, c.pair.left);
    o.peer = c.pair.right;
    o.peer_host = qp(c.pair.right).host;
    call(o);
  }
}

Id Generator::make_qp(int h, Id pd, QpType type, Id srq, unsigned mtu) {
  Operation o = operation(h, Kind::create_qp, static_cast<Id>(oracle_.world().qps.size()));
  o.pd = pd;
  QpSettings& s = o.settings;
  s.type = type;
  s.send_cq = dice_.pick(host(h).cqs);
  s.recv_cq = dice_.pick(host(h).cqs);
  // A poll by number is not put out by a receive that is flushed early.
  while (options_.on_rxe && !polled_by_number(s.recv_cq)) s.recv_cq = dice_.pick(host(h).cqs);
  if (srq != nobody && dice_.chance(40)) s.srq = srq;
  s.send_sge = static_cast<unsigned>(dice_.from_to(1, 4));
  s.recv_sge = static_cast<unsigned>(dice_.from_to(1, 4));
  s.inline_bytes = dice_.chance(60) ? static_cast<unsigned>(dice_.from_to(1, 200)) : 0;
  s.access = lw;
  for (const Rights right : {rr, rw, ra})
    if (dice_.chance(95)) s.access |= right;
  s.signal_all = dice_.chance(15);
  s.timeout = options_.timeout;
  s.retry = options_.on_rxe ? 2 : static_cast<unsigned>(dice_.from_to(1, 2));
  s.rnr_retry = static_cast<unsigned>(dice_.from_to(0, 2));
  s.rnr_timer = static_cast<unsigned>(dice_.from_to(1, 3));
  // No more of them under way than the peer allows, unless it allows none.
  s.rd_atomic = static_cast<unsigned>(dice_.from_to(1, 4));
  s.dest_rd_atomic = dice_.chance(96) ? 4 : 0;
  s.mtu = mtu;
  call(o);
  return o.id;
}

Id Generator::reg_mr(int h, Id pd, Id buffer, Rights rights, std::uint64_t offset, std::uint64_t length, bool iova) {
  Operation o = operation(h, Kind::reg_mr, static_cast<Id>(oracle_.world().mrs.size()));
  o.pd = pd;
  o.address = {Address::Of::buf, buffer, static_cast<std::int64_t>(offset)};
  o.length = length;
  o.access = rights;
  // Where no process has memory.
  if (iova) o.iova = (std::uint64_t{1} << 40) + static_cast<std::uint64_t>(o.id) * (1 << 24) + offset % 4096;
  return call(o) == "ok" ? o.id : nobody;
}

}  // namespace mtsim::random_programs
