// Does the map of contents know which bytes are the same, whatever was written, copied and forgotten? Judged against one number for each
// byte.
#include "base/contents.h"

#include <array>
#include <catch2/catch.hpp>
#include <random>

using mtsim::Contents;

namespace {

constexpr std::uint64_t size = 200;

/// Two memories of so many bytes.
struct Plain {
  std::array<std::array<std::uint64_t, size>, 2> bytes{};
  std::uint64_t next = 1;
};

}  // namespace

TEST_CASE("Bytes are the same where nobody has written, and where the same write put them", "[contents]") {
  Contents memory, other;
  CHECK(memory.same(0, 4096, other, 8192));
  memory.write(100, 50);
  CHECK_FALSE(memory.same(100, 50, memory, 200));
  CHECK_FALSE(memory.same(149, 1, other, 0));
  CHECK(memory.same(150, 50, other, 0));
  other.copy(memory, 90, 70, 1090);
  CHECK(memory.same(90, 70, other, 1090));
  CHECK_FALSE(memory.same(90, 70, other, 1091));
  // The second byte of a write is not its first.
  CHECK_FALSE(memory.same(101, 1, other, 1100));
  other.write(1120, 1);
  CHECK_FALSE(memory.same(90, 70, other, 1090));
  CHECK(memory.same(90, 30, other, 1090));
  memory.forget(0, 4096);
  CHECK(memory.empty());
}

TEST_CASE("Writes that follow each other are not taken for one", "[contents]") {
  Contents memory;
  memory.write(0, 8);
  memory.write(8, 8);
  memory.copy(memory, 0, 16, 100);
  CHECK(memory.same(0, 16, memory, 100));
  memory.write(8, 8);
  CHECK_FALSE(memory.same(8, 8, memory, 108));
  CHECK(memory.same(0, 8, memory, 100));
}

TEST_CASE("A copy of a copy joins to the extent that it came from", "[contents]") {
  Contents memory, disk;
  memory.write(0, 1 << 20);
  REQUIRE(memory.extents() == 1);
  for (std::uint64_t page = 0; page < 256; ++page) disk.copy(memory, page * 4096, 4096, page * 4096);
  CHECK(disk.extents() == 1);
  memory.forget(4096, 4096);
  CHECK(memory.extents() == 2);
  memory.copy(disk, 4096, 4096, 4096);
  CHECK(memory.extents() == 1);
}

TEST_CASE("Random writes, copies and losses leave what an array of bytes has", "[contents]") {
  const auto seed = GENERATE(range(1u, 41u));
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t n) { return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random); };
  // Numbers are one memory's own; the other one gets copies alone, as a swap device does.
  std::array<Contents, 2> memories;
  Plain plain;
  for (int step = 0; step < 300; ++step) {
    const std::uint64_t length = below(30), first = below(size - length);
    switch (below(4)) {
      case 0:
        memories[0].write(first, length);
        for (std::uint64_t i = 0; i < length; ++i) plain.bytes[0][first + i] = plain.next++;
        break;
      case 1: {
        const std::size_t which = below(2);
        memories[which].forget(first, length);
        for (std::uint64_t i = 0; i < length; ++i) plain.bytes[which][first + i] = 0;
        break;
      }
      default: {
        const std::size_t from = below(2), to = below(2);
        const std::uint64_t there = below(size - length);
        if (from == to && first < there + length && there < first + length) break;
        memories[to].copy(memories[from], first, length, there);
        for (std::uint64_t i = 0; i < length; ++i) plain.bytes[to][there + i] = plain.bytes[from][first + i];
      }
    }
    const std::size_t a = below(2), b = below(2);
    const std::uint64_t asked = 1 + below(20), here = below(size - asked), there = below(2) == 0 ? here : below(size - asked);
    bool same = true;
    for (std::uint64_t i = 0; i < asked; ++i) same = same && plain.bytes[a][here + i] == plain.bytes[b][there + i];
    REQUIRE(memories[a].same(here, asked, memories[b], there) == same);
    // Each byte against its neighbour and the other memory's.
    bool right = true;
    for (std::size_t m = 0; m < 2; ++m)
      for (std::uint64_t i = 0; i < size; ++i) {
        const std::uint64_t next = (i + 1) % size;
        right = right && memories[m].same(i, 1, memories[m], next) == (plain.bytes[m][i] == plain.bytes[m][next]);
        right = right && memories[m].same(i, 1, memories[1 - m], i) == (plain.bytes[m][i] == plain.bytes[1 - m][i]);
      }
    REQUIRE(right);
  }
}
