// Two hosts reduced to what a NIC needs (memory of constant latency, a PCIe link), two NICs, a switch: for tests that look at the data
// path alone. Everything that programs and kernels would do is done at once.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/scheduler.h"
#include "fabric/network.h"
#include "nic/nic.h"
#include "pcie/link.h"
#include "support/fresh_systemc.h"

namespace mtsim::test {

/// Host memory that answers after a constant time and hands out addresses in turn.
class PlainMemory : public sc_core::sc_module, public ports::HostMemory {
 public:
  PlainMemory(sc_core::sc_module_name name, Time read, Time write) : sc_module(name), read_(read), write_(write) {}
  Time read_latency(Pa) const override { return read_; }
  Time write_latency(Pa) const override { return write_; }
  Pa allocate(Bytes length, Bytes align) override {
    next_ = Pa(round_up(next_.raw, align.raw));
    const Pa at = next_;
    next_ += length;
    return at;
  }
  void release(Pa, Bytes) override {}

 private:
  Time read_, write_;
  Pa next_{std::uint64_t{1} << 32};
};

/// Remembers every operation that ended.
class KeepLog : public sc_core::sc_module, public nic::OperationLog {
 public:
  explicit KeepLog(sc_core::sc_module_name name) : sc_module(name) {}
  void ended(std::uint32_t, const ports::Wqe& request, verbs::Status status) override {
    operations.emplace_back(request, status);
    if (after) after();
  }
  void refused(Time, std::uint32_t, const verbs::Decision& decision) override { refusals.push_back(decision); }
  std::vector<verbs::Decision> refusals;
  std::function<void()> after;  ///< called at each, if set
  std::vector<std::pair<ports::Wqe, verbs::Status>> operations;
};

/// A CQ that keeps what arrives, with its time.
class KeepCq : public ports::CompletionQueue {
 public:
  KeepCq(engine::Scheduler& scheduler, Pa ring) : scheduler_(scheduler), ring_(ring) {}
  Pa next_slot() override { return ring_ + Bytes(64 * (count_++ % 64)); }
  void arrive(const verbs::Completion& completion, std::uint32_t place) override {
    completions.push_back(completion);
    places.push_back(place);
    times.push_back(scheduler_.now());
  }
  std::vector<verbs::Completion> completions;
  std::vector<std::uint32_t> places;
  std::vector<Time> times;

 private:
  engine::Scheduler& scheduler_;
  Pa ring_;
  std::uint64_t count_ = 0;
};

struct RigSettings {
  nic::NicSettings nic{defaults<nic::NicParams>(),      defaults<nic::MptCacheParams>(),  defaults<nic::MttCacheParams>(),
                       defaults<nic::IcmCacheParams>(), defaults<nic::RequesterParams>(), defaults<nic::ResponderParams>(),
                       defaults<nic::FirmwareParams>()};
  pcie::LinkParams pcie = defaults<pcie::LinkParams>();
  fabric::NetworkParams network = defaults<fabric::NetworkParams>();
  Time memory_read = ns(90), memory_write = ns(50);
  /// What a host's NIC has in place of its end of the link; by default the link itself.
  std::function<ports::PcieUp&(std::uint32_t host, pcie::Link& link)> link_of = {};
};

class NicRig {
 public:
  struct Host {
    std::unique_ptr<PlainMemory> memory;
    std::unique_ptr<pcie::Link> link;
    std::unique_ptr<nic::Nic> nic;
    std::unique_ptr<KeepLog> log;
    std::uint32_t keys = 1;
  };
  /// A connected QP of host 0 with its peer at host 1.
  struct Pair {
    std::uint32_t local = 0, remote = 0;
    std::shared_ptr<ports::SendRing> ring, peer_ring;
    std::shared_ptr<ports::ReceiveRing> receives, peer_receives;
    std::shared_ptr<KeepCq> cq, peer_cq, receive_cq, peer_receive_cq;
    std::uint32_t producer = 0;
    std::uint32_t receive_slot = 0;
  };

