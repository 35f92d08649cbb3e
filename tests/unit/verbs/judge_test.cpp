// Does the judge of keys refuse for the first of its reasons, and only for a reason? Compared on random grants and wishes with a list of
// the reasons in their order, whose range is counted byte by byte in numbers that cannot overflow.
#include "verbs/judge.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "verbs/responder.h"

using namespace mtsim;
using namespace mtsim::verbs;

namespace {

using Wide = unsigned __int128;

struct Case {
  Grant grant;
  bool known = true;
  Wish wish;
};

std::uint64_t place(std::mt19937_64& random) {
  const std::uint64_t near[] = {0, 1, 4096, 4097, 8192, ~0ull - 4096, ~0ull - 1, ~0ull};
  return near[random() % 8] + random() % 3;
}

Access some_access(std::mt19937_64& random) { return Access(random() % 32); }

Case random_case(std::mt19937_64& random) {
  Case c;
  c.known = random() % 16 != 0;
  c.grant.key = Key(std::uint32_t(random() % 3 + 1), std::uint8_t(random() % 3));
  c.grant.pd = std::uint32_t(random() % 2);
  c.grant.access = some_access(random) | Access(random() % 2 ? 31 : 0);
  c.grant.start = Iova(place(random));
  c.grant.length = Bytes(random() % 2 ? random() % 8192 : place(random));
  c.grant.valid = random() % 8 != 0;
  c.grant.kind = KeyKind(random() % 4);
  c.grant.remote_bits = c.grant.kind == KeyKind::region && random() % 4 == 0 ? 0x80 : 0;
  c.grant.qpn = std::uint32_t(random() % 2);
  c.wish.remote = random() % 2 != 0;
  c.wish.key = c.grant.key;
  if (c.wish.remote) c.wish.key = Key(c.wish.key.raw ^ c.grant.remote_bits);
  if (random() % 8 == 0) c.wish.key = Key(c.wish.key.raw ^ 1);
  if (random() % 8 == 0) c.wish.key = Key(c.wish.key.raw ^ 0x100);
  c.wish.pd = random() % 8 ? c.grant.pd : 1 - c.grant.pd;
  c.wish.qpn = random() % 4 ? c.grant.qpn : 1 - c.grant.qpn;
  c.wish.access = random() % 2 ? Access(1u << random() % 4) : Access::none;
  c.wish.address = random() % 2 ? Iova(c.grant.start.raw + random() % 8200) : Iova(place(random));
  c.wish.length = Bytes(random() % 2 ? random() % 8200 : place(random));
  return c;
}

/// Every reason that there is to refuse, in the order in which they count.
std::vector<Verdict> reasons(const Case& c) {
  std::vector<Verdict> out;
  const std::uint32_t own = c.wish.remote ? c.grant.key.raw ^ c.grant.remote_bits : c.grant.key.raw;
  if (!c.known || own >> 8 != c.wish.key.raw >> 8) return {Verdict::no_such_key};
  if ((own & 255) != (c.wish.key.raw & 255)) out.push_back(Verdict::wrong_variant);
  if (!c.grant.valid) out.push_back(Verdict::not_valid);
  if (c.grant.pd != c.wish.pd) out.push_back(Verdict::other_pd);
  const bool window = c.grant.kind == KeyKind::window_1 || c.grant.kind == KeyKind::window_2;
  if (window && !c.wish.remote) out.push_back(Verdict::no_access);
  if (c.grant.kind == KeyKind::window_2 && c.wish.remote && c.grant.qpn != c.wish.qpn) out.push_back(Verdict::other_qp);
  for (unsigned right = 0; right < 16; ++right)
    if ((unsigned(c.wish.access) >> right & 1) != 0 && (unsigned(c.grant.access) >> right & 1) == 0) out.push_back(Verdict::no_access);
  const Wide begin = c.wish.address.raw, end = begin + c.wish.length.raw;
  const Wide first = c.grant.start.raw, last = first + c.grant.length.raw;
  if (begin < first || end > last) out.push_back(Verdict::out_of_range);
  return out;
}

}  // namespace

TEST_CASE("a key is refused for the first reason that there is, and granted only without one",
          "[rule:5.11][rule:7.6][rule:7.7][rule:8.10][rule:8.11][rule:9.11]") {
  std::mt19937_64 random(20);
  std::vector<unsigned> seen(8);
  for (int round = 0; round < 300'000; ++round) {
    const Case c = random_case(random);
    const std::vector<Verdict> why = reasons(c);
    const Verdict expected = why.empty() ? Verdict::granted : why.front();
    const Verdict got = judge(c.known ? &c.grant : nullptr, c.wish);
    if (got != expected) FAIL("round " << round << ": " << explain(got) << " instead of " << explain(expected));
    ++seen[unsigned(got)];
  }
  for (const unsigned count : seen) CHECK(count > 300);
}

TEST_CASE("an access that wraps at the end of the address space is out of range", "[rule:8.11]") {
  Grant grant;
  grant.key = Key(0x100);
  grant.valid = true;
  grant.start = Iova(4096);
  grant.length = Bytes(4096);
  Wish wish{grant.key, 0, Access::none, Iova(8191), Bytes(1)};
  CHECK(judge(&grant, wish) == Verdict::granted);
  wish.length = Bytes(2);
  CHECK(judge(&grant, wish) == Verdict::out_of_range);
  wish.length = Bytes(~0ull);
  CHECK(judge(&grant, wish) == Verdict::out_of_range);
  wish.address = Iova(~0ull);
  wish.length = Bytes(4098);
  CHECK(judge(&grant, wish) == Verdict::out_of_range);
}

TEST_CASE("key 0 is never one that a grant of index 1 or more has", "[rule:5.12]") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 1000; ++round) {
    Grant grant;
    grant.key = Key(std::uint32_t(1 + random() % 0xfffffe), std::uint8_t(random()));
    grant.valid = true;
    grant.length = Bytes(~0ull);
    CHECK(judge(&grant, {Key(0), 0, Access::none, Iova(), Bytes(1)}) == Verdict::no_such_key);
  }
}

TEST_CASE("the QP's own flags come before any key, and a limit of no reads refuses them", "[rule:8.4][rule:8.5]") {
  for (unsigned code = 0; code < opcode_count; ++code) {
    const auto opcode = Opcode(code);
    const Access needed = opcode == Opcode::write || opcode == Opcode::write_imm ? Access::remote_write
                          : opcode == Opcode::read                               ? Access::remote_read
                          : opcode == Opcode::cas || opcode == Opcode::faa       ? Access::remote_atomic
                                                                                 : Access::none;
    const bool counted = opcode == Opcode::read || opcode == Opcode::cas || opcode == Opcode::faa;
    INFO(name(opcode));
    for (unsigned flags = 0; flags < 16; ++flags) {
      const bool has_flag = (flags & unsigned(needed)) == unsigned(needed);
      CHECK(check_request(opcode, Access(flags), 1) == (has_flag ? Check::none : Check::qp_access));
      CHECK(check_request(opcode, Access(flags), 0) == (!has_flag ? Check::qp_access : counted ? Check::no_read_atomic : Check::none));
    }
  }
}
