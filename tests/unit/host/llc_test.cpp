// Does the last-level cache hold what devices and CPUs put into it, against a slow model, and does the root complex give it its time?
#include "host/llc.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <random>
#include <vector>

#include "host/root_complex.h"

using namespace mtsim;
using host::Llc;
using host::LlcParams;

namespace {

LlcParams cache(Bytes size, std::uint32_t ways, std::uint32_t write_ways) {
  LlcParams p = defaults<LlcParams>();
  p.size = size;
  p.ways = ways;
  p.write_ways = write_ways;
  return p;
}

/// Ways of each set, each with its line and when it was used last.
struct SlowCache {
  struct Way {
    std::uint64_t line = ~std::uint64_t{0}, used = 0;
  };
  SlowCache(std::size_t n, std::size_t ways) : sets(n, std::vector<Way>(ways)) {}
  Way* find(std::uint64_t line) {
    for (Way& way : sets[line % sets.size()])
      if (way.line == line) return &way;
    return nullptr;
  }
  bool use(std::uint64_t line) {
    Way* way = find(line);
    if (way != nullptr) way->used = ++clock;
    return way != nullptr;
  }
  void put(std::uint64_t line, std::size_t among) {
    if (use(line)) return;
    auto& set = sets[line % sets.size()];
    const auto end = set.begin() + static_cast<std::ptrdiff_t>(among);
    auto victim = std::find_if(set.begin(), end, [](const Way& w) { return w.line == ~std::uint64_t{0}; });
    if (victim == end) victim = std::min_element(set.begin(), end, [](const Way& a, const Way& b) { return a.used < b.used; });
    *victim = {line, ++clock};
  }
  std::vector<std::vector<Way>> sets;
  std::uint64_t clock = 0;
};

}  // namespace

TEST_CASE("random reads, writes, fills and flushes against a slow model", "[llc]") {
  const std::uint32_t write_ways = GENERATE(0u, 1u, 2u, 4u);
  constexpr std::size_t sets = 16, ways = 4;
  Llc llc(cache(Bytes(sets * ways * 64), ways, write_ways));
  SlowCache slow(sets, ways);
  std::mt19937_64 random(write_ways + 1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t line = random() % 150, lines = 1 + random() % 3;
    const Pa at(line * 64 + random() % 64);
    const Bytes length(lines * 64 - at.raw % 64);
    const auto each = [&](auto act) {
      for (std::uint64_t n = line; n < line + lines; ++n) act(n);
    };
    switch (random() % 4) {
      case 0: {
        bool all = true;
        each([&](std::uint64_t n) { all = slow.use(n) && all; });
        REQUIRE(llc.read(at, length) == all);
        break;
      }
      case 1:
        llc.write(at, length);
        each([&](std::uint64_t n) {
          if (write_ways != 0) slow.put(n, write_ways);
          else if (auto* way = slow.find(n)) *way = {};
        });
        break;
      case 2:
        llc.fill(at, length);
        each([&](std::uint64_t n) { slow.put(n, ways); });
        break;
      default:
        llc.flush(at, length);
        each([&](std::uint64_t n) {
          if (auto* way = slow.find(n)) *way = {};
        });
    }
  }
}

TEST_CASE("of what a CPU writes beyond the cache's size the end stays", "[llc]") {
  Llc llc(cache(KiB(64), 16, 2));
  llc.fill(Pa(MiB(1).raw), KiB(256));
  CHECK_FALSE(llc.read(Pa(MiB(1).raw), Bytes(64)));
  CHECK_FALSE(llc.read(Pa(MiB(1).raw) + KiB(191), Bytes(64)));
  CHECK(llc.read(Pa(MiB(1).raw) + KiB(192), KiB(64)));
}

TEST_CASE("a read takes read_latency when its lines are there, and memory's latency more when they are not", "[llc]") {
  host::RootComplexParams root = defaults<host::RootComplexParams>();
  root.read_latency = ns(175);
  LlcParams p = cache(MiB(15), 20, 2);
  p.miss = ns(80);
  FramePoolParams memory = defaults<FramePoolParams>();
  memory.size = GiB(1);
  host::RootComplex complex("root", root, memory, p);
  const auto read = [&](std::uint64_t offset, Bytes length, bool just_written = false) {
    ports::MemoryAccess access;
    access.address = FrameLaw::memory_start + Bytes(offset);
    access.length = length;
    access.just_written = just_written;
    return complex.read(access, us(1)).at - us(1);
  };
  CHECK(read(0, Bytes(64)) == ns(255));
  CHECK(read(0, Bytes(64)) == ns(255));  // reading leaves nothing behind
  complex.cpu_writes(FrameLaw::memory_start, KiB(4));
  CHECK(read(0, KiB(4)) == ns(175));
  CHECK(read(4032, Bytes(65)) == ns(255));
  ports::MemoryAccess write;
  write.address = FrameLaw::memory_start + KiB(64);
  write.length = Bytes(256);
  complex.write(write, us(1));
  CHECK(read(65536, Bytes(256)) == ns(175));
  CHECK(read(1 << 20, Bytes(64), true) == ns(175));  // a WQE: a CPU has just written it
  complex.cpu_flushes(FrameLaw::memory_start, KiB(128));
  CHECK(read(0, Bytes(64)) == ns(255));
}
