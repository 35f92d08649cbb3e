// Flat MTT (mlx5, mlx4): an mkey context names a contiguous array of 8-byte entries, one for each block of the region. A cold look-up
// reads the context (MPT), then the one line of the array (MTT) that holds the entry: two dependent reads.
#include <bit>
#include <deque>
#include <map>
#include <vector>

#include "translate/architecture.h"

namespace mtsim::translate {
namespace {

constexpr std::uint32_t mpt = 0, mtt = 1;
constexpr Bytes context_bytes{64}, entry_bytes{8};

/// Free room of the entry array, first fit by lowest address. Gaps also stand by size, eight classes to a power of two, so that a search
/// passes over those that are too small without looking at each.
class Room {
 public:
  explicit Room(std::uint64_t size) { add(0, size); }

  bool take(std::uint64_t n, std::uint64_t& first) {
    const Gaps* found = nullptr;
    for (auto sized = by_size_.lower_bound(size_class(n)); sized != by_size_.end(); ++sized)
      for (const auto& [start, length] : sized->second) {
        if (found != nullptr && start > first) break;
        if (length < n) continue;
        found = &sized->second;
        first = start;
        break;
      }
    if (found == nullptr) return false;
    const std::uint64_t length = found->at(first);
    remove(first, length);
    add(first + n, length - n);
    return true;
  }

  void give(std::uint64_t first, std::uint64_t n) {
    const auto next = gaps_.lower_bound(first);
    const Gap after = next == gaps_.end() ? Gap{} : Gap{next->first, next->second};
    const Gap before = next == gaps_.begin() ? Gap{} : Gap{std::prev(next)->first, std::prev(next)->second};
    if (after.length != 0 && after.first == first + n) {
      remove(after.first, after.length);
      n += after.length;
    }
    if (before.length != 0 && before.first + before.length == first) {
      remove(before.first, before.length);
      first = before.first;
      n += before.length;
    }
    add(first, n);
  }

 private:
  struct Gap {
    std::uint64_t first = 0, length = 0;
  };
  using Gaps = std::map<std::uint64_t, std::uint64_t>;  ///< start -> length

  static unsigned size_class(std::uint64_t n) {
    if (n < 16) return static_cast<unsigned>(n);
    const auto log = static_cast<unsigned>(std::bit_width(n)) - 1;
    return log * 8 + static_cast<unsigned>(n >> (log - 3) & 7);
  }
  void add(std::uint64_t first, std::uint64_t n) {
    if (n == 0) return;
    gaps_.emplace(first, n);
    by_size_[size_class(n)].emplace(first, n);
  }
  void remove(std::uint64_t first, std::uint64_t n) {
    gaps_.erase(first);
    const auto sized = by_size_.find(size_class(n));
    sized->second.erase(first);
    if (sized->second.empty()) by_size_.erase(sized);
  }

  Gaps gaps_;
  std::map<unsigned, Gaps> by_size_;
};

class FlatMtt : public Architecture {
 public:
  explicit FlatMtt(const ArchitectureOptions& options)
      : options_(options),
        entries_shift_(static_cast<unsigned>(std::countr_zero(options.mtt_line.raw / entry_bytes.raw))),
        context_shift_(static_cast<unsigned>(std::countr_zero(options.mpt_line.raw / context_bytes.raw))),
        kinds_{{"mpt", options.mpt_line}, {"mtt", options.mtt_line}},
        table_base_(options.space.base + Bytes(options.contexts * context_bytes.raw)),
        room_((options.space.length.raw - options.contexts * context_bytes.raw) / options.mtt_line.raw) {}

  const std::vector<LineKind>& line_kinds() const override { return kinds_; }

  bool build(const Region& region, TableWrites& out) override {
    const std::uint64_t lines = ceil_div(region.blocks() * entry_bytes.raw, options_.mtt_line.raw);
    std::uint64_t first_line = 0;
    if (!room_.take(lines, first_line)) return false;
    Entry made;
    made.region = region;
    made.first_line = first_line;
    made.lines = lines;
    made.block_shift = static_cast<unsigned>(std::countr_zero(region.block.raw));
    made.first_block = region.grant.start.raw >> made.block_shift;
    made.live = true;
    out.ticket = stage(std::move(made));
    out.context = context_address(place_of(region.grant.key));
    out.table = table_base_ + Bytes(first_line * options_.mtt_line.raw);
    out.entries = region.blocks();
    return true;
  }

  TableWrites drop(Key key) override {
    TableWrites out;
    Entry gone;
    gone.region.grant.key = key;
    out.ticket = stage(std::move(gone));
    out.context = context_address(place_of(key));
    return out;
  }

