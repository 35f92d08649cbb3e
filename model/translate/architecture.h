// A translation architecture: how keys and addresses become physical addresses, and which table lines must be read on the way. Pure: no
// time, no SystemC, no rights. A new architecture is one file that registers itself.
//
// The NIC's Walker loops over `step`: a `read` it satisfies from the cache of that kind or fetches over PCIe, handing the line's content
// to the next step; a `judge` it gives to verbs/; `done` is a run of physical addresses; `fault` says that there is none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/dma_map.h"
#include "base/present_map.h"
#include "base/registry.h"
#include "base/units.h"
#include "verbs/judge.h"

namespace mtsim::translate {

/// What a registration asks to be translated.
struct Region {
  verbs::Grant grant;                 ///< key, pd, access, [start, start+length) as operations see it
  Bytes block{4096};                  ///< page size of the MR: a power of two, the same for the whole MR
  Bytes lead;                         ///< what its addresses lack towards their place in a page, where it is zero-based
  std::shared_ptr<const DmaMap> map;  ///< its frames
  /// On demand, in the place of `map`: those of its pages that are present, counted from the start of its first block. As it is when the
  /// change that names it is committed.
  std::shared_ptr<const PresentMap> present;
  /// Not 0: each contiguous run in the greatest blocks of these sizes (bit k: 2^k bytes) that fit it; `block` is the least of them then.
  std::uint64_t block_sizes = 0;
  std::uint64_t keys = 0;                ///< not 0: its table holds so many keys of 16 bytes (KSM) and no addresses
  std::shared_ptr<const DmaMap> frames;  ///< where `map` has addresses of an IOMMU's: the frames themselves; null: `map` has them
  std::uint64_t frame_entries = ~std::uint64_t{0};  ///< sizes of entries that the IOMMU may have for those: bit k: 2^k bytes
  Va memory;                                        ///< where the process has it; 0: at the addresses that operations use
  std::uint32_t process = 0;
  /// The first address with its place in the page.
  Iova start() const { return Iova(grant.start.raw + lead.raw); }
  /// Entries of 8 bytes.
  std::uint64_t blocks() const {
    if (keys != 0) return 2 * keys;
    // The block of an address is there even where nothing of it is granted.
    if (present) return ceil_div(start().raw % block.raw + std::max<std::uint64_t>(grant.length.raw, 1), block.raw);
    return grant.length.raw == 0 ? 0 : ceil_div(start().raw % block.raw + grant.length.raw, block.raw);
  }
};

/// A change of entries of a table that is in use.
struct EntryChange {
  Key key;
  std::uint64_t first = 0, count = 0;         ///< entries of 8 bytes; those beyond the table are left out
  std::shared_ptr<const PresentMap> present;  ///< what they become, as it is when the change is committed; null: not present
};

/// What must be written to the tables, by extents: the table writer delivers it, `commit` makes it hold.
struct TableWrites {
  std::uint32_t ticket = 0;    ///< names the staged change
  Pa context;                  ///< address of the mkey context, 64 bytes
  Pa table;                    ///< address of the first entry
  std::uint64_t entries = 0;   ///< translation entries of 8 bytes
  bool in_device = false;      ///< nothing of it is written to host memory
  bool keeps_context = false;  ///< the context is not written
  Key window{};                ///< of the memory window whose context it is; 0: of none
  Key opens{};                 ///< what that window is bound to from then on; 0: nothing
  Bytes table_bytes() const { return Bytes(entries * 8); }
};

/// A kind of table line, with a cache of its own in the NIC.
struct LineKind {
  std::string name;          ///< "mpt", "mtt"
  Bytes line;                ///< bytes fetched on a miss
  bool translation = false;  ///< an IOMMU's answer to a request for the translation of an address (ATS), and no memory
};

/// A look-up under way: a few words.
struct Walk {
  Key key;
  Iova address;
  std::uint32_t stage = 0;
  std::uint64_t memo = 0;        ///< the architecture's own
  bool writes = false;           ///< memory is going to be written
  std::uint32_t generation = 0;  ///< the architecture's own: of the region that `memo` was taken from
};

/// What a fetched line holds: meaningful to the architecture that gave it.
using Content = std::uint64_t;

/// Why there is no translation.
enum class Fault : std::uint8_t {
  no_translation,
  page_absent,     ///< an entry of a region on demand that is not present
  page_read_only,  ///< one that may not be written, and is going to be
  key_of_keys,     ///< the key of an implicit region, whose table holds keys
};
const char* explain(Fault fault);

struct Step {
  enum class Kind : std::uint8_t { read, judge, done, fault } kind = Kind::fault;
  std::uint32_t line_kind = 0;           ///< read: index into line_kinds()
  std::uint64_t tag = 0;                 ///< read: number of the line, dense from 0
  Pa address;                            ///< read: where the line lies in host memory, or what is to be translated; done: the first byte
  Bytes length;                          ///< done: contiguous bytes from there on that this entry gives
  const verbs::Grant* grant = nullptr;   ///< judge: what the key gives, null when there is no such key
  Fault reason = Fault::no_translation;  ///< fault: why
};

/// Physical memory for tables, laid out once: the architecture hands out addresses within it.
struct TableSpace {
  Pa base;
  Bytes length;
};

class Architecture {
 public:
  virtual ~Architecture() = default;
  virtual const std::vector<LineKind>& line_kinds() const = 0;