  explicit NicRig(const RigSettings& settings = {}, const nic::NicReplacements& replace_at_0 = {})
      : scheduler("scheduler"), fabric("switch", scheduler, settings.network, 2) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      Host& host = hosts[i];
      const std::string name = "host" + std::to_string(i);
      host.memory = std::make_unique<PlainMemory>((name + "_memory").c_str(), settings.memory_read, settings.memory_write);
      host.link = std::make_unique<pcie::Link>((name + "_link").c_str(), scheduler, settings.pcie);
      host.log = std::make_unique<KeepLog>((name + "_log").c_str());
      const Bytes space = settings.nic.nic.table_space;
      host.nic = std::make_unique<nic::Nic>((name + "_nic").c_str(), scheduler, settings.nic, i,
                                            translate::TableSpace{host.memory->allocate(space, MiB(2)), space},
                                            i == 0 ? replace_at_0 : nic::NicReplacements{});
      host.nic->memory(*host.memory);
      host.nic->link(settings.link_of ? settings.link_of(i, *host.link) : *host.link);
      host.nic->mmio(*host.link);
      host.nic->network(fabric);
      host.nic->log(*host.log);
      fabric.ends(*host.nic);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  /// An MR over `length` contiguous bytes of host memory, in blocks of `block`. Its addresses begin at the returned start.
  verbs::Grant register_memory(std::uint32_t host, Bytes length, Bytes block = page_bytes,
                               verbs::Access access = verbs::Access::local_write | verbs::Access::remote_write | verbs::Access::remote_read,
                               std::uint32_t pd = 1) {
    Host& h = hosts[host];
    const Pa frames = h.memory->allocate(length, std::max(block, page_bytes));
    translate::Region region;
    region.grant = {Key(h.keys++, 0x5a), pd, access, Iova(0x7f00'0000'0000 + frames.raw), length, true};
    region.block = block;
    FrameExtent extent;
    extent.first = (frames - FrameLaw::memory_start).raw / page_bytes.raw;
    extent.count = ceil_div(length.raw, page_bytes.raw);
    region.map = std::make_shared<DmaMap>(FrameLaw{}, std::vector<FrameExtent>{extent}, Bytes{}, length);
    translate::TableWrites writes;
    if (!h.nic->tables().architecture().build(region, writes)) throw std::runtime_error("no room for the tables");
    h.nic->tables().commit(writes);
    return region.grant;
  }

  void deregister(std::uint32_t host, Key key) {
    nic::Nic& nic = *hosts[host].nic;
    nic.tables().commit(nic.tables().architecture().drop(key));
  }