  void commit(const TableWrites& writes, Stale& stale) override {
    Entry change = std::move(staged_[writes.ticket]);
    spare_tickets_.push_back(writes.ticket);
    const std::uint32_t index = place_of(change.region.grant.key);
    if (index >= entries_.size()) entries_.resize(index + 1);
    Entry& entry = entries_[index];
    stale.lines(mpt, index >> context_shift_, 1);
    if (entry.live) {
      stale.lines(mtt, entry.first_line, entry.lines);
      room_.give(entry.first_line, entry.lines);
      if (entry.lines != 0) lines_owner_.erase(entry.first_line);
    }
    const std::uint32_t generation = entry.generation + 1;
    if (change.live) {
      entry = std::move(change);
      entry.region.grant.valid = true;
      stale.lines(mtt, entry.first_line, entry.lines);
      if (entry.lines != 0) lines_owner_[entry.first_line] = index;
    } else {
      // The context stays, marked free: its key is still known, but grants nothing.
      entry.region.grant.valid = false;
      entry.region.map.reset();
      entry.live = false;
      entry.lines = 0;
    }
    entry.generation = generation;
  }

  void step(Walk& walk, Content content, Step& out) const override {
    out.kind = Step::Kind::fault;
    const std::uint32_t index = place_of(walk.key);
    switch (walk.stage++) {
      case 0:
        out.kind = Step::Kind::read;
        out.line_kind = mpt;
        out.tag = index >> context_shift_;
        out.address = context_address(index);
        return;
      case 1:
        out.kind = Step::Kind::judge;
        out.grant = index < entries_.size() && entries_[index].generation != 0 ? &entries_[index].region.grant : nullptr;
        return;
      case 2: {
        const Entry& entry = entries_[index];
        walk.memo = (walk.address.raw >> entry.block_shift) - entry.first_block;
        out.kind = Step::Kind::read;
        out.line_kind = mtt;
        out.tag = entry.first_line + (walk.memo >> entries_shift_);
        out.address = table_base_ + Bytes(out.tag * options_.mtt_line.raw);
        walk.stage = 3;
        return;
      }
      default: {
        // The line was fetched for this very region, or it holds what is no longer there.
        const Entry& entry = entries_[index];
        if (!entry.live || content != holder(index)) return;
        const Region& region = entry.region;
        const std::uint64_t in_block = walk.address.raw & (region.block.raw - 1);
        out.kind = Step::Kind::done;
        out.address = region.map->block(walk.memo, region.block, region.grant.start) + Bytes(in_block);
        out.length = region.block - Bytes(in_block);
        return;
      }
    }
  }

  Content content(std::uint32_t kind, std::uint64_t tag) const override {
    if (kind == mpt) return 0;
    const auto after = lines_owner_.upper_bound(tag);
    return after == lines_owner_.begin() ? 0 : holder(std::prev(after)->second);
  }

 private:
  struct Entry {
    Region region;
    std::uint64_t first_line = 0, lines = 0;
    unsigned block_shift = 12;
    std::uint64_t first_block = 0;  ///< of the addresses that operations use
    bool live = false;
    std::uint32_t generation = 0;  ///< 0: never written
  };

  /// Some drivers put a generation above the slot number (mlx4): the slot decides the place, the whole key is compared there.
  std::uint32_t place_of(Key key) const { return static_cast<std::uint32_t>(key.index() & (options_.contexts - 1)); }
  Pa context_address(std::uint32_t index) const { return options_.space.base + Bytes(index * context_bytes.raw); }
  Content holder(std::uint32_t index) const { return Content(entries_[index].generation) << 32 | index; }
  std::uint32_t stage(Entry change) {
    if (spare_tickets_.empty()) {
      staged_.push_back(std::move(change));
      return static_cast<std::uint32_t>(staged_.size() - 1);
    }
    const std::uint32_t ticket = spare_tickets_.back();
    spare_tickets_.pop_back();
    staged_[ticket] = std::move(change);
    return ticket;
  }

  ArchitectureOptions options_;
  unsigned entries_shift_, context_shift_;  ///< entries and contexts of a line, as powers of two
  std::vector<LineKind> kinds_;
  Pa table_base_;
  Room room_;
  std::vector<Entry> entries_;                          ///< by place
  std::map<std::uint64_t, std::uint32_t> lines_owner_;  ///< first MTT line -> mkey index
  std::deque<Entry> staged_;
  std::vector<std::uint32_t> spare_tickets_;
};

const Architectures::Entrant entrant("flat_mtt", "One contiguous array of 8-byte entries a region (mlx5, mlx4).",
                                     [](const ArchitectureOptions& options) { return std::make_unique<FlatMtt>(options); });

}  // namespace
}  // namespace mtsim::translate
