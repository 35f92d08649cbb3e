// Is a trace's memory what it says, and can no line of it reach memory that is not its own?
#include "replay/arena.h"

#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <vector>

#include "replay/pointer.h"

using namespace mtsim;
using namespace mtsim::replay;

namespace {

verbs::MmapRequest request(Bytes length) {
  verbs::MmapRequest out;
  out.length = length;
  return out;
}

std::uint64_t mapped(Arena& arena, const verbs::MmapRequest& wanted) {
  std::uint64_t address = 0;
  REQUIRE(arena.mmap(wanted, address) == 0);
  return address;
}

/// Pages of the range that are in memory.
std::size_t resident(std::uint64_t address, std::size_t pages) {
  std::vector<unsigned char> in(pages);
  REQUIRE(mincore(pointer(address), pages * page_bytes.raw, in.data()) == 0);
  std::size_t count = 0;
  for (const unsigned char page : in) count += page & 1;
  return count;
}

}  // namespace

TEST_CASE("Memory comes where it fits first, and again where memory of that size was unmapped") {
  Arena arena(0, 2);
  const std::uint64_t a = mapped(arena, request(KiB(64))), b = mapped(arena, request(KiB(64)));
  CHECK(b == a + KiB(64).raw);
  CHECK(arena.munmap(a, KiB(64).raw) == 0);
  CHECK_FALSE(is_readable(a, 1));
  CHECK(mapped(arena, request(KiB(64))) == a);
  CHECK(is_readable(a, KiB(64).raw));
  CHECK(arena.munmap(a, 1) == 0);
  CHECK(mapped(arena, request(Bytes(1))) == a);
}

TEST_CASE("A mapping begins where its alignment and place within it say") {
  Arena arena(0, 1);
  mapped(arena, request(KiB(4)));
  verbs::MmapRequest wanted = request(KiB(8));
  wanted.align = MiB(2);
  wanted.at = KiB(12);
  CHECK(mapped(arena, wanted) % MiB(2).raw == KiB(12).raw);
  wanted = request(MiB(4));
  wanted.page = verbs::PageKind::thp;
  CHECK(mapped(arena, wanted) % MiB(2).raw == 0);
  std::uint64_t address = 0;
  wanted.at = Bytes(100);
  CHECK(arena.mmap(wanted, address) == EINVAL);
  CHECK(arena.mmap(request(Bytes(0)), address) == EINVAL);
}

TEST_CASE("A touch brings in the pages that it reaches and no others, and one that would end a program says EFAULT") {
  Arena arena(0, 1);
  const std::uint64_t a = mapped(arena, request(KiB(64)));
  CHECK(resident(a, 16) == 0);
  CHECK(arena.touch(a + 4095, 2, true) == 0);
  CHECK(resident(a, 16) == 2);
  CHECK(arena.touch(a, KiB(64).raw, false) == 0);
  CHECK(resident(a, 16) == 16);
  CHECK(arena.touch(a, KiB(64).raw + 1, true) == EFAULT);
  CHECK(arena.mprotect(a, KiB(4).raw, true, false) == 0);
  CHECK(arena.touch(a, 1, false) == 0);
  CHECK(arena.touch(a, 1, true) == EFAULT);
  CHECK(arena.mprotect(a, KiB(4).raw, false, false) == 0);
  CHECK(arena.touch(a, 1, false) == EFAULT);
  CHECK_FALSE(is_readable(a, 1));
  CHECK(arena.madvise(a + KiB(8).raw, KiB(8).raw, verbs::Advice::dontneed) == 0);
  CHECK(resident(a, 16) == 14);
}

TEST_CASE("What is not the arena's is neither unmapped, protected nor touched") {
  Arena arena(0, 2), other(1, 2);
  const std::uint64_t a = mapped(arena, request(KiB(4))), b = mapped(other, request(KiB(4)));
  CHECK_FALSE(arena.owns(b, 1));
  CHECK_FALSE(arena.owns(a, ~std::uint64_t{0}));
  int own = 0;
  for (const std::uint64_t address : {b, std::bit_cast<std::uint64_t>(&own) & ~std::uint64_t{4095}, std::uint64_t{0}}) {
    CHECK(arena.munmap(address, KiB(4).raw) == EINVAL);
    CHECK(arena.mprotect(address, KiB(4).raw, false, false) == ENOMEM);
    CHECK(arena.madvise(address, KiB(4).raw, verbs::Advice::dontneed) == ENOMEM);
    CHECK(arena.touch(address, 1, true) == EFAULT);
  }
  CHECK(arena.munmap(a, ~std::uint64_t{0} - a) == EINVAL);
  CHECK(is_readable(b, KiB(4).raw));
  std::uint64_t address = 0;
  CHECK(arena.mmap(request(GiB(1) * 1024 * 1024), address) == ENOMEM);
}

TEST_CASE("All of it is gone with the arena") {
  std::uint64_t a = 0;
  {
    Arena arena(0, 1);
    a = mapped(arena, request(KiB(64)));
    REQUIRE(is_readable(a, KiB(64).raw));
  }
  CHECK_FALSE(is_readable(a, 1));
}
