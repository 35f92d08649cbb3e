#include "translate/context_table.h"

#include <algorithm>
#include <bit>

namespace mtsim::translate {
const char* explain(Fault fault) {
  switch (fault) {
    case Fault::no_translation:
      return "there is no translation";
    case Fault::page_absent:
      return "ODP page not present";
    case Fault::page_read_only:
      return "ODP page present for reading only";
    case Fault::key_of_keys:
      return "key of an implicit ODP region";
  }
  return "";
}

ContextTable::ContextTable(const ArchitectureOptions& options, Place place, Bytes unit, std::uint64_t children)
    : options_(options),
      place_(place),
      unit_(std::max(unit, options.mtt_line)),
      place_mask_(static_cast<std::uint32_t>(options.contexts - 1)),
      entries_shift_(static_cast<unsigned>(std::countr_zero(options.mtt_line.raw / entry_bytes.raw))),
      context_shift_(static_cast<unsigned>(std::countr_zero(options.mpt_line.raw / context_bytes.raw))),
      key_lines_(ceil_div(options.contexts, std::uint64_t{1} << context_shift_)),
      context_lines_(key_lines_ + ceil_div(children, std::uint64_t{1} << context_shift_)),
      units_((options.space.length.raw - std::min(options.space.length.raw, (options.contexts + children) * context_bytes.raw)) /
             unit_.raw),
      kinds_{{"mpt", options.mpt_line, false}, {"mtt", options.mtt_line, false}},
      table_base_(options.space.base + Bytes((options.contexts + children) * context_bytes.raw)) {
  if (children != 0) child_contexts_ = std::make_unique<FirstFit>(context_lines_ - key_lines_);
  if (options.table_entries != 0) units_ = std::min(units_, options.table_entries * entry_bytes.raw / unit_.raw);
}

bool ContextTable::take(std::uint64_t entries, Array& out) {
  out = {};
  if (entries == 0) return true;
  const std::uint64_t n = ceil_div(entries * entry_bytes.raw, unit_.raw), lines_each = unit_.raw / options_.mtt_line.raw;
  std::uint64_t first = 0;
  if (!ranges_->take(n, first)) return false;
  out = {first * lines_each, n * lines_each};
  return true;
}

bool ContextTable::take_contexts(std::uint64_t children, Array& out) {
  const std::uint64_t lines = ceil_div(children, std::uint64_t{1} << context_shift_);
  std::uint64_t first = 0;
  if (!child_contexts_->take(lines, first)) return false;
  out = {key_lines_ + first, lines, 0, mpt};
  return true;
}

void ContextTable::give(const Layout& layout) {
  if (layout.shared) return;
  const std::uint64_t lines_each = unit_.raw / options_.mtt_line.raw;
  for (const Array& array : layout.arrays) {
    if (array.lines == 0) continue;
    if (array.kind == mpt) child_contexts_->give(array.first_line - key_lines_, array.lines);
    else ranges_->give(array.first_line / lines_each, array.lines / lines_each);
  }
}

bool ContextTable::build(const Region& region, TableWrites& out) {
  Entry made;
  if (verbs::is_window(region.grant)) {
    // Its context names the MR that it opens: it has no table.
    out.window = region.grant.key;
    out.opens = region.grant.region;
  } else if (!lay_out(region, made.layout)) {
    give(made.layout);
    return false;
  }
  made.region = region;
  made.block_shift = static_cast<unsigned>(std::countr_zero(region.block.raw));
  made.first_block = region.start().raw >> made.block_shift;
  made.live = true;
  made.first_line = made.layout.arrays.empty() ? 0 : made.layout.arrays.front().first_line;
  out.entries = made.layout.entries;
  out.table = table_base_ + Bytes(made.first_line * options_.mtt_line.raw);
  out.in_device = place_ == Place::device;
  out.ticket = stage(std::move(made));
  out.context = context_address(place_of(region.grant.key));
  return true;
}

TableWrites ContextTable::drop(Key key) {
  TableWrites out;
  Entry gone;
  gone.region.grant.key = key;
  const Entry* now = find(place_of(key));
  if (now != nullptr && verbs::is_window(now->region.grant)) out.window = key;
  out.ticket = stage(std::move(gone));
  out.context = context_address(place_of(key));
  out.in_device = place_ == Place::device;
  return out;
}

TableWrites ContextTable::change(const EntryChange& entries) {
  const Entry& now = entry(place_of(entries.key));
  TableWrites out;
  Entry staged;
  staged.region.grant.key = entries.key;
  staged.change = std::make_unique<EntryChange>(entries);
  out.table = table_base_ + Bytes(now.first_line * options_.mtt_line.raw + entries.first * entry_bytes.raw);
  out.entries = entries.count;
  out.keeps_context = true;
  out.in_device = place_ == Place::device;
  out.ticket = stage(std::move(staged));
  return out;
}

void ContextTable::commit_entries(const EntryChange& change, Stale& stale) {
  Entry& now = entry(place_of(change.key));
  if (!now.live || now.region.grant.key != change.key) return;
  const std::uint64_t end = std::min(change.first + change.count, now.layout.entries);
  if (change.first >= end) return;
  const std::uint64_t first_line = now.first_line + (change.first >> entries_shift_);
  stale.lines(mtt, first_line, now.first_line + ((end - 1) >> entries_shift_) - first_line + 1);
  if (!now.pages) return;
  const unsigned pages_shift = now.block_shift - 12;
  if (change.present) now.pages->copy(*change.present, change.first << pages_shift, end << pages_shift);
  else now.pages->clear(change.first << pages_shift, end << pages_shift);
}

void ContextTable::commit(const TableWrites& writes, Stale& stale) {
  Entry change = std::move(staged_[writes.ticket]);
  spare_tickets_.push_back(writes.ticket);
  if (change.change) {
    commit_entries(*change.change, stale);
    return;
  }
  if (change.region.present) change.pages = std::make_unique<PresentMap>(*change.region.present);
  change.region.present.reset();
  const std::uint32_t index = place_of(change.region.grant.key);
  Entry& now = entry(index);
  stale.lines(mpt, index >> context_shift_, 1);
  if (now.live) {
    give(now.layout);
    for (const Array& array : now.layout.arrays) {
      if (array.lines == 0) continue;
      stale.lines(array.kind, array.first_line, array.lines);
      if (!now.layout.shared) lines_owner_.erase(row_key(array.kind, array.first_line));
    }
  }
  const std::uint32_t generation = now.generation + 1;
  if (change.live) {
    now = std::move(change);
    if (!verbs::is_window(now.region.grant)) now.region.grant.valid = true;
    for (const Array& array : now.layout.arrays) {
      if (array.lines == 0) continue;
      stale.lines(array.kind, array.first_line, array.lines);
      if (!now.layout.shared) lines_owner_[row_key(array.kind, array.first_line)] = index;
    }
  } else {
    // The context stays, marked free: its key is still known, but grants nothing.
    now.region.grant.valid = false;
    now.region.grant.kind = verbs::KeyKind::region;  // a window that is gone is not a free one
    now.region.map.reset();
    now.region.frames.reset();
    now.pages.reset();
    now.live = false;
    now.layout = {};
  }
  now.generation = generation;
}

// Stage 0 reads the context, 1 judges, 2 + k has read k levels.
void ContextTable::step(Walk& walk, Content content, Step& out) const {
  out.kind = Step::Kind::fault;
  out.reason = Fault::no_translation;
  const std::uint32_t index = place_of(walk.key);
  std::uint32_t stage = walk.stage++;
  // A context in the device is there already.
  if (stage == 0 && place_ == Place::device) stage = walk.stage++;
  if (stage == 0) {
    out.kind = Step::Kind::read;
    out.line_kind = mpt;
    out.tag = index >> context_shift_;
    out.address = context_address(index);
    return;
  }
  if (stage == 1) {
    const Entry* found = find(index);
    out.kind = Step::Kind::judge;
    out.grant = found != nullptr && found->generation != 0 ? &found->region.grant : nullptr;
    return;
  }
  const Entry& of = existing(index);
  // A line was fetched for this very region, or it holds what is no longer there.
  if (!of.live) return;
  if (of.region.keys != 0) {
    out.reason = Fault::key_of_keys;
    return;
  }
  if (stage != 2 && content != (Content(of.generation) << 32 | index) && !of.layout.shared) return;
  if (walk.generation != of.generation) {
    // A region that has taken the place of the one that the look-up began with may lie elsewhere. Lines that are not its own do not tell.
    if (walk.generation != 0 && (of.layout.shared || walk.address.raw - of.region.grant.start.raw >= of.region.grant.length.raw)) return;
    walk.generation = of.generation;
    if (of.layout.own_walk) walk.memo = locate(of.region, of.layout, walk.address);
    else walk.memo = ((walk.address.raw + of.region.lead.raw) >> of.block_shift) - of.first_block;
  }
  const std::uint32_t level = stage - 2;
  if (of.layout.own_walk) return own_step(of, level, walk, out);
  if (level < of.layout.levels) return ask_for(of, level, walk, out);
  if (of.pages) {
    find_page(of, walk, out);
    return;
  }
  const Region& region = of.region;
  const std::uint64_t in_block = (walk.address.raw + region.lead.raw) & (region.block.raw - 1);
  out.kind = Step::Kind::done;
  out.address = region.map->block(walk.memo, region.block, region.start()) + Bytes(in_block);
  out.length = region.block - Bytes(in_block);
}

/// The line of a level that there is.
[[gnu::always_inline]] inline void ContextTable::ask_for(const Entry& of, std::uint32_t level, const Walk& walk, Step& out) const {
  out.kind = Step::Kind::read;
  out.line_kind = mtt;
  if (of.layout.own_walk) {
    out.line_kind = kind_at(of.layout, level, walk.memo);
    out.tag = line_at(of.region, of.layout, level, walk.memo);
  } else {
    out.tag = of.layout.levels == 1 ? of.first_line + (walk.memo >> entries_shift_) : line_of(of.layout, level, walk.memo);
  }
  out.address = out.line_kind == mpt ? options_.space.base + Bytes(out.tag * options_.mpt_line.raw)
                                     : table_base_ + Bytes(out.tag * options_.mtt_line.raw);
}

bool ContextTable::skip(Walk& walk, std::uint32_t deeper, Step& out) const {
  // Levels are read from stage 2 on, which has become 3 when the first is asked for.
  if (walk.stage < 3) return false;
  const Entry& of = existing(place_of(walk.key));
  const std::uint32_t level = walk.stage - 3 + deeper;
  if (level >= (of.layout.own_walk ? levels_of(of.region, of.layout, walk.memo) : of.layout.levels)) return false;
  walk.stage += deeper;
  ask_for(of, level, walk, out);
  return true;
}

void ContextTable::own_step(const Entry& of, std::uint32_t level, const Walk& walk, Step& out) const {
  if (level < levels_of(of.region, of.layout, walk.memo)) return ask_for(of, level, walk, out);
  const DmaMap& map = of.layout.shared && of.region.frames ? *of.region.frames : *of.region.map;
  const DmaRun run = map.at(Bytes(walk.address.raw - of.region.grant.start.raw));
  out.kind = Step::Kind::done;
  out.address = run.start;
  out.length = std::min(run.length, entry_rest(of.region, of.layout, walk.address));
}

void ContextTable::find_page(const Entry& of, Walk& walk, Step& out) const {
  const auto hit = of.pages->at(walk.memo << (of.block_shift - 12));
  if (!hit || (walk.writes && !hit->writable)) {
    out.reason = hit ? Fault::page_read_only : Fault::page_absent;
    return;
  }
  const std::uint64_t in_block = walk.address.raw & (of.region.block.raw - 1);
  out.kind = Step::Kind::done;
  out.address = hit->address + Bytes(in_block);
  out.length = of.region.block - Bytes(in_block);
}

Content ContextTable::content(std::uint32_t kind, std::uint64_t tag) const {
  if (kind == mpt && tag < key_lines_) return 0;
  const auto after = lines_owner_.upper_bound(row_key(kind, tag));
  return after == lines_owner_.begin() ? 0 : holder(std::prev(after)->second);
}

// With a million regions the search is a walk over cold memory, the dearest part of a miss.
Content ContextTable::content_for(Key key, std::uint32_t kind, std::uint64_t tag) const {
  const std::uint32_t index = place_of(key);
  const Entry* of = kind == mtt ? find(index) : nullptr;
  if (of != nullptr && of->live && !of->layout.shared && !of->layout.arrays.empty()) {
    const Array& first = of->layout.arrays.front();
    if (first.kind == kind && tag - first.first_line < first.lines) return holder(index);
  }
  return content(kind, tag);
}

std::uint64_t ContextTable::lines(std::uint32_t kind) const {
  return kind == mpt ? context_lines_ : units_ * (unit_.raw / options_.mtt_line.raw);
}

ContextTable::Entry& ContextTable::entry(std::uint32_t index) {
  const std::size_t page = index >> page_shift;
  if (page >= pages_.size()) pages_.resize(page + 1);
  if (!pages_[page]) pages_[page] = std::make_unique<EntryPage>();
  return (*pages_[page])[index % (1u << page_shift)];
}

std::uint32_t ContextTable::stage(Entry change) {
  if (spare_tickets_.empty()) {
    staged_.push_back(std::move(change));
    return static_cast<std::uint32_t>(staged_.size() - 1);
  }
  const std::uint32_t ticket = spare_tickets_.back();
  spare_tickets_.pop_back();
  staged_[ticket] = std::move(change);
  return ticket;
}

}  // namespace mtsim::translate
