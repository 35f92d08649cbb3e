// Can somebody put a module of their own in the place of a shipped one, and does the system then behave as that module makes it?
#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "support/nic_rig.h"

using namespace mtsim;
using verbs::Opcode;
using verbs::Status;

namespace {

/// An MTT cache that keeps nothing.
class Forgetful : public sc_core::sc_module, public ports::LineCache {
 public:
  explicit Forgetful(sc_core::sc_module_name name) : sc_module(name) {}
  const translate::Content* find(std::uint64_t) override {
    ++asked;
    return nullptr;
  }
  bool holds(std::uint64_t) const override { return false; }
  void fill(std::uint64_t, translate::Content, std::uint32_t) override { ++filled; }
  void drop(std::uint64_t, std::uint64_t) override {}
  std::uint64_t asked = 0, filled = 0;
};

/// One that keeps all, for ever.
class Endless : public sc_core::sc_module, public ports::LineCache {
 public:
  explicit Endless(sc_core::sc_module_name name) : sc_module(name) {}
  const translate::Content* find(std::uint64_t tag) override {
    const auto line = lines.find(tag);
    return line == lines.end() ? nullptr : &line->second;
  }
  bool holds(std::uint64_t tag) const override { return lines.count(tag) != 0; }
  void fill(std::uint64_t tag, translate::Content content, std::uint32_t) override { lines[tag] = content; }
  void drop(std::uint64_t first, std::uint64_t count) override { lines.erase(lines.lower_bound(first), lines.lower_bound(first + count)); }
  std::map<std::uint64_t, translate::Content> lines;
};

constexpr std::uint32_t writes = 10;

struct Outcome {
  std::uint64_t table_lines;  ///< fetched by the NIC of host 0
  Time end;
};

/// Ten WRITEs of a page each, in turn from eight pages (one line of the table) and again.
Outcome run(const nic::NicReplacements& replacements) {
  test::NicRig rig({}, replacements);
  test::NicRig::Pair pair = rig.connect();
  const verbs::Grant local = rig.register_memory(0, KiB(32)), remote = rig.register_memory(1, KiB(32));
  for (std::uint32_t i = 0; i < writes; ++i)
    rig.fill(pair, Opcode::write, {local.start.raw + i % 8 * 4096, 4096, local.key}, remote.start.raw, remote.key);
  rig.ring(pair, false);
  rig.run();
  REQUIRE(pair.cq->completions.size() == writes);
  for (const verbs::Completion& c : pair.cq->completions) REQUIRE(c.status == Status::SUCCESS);
  // Besides table lines of 64 B the NIC has read the ten WQEs and the payload.
  const std::uint64_t read = rig.hosts[0].link->counts().completions.all().payload_bytes;
  return {(read - writes * 64 - writes * 4096) / 64, rig.scheduler.now()};
}

}  // namespace

TEST_CASE("an MTT cache of one's own that keeps nothing: every look-up fetches its line, and it takes longer", "[replaced_module]") {
  const auto shipped = [] {
    test::FreshSystemC context;
    return run({});
  }();
  test::FreshSystemC context;
  Forgetful cache("forgetful");
  nic::NicReplacements replacements;
  replacements.mtt_cache = &cache;
  const Outcome replaced = run(replacements);

  CHECK(shipped.table_lines == 1 + 1);  // the key's and the translation's
  CHECK(replaced.table_lines == 1 + writes);
  CHECK(cache.asked == writes);
  CHECK(cache.filled == writes);
  CHECK(replaced.end > shipped.end);
}

TEST_CASE("caches of one's own that keep all do what the shipped ones do while those have room", "[replaced_module]") {
  const auto shipped = [] {
    test::FreshSystemC context;
    return run({});
  }();
  test::FreshSystemC context;
  Endless keys("keys"), translations("translations");
  const Outcome replaced = run({&keys, &translations});
  CHECK(replaced.table_lines == shipped.table_lines);
  CHECK(replaced.end == shipped.end);
  CHECK(keys.lines.size() == 1);
  CHECK(translations.lines.size() == 1);
}
