// Do N operations make exactly the look-ups, line fetches, TLPs, bytes, packets, doorbells and CQEs that counting on paper gives?
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <vector>

#include "support/nic_rig.h"

using namespace mtsim;
using test::FreshNicRig;
using verbs::Access;
using verbs::Opcode;
using verbs::Send;
using verbs::Status;

namespace {

std::uint64_t up(std::uint64_t n, std::uint64_t unit) { return (n + unit - 1) / unit; }
/// Units of `unit` bytes that [at, at+n) touches.
std::uint64_t touched(std::uint64_t at, std::uint64_t n, std::uint64_t unit) { return (at + n - 1) / unit - at / unit + 1; }

struct Shape {
  std::uint64_t max_payload, max_read, mtu, mtt_line, block, size;
  std::uint32_t operations, signal_every;
};

struct Operation {
  Opcode opcode;
  std::uint64_t length, near, far;  ///< offsets into the MRs
  bool signaled;
};

/// What one NIC's link and tables should have seen.
struct Side {
  std::uint64_t lookups = 0;
  std::set<std::uint64_t> lines;  ///< of the MTT
  std::uint64_t read_tlps = 0, completion_tlps = 0, read_bytes = 0;
  std::uint64_t write_tlps = 0, write_bytes = 0;

  void read(const Shape& s, std::uint64_t at, std::uint64_t n) {
    read_tlps += touched(at, n, s.max_read);
    completion_tlps += touched(at, n, s.max_payload);
    read_bytes += n;
  }
  void write(const Shape& s, std::uint64_t at, std::uint64_t n) {
    write_tlps += touched(at, n, s.max_payload);
    write_bytes += n;
  }
  /// Payload [at, at+n) of the MR, in pieces of 4 KiB of the message, each looked up block by block.
  void payload(const Shape& s, std::uint64_t at, std::uint64_t n, bool is_read) {
    for (std::uint64_t piece = 0; piece < n; piece += 4096) {
      for (std::uint64_t a = at + piece, end = at + std::min(n, piece + 4096); a < end;) {
        const std::uint64_t run = std::min(end, (a / s.block + 1) * s.block) - a;
        ++lookups;
        lines.insert(a / s.block * 8 / s.mtt_line);
        is_read ? read(s, a, run) : write(s, a, run);
        a += run;
      }
    }
  }
  /// The lines themselves: one of the MPT of 64 B, and those of the MTT.
  void tables(const Shape& s) {
    if (lookups == 0) return;
    read(s, 0, 64);
    for (std::size_t i = 0; i < lines.size(); ++i) read(s, 0, s.mtt_line);
  }
};

struct Expected {
  Side near, far;
  std::uint64_t packets_out = 0, wire_out = 0, packets_back = 0, wire_back = 0, cqes = 0;
};

Expected on_paper(const Shape& s, const std::vector<Operation>& operations) {
  Expected e;
  for (const Operation& o : operations) {
    const std::uint64_t packets = up(o.length, s.mtu);
    if (o.opcode == Opcode::write) {
      e.near.payload(s, o.near, o.length, true);
      e.far.payload(s, o.far, o.length, false);
      e.packets_out += packets;
      e.wire_out += packets * 82 + 16 + o.length;
      e.packets_back += 1;
      e.wire_back += 82 + 4;
    } else {
      e.near.payload(s, o.near, o.length, false);
      e.far.payload(s, o.far, o.length, true);
      e.packets_out += 1;
      e.wire_out += 82 + 16;
      e.packets_back += packets;
      e.wire_back += packets * 82 + (packets > 1 ? 8 : 4) + o.length;
    }
    if (o.signaled) {
      ++e.cqes;
      e.near.write(s, 0, 64);
    }
  }
  e.near.read(s, 0, operations.size() * 64);  // all WQEs stand together and come in one read
  e.near.tables(s);
  e.far.tables(s);
  return e;
}

void check(const Side& expected, test::NicRig::Host& host) {
  const pcie::Link::Counts& c = host.link->counts();
  CHECK(host.nic->mpt_cache->counts().lookups == expected.lookups);
  CHECK(host.nic->mtt_cache->counts().lookups == expected.lookups);
  CHECK(host.nic->mpt_cache->counts().cold == (expected.lookups == 0 ? 0 : 1));
  CHECK(host.nic->mtt_cache->counts().cold == expected.lines.size());
  CHECK(c.reads.all().tlps == expected.read_tlps);
  CHECK(c.reads.all().header_bytes == expected.read_tlps * 24);
  CHECK(c.completions.all().tlps == expected.completion_tlps);
  CHECK(c.completions.all().payload_bytes == expected.read_bytes);
  CHECK(c.completions.all().header_bytes == expected.completion_tlps * 20);
  CHECK(c.writes.all().tlps == expected.write_tlps);
  CHECK(c.writes.all().payload_bytes == expected.write_bytes);
  CHECK(c.writes.all().header_bytes == expected.write_tlps * 24);
}

}  // namespace