  /// Block sizes that a table can hold: bit k stands for 2^k bytes.
  virtual std::uint64_t block_sizes() const { return ~std::uint64_t{0}; }
  /// Whether blocks of one region may differ in size.
  virtual bool mixes_block_sizes() const { return false; }
  /// Whose page tables it looks addresses up in, and so what addresses it gives, if it has no table of its own.
  enum class HostTables : std::uint8_t {
    none,
    process,  ///< those of the process; what it gives is physical, so that no IOMMU may translate it
    iommu     ///< those of the IOMMU, which it asks (ATS); what it gives is translated already
  };
  virtual HostTables host_tables() const { return HostTables::none; }
  /// The least line of entries (`mtt_line`) that it can do with.
  virtual Bytes least_line() const { return Bytes(8); }

  /// Stages a region under its key; nothing changes before `commit`. False when the tables have no room left (ENOMEM).
  virtual bool build(const Region& region, TableWrites& out) = 0;
  /// Stages the end of a region.
  virtual TableWrites drop(Key key) = 0;
  /// Whether single entries of a table can be changed and absent: what on-demand paging needs.
  virtual bool changes_entries() const { return false; }
  /// Stages such a change. The key's region must be there when it is committed. Only where `changes_entries()`.
  virtual TableWrites change(const EntryChange&) { return {}; }
  /// The staged change holds from now on. `stale(line_kind, first_tag, count)` is called for every range of lines that it changes.
  class Stale {
   public:
    virtual void lines(std::uint32_t line_kind, std::uint64_t first_tag, std::uint64_t count) = 0;

   protected:
    ~Stale() = default;
  };
  virtual void commit(const TableWrites& writes, Stale& stale) = 0;

  /// The next step of a walk, into `out`. `content` is what the line asked for by the last step holds; ignored on the first.
  virtual void step(Walk& walk, Content content, Step& out) const = 0;
  /// Of a walk that has just asked for a line of several that it needs one after the other: asks for the one that comes `deeper` reads
  /// later instead, as though those between had been read. False where there is none, or none is known beforehand; nothing has changed
  /// then.
  virtual bool skip(Walk&, std::uint32_t /*deeper*/, Step&) const { return false; }
  /// What a fetch of that line yields now.
  virtual Content content(std::uint32_t line_kind, std::uint64_t tag) const = 0;
  /// The same of a line that a walk of `key` asked for: most often one of the region's own, which needs no search among all regions.
  virtual Content content_for(Key, std::uint32_t line_kind, std::uint64_t tag) const { return content(line_kind, tag); }
  /// How many lines of that kind there are; they lie in a row. 0 where that is not so: nothing is fetched ahead.
  virtual std::uint64_t lines(std::uint32_t) const { return 0; }
};

/// How room in a table is given out, where the architecture leaves it open.
enum class Allocation : std::uint8_t { first_fit, buddy };

struct ArchitectureOptions {
  TableSpace space;
  Allocation allocation = Allocation::first_fit;
  std::uint64_t table_entries = 0;  ///< entries of all tables together at most; 0: as many as the space holds
  Bytes mpt_line{64}, mtt_line{64}, icm_line{64};
  Bytes icm_page{4096};               ///< of a table space that is mapped itself: what one entry of that map stands for
  Bytes child{GiB(1)};                ///< of a table of keys: what one of them stands for, or stands for at least; a power of two
  std::uint64_t inline_entries = 2;   ///< addresses that a context holds, where it can hold some
  std::uint64_t contexts = 1u << 20;  ///< places for mkey contexts, a power of two; a key's place is its index modulo this
};
using Architectures = Registry<Architecture, const ArchitectureOptions&>;

}  // namespace mtsim::translate
