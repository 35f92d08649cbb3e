// Translation architectures by themselves: building regions into their tables, and looking addresses up with nothing cached.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "translate/architecture.h"

namespace mtsim::test {

constexpr Pa tables_start{std::uint64_t{1} << 40};

/// A table space of 8 GiB for 4,096 keys.
inline translate::ArchitectureOptions architecture_options(std::uint64_t line = 64, std::uint64_t entries = 0) {
  translate::ArchitectureOptions options;
  options.space = {tables_start, GiB(8)};
  options.contexts = 4096;
  options.mtt_line = Bytes(line);
  options.table_entries = entries;
  return options;
}

/// The lines that a commit calls stale.
class StaleLines final : public translate::Architecture::Stale {
 public:
  bool has(std::uint32_t kind, std::uint64_t tag) const {
    for (const auto& [of, first, count] : ranges_)
      if (of == kind && tag >= first && tag - first < count) return true;
    return false;
  }

 private:
  void lines(std::uint32_t kind, std::uint64_t first, std::uint64_t count) override { ranges_.emplace_back(kind, first, count); }
  std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> ranges_;
};

/// False when there is no room.
inline bool add(translate::Architecture& architecture, const translate::Region& region, translate::TableWrites* out = nullptr) {
  translate::TableWrites writes;
  if (!architecture.build(region, writes)) return false;
  StaleLines nobody;
  architecture.commit(writes, nobody);
  if (out != nullptr) *out = writes;
  return true;
}

inline void drop(translate::Architecture& architecture, Key key) {
  StaleLines nobody;
  architecture.commit(architecture.drop(key), nobody);
}

struct LookUp {
  std::vector<translate::Step> reads;        ///< each came only when the one before had been answered
  std::vector<translate::Step::Kind> kinds;  ///< of all steps
  translate::Step end;                       ///< a judgement where the key grants nothing
};

inline LookUp cold(const translate::Architecture& architecture, Key key, Iova address) {
  using translate::Step;
  LookUp out;
  translate::Walk walk{key, address, 0, 0};
  translate::Content content = 0;
  for (;;) {
    Step step;
    architecture.step(walk, content, step);
    out.kinds.push_back(step.kind);
    if (step.kind == Step::Kind::read) {
      out.reads.push_back(step);
      content = architecture.content(step.line_kind, step.tag);
      // The short way gives what the search gives, also to the key of another region, or of none.
      for (const std::uint32_t off : {0u, 1u, 1000u})
        CHECK(architecture.content_for(Key(key.raw + (off << 8)), step.line_kind, step.tag) == content);
    } else if (step.kind != Step::Kind::judge || step.grant == nullptr || !step.grant->valid) {
      out.end = step;
      return out;
    }
  }
}

}  // namespace mtsim::test