TEST_CASE("random operations make exactly what counting on paper gives", "[data_path]") {
  const unsigned seed = GENERATE(range(1u, 41u));
  std::mt19937_64 random(seed);
  Shape s{};
  s.max_payload = 128u << random() % 4;
  s.max_read = s.max_payload << random() % 3;
  s.mtu = 256u << random() % 5;
  s.mtt_line = 8u << random() % 5;
  s.block = 4096u << random() % 6;
  s.size = s.block * (4 + random() % 12);
  s.operations = 1 + static_cast<std::uint32_t>(random() % 16);
  s.signal_every = 1 + static_cast<std::uint32_t>(random() % 4);
  INFO("seed " << seed << " mps " << s.max_payload << " mrrs " << s.max_read << " mtu " << s.mtu << " mtt line " << s.mtt_line << " block "
               << s.block);
  test::RigSettings settings;
  settings.pcie.max_payload = Bytes(s.max_payload);
  settings.pcie.max_read_request = Bytes(s.max_read);
  settings.pcie.tags = 128;
  settings.nic.mtt_cache.line = Bytes(s.mtt_line);
  FreshNicRig rig(settings);
  test::NicRig::Pair pair = rig.connect(32, Access::remote_read | Access::remote_write, Bytes(s.mtu));
  const verbs::Grant near = rig.register_memory(0, Bytes(s.size), Bytes(s.block));
  const verbs::Grant far = rig.register_memory(1, Bytes(s.size), Bytes(s.block));

  // The links carry whole words of 4 bytes, so lengths are multiples of that; addresses need not be.
  std::vector<Operation> operations;
  for (std::uint32_t i = 0; i < s.operations; ++i) {
    Operation o{};
    o.opcode = random() % 2 ? Opcode::write : Opcode::read;
    o.length = 4 * (1 + random() % (random() % 2 ? 64 : s.size / 8));
    o.near = random() % (s.size - o.length + 1);
    o.far = random() % (s.size - o.length + 1);
    o.signaled = i % s.signal_every == 0;
    operations.push_back(o);
    rig.fill(pair, o.opcode, {near.start.raw + o.near, static_cast<std::uint32_t>(o.length), near.key}, far.start.raw + o.far, far.key,
             o.signaled ? Send::signaled : Send::none);
  }
  rig.ring(pair, false);
  rig.run();

  REQUIRE(rig.hosts[0].log->operations.size() == operations.size());
  for (const auto& [wqe, status] : rig.hosts[0].log->operations) REQUIRE(status == Status::SUCCESS);
  const Expected e = on_paper(s, operations);
  check(e.near, rig.hosts[0]);
  check(e.far, rig.hosts[1]);
  CHECK(rig.fabric.counts(1).packets == e.packets_out);
  CHECK(rig.fabric.counts(1).bytes == e.wire_out);
  CHECK(rig.fabric.counts(0).packets == e.packets_back);
  CHECK(rig.fabric.counts(0).bytes == e.wire_back);
  CHECK(pair.cq->completions.size() == e.cqes);
  CHECK(rig.hosts[0].nic->completion.cqes() == e.cqes);
  CHECK(rig.hosts[0].nic->doorbell.doorbells() == 1);
  CHECK(rig.hosts[0].link->counts().mmio_writes.all().tlps == 1);
  CHECK(rig.hosts[0].link->counts().mmio_writes.all().payload_bytes == 8);
  CHECK(rig.hosts[0].nic->scheduler.fetches() == 1);
}

TEST_CASE("a page of payload over and over: N pages, N look-ups, one line each eight pages", "[data_path]") {
  const std::uint32_t pages = GENERATE(1u, 8u, 9u, 100u, 1000u);
  FreshNicRig rig;
  test::NicRig::Pair pair = rig.connect(1024);
  const Bytes length = page_bytes * pages;
  const verbs::Grant near = rig.register_memory(0, length), far = rig.register_memory(1, length);
  for (std::uint32_t i = 0; i < pages; ++i) {
    rig.fill(pair, Opcode::write, {near.start.raw + i * 4096ull, 4096, near.key}, far.start.raw + i * 4096ull, far.key,
             i + 1 == pages ? Send::signaled : Send::none);
    rig.ring(pair, true);
    rig.run();
  }
  for (const auto& host : rig.hosts) {
    CHECK(host.nic->mpt_cache->counts().lookups == pages);
    CHECK(host.nic->mpt_cache->counts().hits == pages - 1);
    CHECK(host.nic->mtt_cache->counts().lookups == pages);
    CHECK(host.nic->mtt_cache->counts().cold == up(pages, 8));
    CHECK(host.nic->mtt_cache->counts().hits == pages - up(pages, 8));
  }
  CHECK(rig.hosts[0].nic->doorbell.doorbells() == pages);
  CHECK(rig.hosts[0].nic->doorbell.with_wqe() == pages);
  CHECK(rig.hosts[0].nic->scheduler.fetches() == 0);
  CHECK(rig.hosts[0].nic->completion.cqes() == 1);
  CHECK(rig.hosts[0].link->counts().mmio_writes.all().payload_bytes == pages * 64ull);
  CHECK(rig.hosts[0].link->counts().completions.all().payload_bytes == pages * 4096ull + 64 * (1 + up(pages, 8)));
  CHECK(rig.hosts[1].link->counts().writes.all().payload_bytes == pages * 4096ull);
}
