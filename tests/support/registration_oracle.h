// What registering a range must cost, counted page by page from the frames alone: mechanism notes, "counting formulas". Includes nothing
// of the model.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace mtsim::test::oracle {

using Count = std::uint64_t;
constexpr Count page = 4096;

/// The range, and what lies under it. Page numbers are addresses divided by 4096.
struct Range {
  Count start = 0, length = 0;  ///< bytes, as the program names them
  Count iova = 0;               ///< of its first byte, as operations name it
  std::vector<Count> frames;    ///< page by page
  std::vector<Count> leaves;    ///< pages of the page table's leaf that each lies in
  Count pages() const { return frames.size(); }
};

struct Counts {
  Count pages = 0, batches = 0, folios = 0, grabs = 0, sg_entries = 0, dma_runs = 0, iopte = 0, page_size = 0, blocks = 0;
};

inline Count power_of_two_from(Count n) {
  Count power = 1;
  while (power < n) power *= 2;
  return power;
}

/// Lengths in pages of the list's entries: a page joins the entry before when it is its neighbour and the limit allows.
inline std::vector<Count> entries_of(const std::vector<Count>& frames, Count limit) {
  std::vector<Count> entries;
  for (Count i = 0; i < frames.size(); ++i) {
    if (i > 0 && frames[i] == frames[i - 1] + 1 && entries.back() < limit) ++entries.back();
    else entries.push_back(1);
  }
  return entries;
}

/// The same, joined end to end as long as the limit holds.
inline Count joined(const std::vector<Count>& entries, Count limit) {
  Count runs = 0, length = 0;
  for (const Count entry : entries) {
    if (runs > 0 && length + entry <= limit) {
      length += entry;
    } else {
      ++runs;
      length = entry;
    }
  }
  return runs;
}

/// Blocks of the given sizes (bytes), each the greatest that is aligned on both sides and contiguous.
inline Count greatest_blocks(const std::vector<Count>& frames, Count first, const std::vector<Count>& sizes) {
  Count blocks = 0;
  std::vector<Count> left(frames.size(), 1);  // pages of the run from here on
  for (Count i = frames.size(); i-- > 1;)
    if (frames[i] == frames[i - 1] + 1) left[i - 1] = left[i] + 1;
  for (Count i = 0; i < frames.size(); ++blocks) {
    Count best = 1;
    for (const Count size : sizes)
      if ((first + i) % (size / page) == 0 && frames[i] % (size / page) == 0 && size / page <= left[i] && size / page > best)
        best = size / page;
    i += best;
  }
  return blocks;
}

/// The one size for all: the greatest that maps every page right, or the smallest that holds all of the range.
inline Count best_page_size(const std::vector<Count>& frames, Count iova, Count length, const std::vector<Count>& sizes) {
  Count best = 0;
  for (const Count size : sizes) {
    const Count pages = size / page;
    for (Count i = 0; i < frames.size(); ++i) {
      const Count at = iova / page + i;
      if (at % pages != frames[i] % pages) return best;
      if (i > 0 && at % pages != 0 && frames[i] != frames[i - 1] + 1) return best;
    }
    best = size;
    if (iova / size == (iova + length - 1) / size) return best;
  }
  return best;
}

enum class Choice { none, best, per_run };

/// `iommu` is the first page of the device's addresses; 0 when they are the frames'. `segment` is the limit of an entry, `table` what the
/// NIC's table supports, all in bytes and ascending.
inline Counts count(const Range& range, Count iommu, Count segment, const std::vector<Count>& table, Choice choice) {
  Counts c;
  c.pages = range.pages();
  std::set<Count> folios;
  std::set<std::pair<Count, Count>> grabs;
  for (Count i = 0; i < c.pages; ++i) {
    const Count leaf = (range.start / page + i) / range.leaves[i] * range.leaves[i];
    if (i % 512 == 0) ++c.batches;
    folios.insert(leaf);
    grabs.insert({leaf, i / 512});
  }
  c.folios = folios.size();
  c.grabs = grabs.size();
  const std::vector<Count> entries = entries_of(range.frames, segment / page);
  c.sg_entries = c.dma_runs = entries.size();
  std::vector<Count> device = range.frames;
  if (iommu != 0) {
    c.dma_runs = joined(entries, segment / page);
    c.iopte = greatest_blocks(range.frames, iommu, {page, page * 512, page * 512 * 512});
    for (Count i = 0; i < c.pages; ++i) device[i] = iommu + i;
  }
  if (choice == Choice::per_run) {
    c.page_size = page;
    c.blocks = greatest_blocks(device, range.iova / page, table);
    return c;
  }
  c.page_size = choice == Choice::none ? page : best_page_size(device, range.iova, range.length, table);
  for (Count block = range.iova / c.page_size; block <= (range.iova + range.length - 1) / c.page_size; ++block) ++c.blocks;
  return c;
}

/// What the table's writer tells the NIC.
struct Writes {
  Count umr_requests = 0, commands = 0, mailboxes = 0, list_bytes = 0;
};

enum class Writer { umr, command, store };

/// `key_known`: the device knows the key before.
inline Writes writes(Writer writer, Count blocks, bool key_known, Count umr_entries) {
  Writes w;
  if (writer == Writer::umr) {
    if (!key_known) w.commands = w.mailboxes = 1;
    for (Count left = blocks; left > 0;) {
      const Count now = left < umr_entries ? left : umr_entries;
      ++w.umr_requests;
      w.list_bytes += (now + 7) / 8 * 64;
      left -= now;
    }
  } else if (writer == Writer::command) {
    w.commands = 1;
    w.list_bytes = (blocks + 1) / 2 * 16;
    for (Count left = 272 + w.list_bytes - 16;; left -= 512) {
      ++w.mailboxes;
      if (left <= 512) break;
    }
  } else {
    w.commands = w.mailboxes = 1;
    w.list_bytes = blocks * 8;
  }
  return w;
}

}  // namespace mtsim::test::oracle