  Pair connect(std::uint32_t depth = 128, verbs::Access access = verbs::Access::remote_read | verbs::Access::remote_write,
               Bytes mtu = Bytes(4096), std::uint32_t reads = 16) {
    ports::QpAttributes attributes;
    attributes.access = access;
    attributes.rd_atomic = attributes.dest_rd_atomic = reads;
    attributes.mtu = mtu;
    return connect(depth, attributes);
  }
  /// The same with attributes of one's own; rings and CQs are filled in, but a shared receive ring of the peer is kept.
  Pair connect(std::uint32_t depth, const ports::QpAttributes& wanted) {
    Pair pair;
    const auto make = [&](std::uint32_t h, std::shared_ptr<ports::SendRing>& ring, std::shared_ptr<KeepCq>& cq,
                          std::shared_ptr<ports::ReceiveRing>& receives, std::shared_ptr<KeepCq>& receive_cq) {
      ring = std::make_shared<ports::SendRing>(hosts[h].memory->allocate(Bytes(depth * 64), page_bytes), depth, 4, 1);
      cq = std::make_shared<KeepCq>(scheduler, hosts[h].memory->allocate(Bytes(4096), page_bytes));
      receive_cq = std::make_shared<KeepCq>(scheduler, hosts[h].memory->allocate(Bytes(4096), page_bytes));
      ports::QpAttributes attributes = wanted;
      attributes.pd = 1;
      if (attributes.receive_pd == 0) attributes.receive_pd = 1;
      attributes.ring = ring;
      attributes.send_cq = cq;
      attributes.recv_cq = receive_cq;
      if (h == 0 || !attributes.receives) {
        const Pa base = hosts[h].memory->allocate(Bytes(256 * 64 + 4096), page_bytes);
        attributes.receives = std::make_shared<ports::ReceiveRing>(base, base + Bytes(256 * 64), 256, 4, Bytes(64));
        attributes.shared_receives = false;
      }
      receives = attributes.receives;
      return hosts[h].nic->create_qp(attributes);
    };
    pair.local = make(0, pair.ring, pair.cq, pair.receives, pair.receive_cq);
    pair.remote = make(1, pair.peer_ring, pair.peer_cq, pair.peer_receives, pair.peer_receive_cq);
    hosts[0].nic->set_peer(pair.local, 1, pair.remote);
    hosts[1].nic->set_peer(pair.remote, 0, pair.local);
    hosts[0].nic->set_state(pair.local, verbs::QpState::rts);
    hosts[1].nic->set_state(pair.remote, verbs::QpState::rts);
    return pair;
  }

  /// Writes a request with one SGE into the ring; `post` rings.
  ports::Wqe& fill(Pair& pair, verbs::Opcode opcode, verbs::Sge sge, std::uint64_t remote, Key rkey,
                   verbs::Send flags = verbs::Send::signaled) {
    ports::Wqe& wqe = pair.ring->open(pair.producer);
    wqe.wr = pair.producer + 1;
    wqe.opcode = opcode;
    wqe.flags = flags;
    wqe.length = sge.length;
    wqe.remote_address = remote;
    wqe.rkey = rkey;
    pair.ring->storage(pair.producer)[0] = sge;
    wqe.sges = pair.ring->storage(pair.producer).data();
    wqe.sge_count = 1;
    wqe.begin = scheduler.now();
    wqe.stamp[unsigned(ports::Step::posted)] = scheduler.now();
    ++pair.producer;
    return wqe;
  }
  /// A receive at the peer, with one SGE, or with none when it has no bytes; `wr` numbers rise from 1001.
  void receive(Pair& pair, verbs::Sge sge) {
    const std::uint32_t slot = pair.receive_slot++ % pair.peer_receives->depth();
    ports::Wqe& wqe = pair.peer_receives->open(slot);
    wqe.wr = 1000 + pair.receive_slot;
    wqe.opcode = verbs::Opcode::recv;
    wqe.flags = verbs::Send::signaled;
    wqe.length = sge.length;
    wqe.sge_count = sge.length == 0 ? 0 : 1;
    pair.peer_receives->storage(slot)[0] = sge;
    wqe.sges = pair.peer_receives->storage(slot).data();
    pair.peer_receives->line_up(slot);
  }
  void ring(Pair& pair, bool blueflame) { hosts[0].nic->doorbells().ring(pair.local, pair.producer, blueflame ? Bytes(64) : Bytes{}); }

  /// Runs until nothing moves.
  void run() { sc_core::sc_start(); }
  /// Has `act` done at `when`, in the course of the run.
  void at(Time when, std::function<void()> act) { scheduler.spawn(later(when, std::move(act))); }

  engine::Scheduler scheduler;
  fabric::Switch fabric;
  std::array<Host, 2> hosts;

 private:
  engine::Flow later(Time when, std::function<void()> act) {
    co_await engine::Until(scheduler, when, engine::Order{});
    act();
  }
};

/// The same in a SystemC context of its own.
struct FreshNicRig : private FreshSystemC, public NicRig {
  using NicRig::NicRig;
};

}  // namespace mtsim::test
