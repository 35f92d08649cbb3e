// What a data operation waits for: spans of its life in which nothing was done for it, each with the step that it lies in and its cause.
// Whatever no wait covers is service: the time that the operation would take by itself.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "base/units.h"

namespace mtsim::ports {

/// Where the time of a data operation goes. A stamp is the moment at which the step ended; of an operation that is cut in pieces the
/// stamps of the last piece stand. Differences of successive stamps add up to the latency.
enum class Step : std::uint8_t {
  posted,          ///< the CPU has written the WQE and the doorbell
  doorbell,        ///< the NIC has the doorbell
  wqe_fetch,       ///< the NIC has the WQE
  retry,           ///< the attempt that succeeded begins: earlier ones met an RNR NAK, a sequence NAK or no answer
  schedule,        ///< the (last piece of the) request is picked by the requester
  key_check,       ///< its lkey is looked up and judged
  translation,     ///< its local pages are known
  dma,             ///< its payload is in the NIC
  wire,            ///< the (last) request packet is in the peer NIC
  responder_wait,  ///< the responder has taken it up
  responder_key_check,
  responder_translation,
  responder_dma,  ///< WRITE: handed to the responder's DMA engine; READ: the data is in the responder
  response_wire,  ///< acknowledgement or (last) response packet is back
  scatter,        ///< READ, atomics: the data is handed to the requester's DMA engine
  completion,     ///< the CQE is visible to the CPU, or the request is retired if it is unsignalled
};
inline constexpr unsigned step_count = unsigned(Step::completion) + 1;

/// What an operation waits for.
enum class Cause : std::uint8_t {
  cpu,            ///< a CPU: another thread has it
  qp,             ///< earlier work of its own QP, which goes first
  qp_lookup,      ///< the look-up of the piece before it on its QP: a QP prepares one at a time
  credits,        ///< READs and atomics outstanding on its QP, as many as may be, or those before a fence
  contexts,       ///< a context of the requester or responder
  context_fetch,  ///< the context of its QP, or of the request itself, which the NIC has to fetch
  pipe,           ///< the pipe of the requester or responder: pieces of others
  buffer,         ///< room for its payload in the NIC
  walk_slot,      ///< one of the walks that may be in flight
  merged,         ///< a fetch of the same line that another look-up has under way
  fetch,          ///< its own fetches of table lines, as long as they take by themselves
  cache,          ///< a cache of table lines that others keep busy: its ports, or a miss at which it stalls
  wqe_place,      ///< one of the fetches of WQEs that may be in flight
  tags,           ///< PCIe tags
  pcie_credits,   ///< flow-control credits of the root complex, or room in the completion buffer
  // The PCIe link behind transfers of: posted writes, reads of payload, of tables, of queues (the agents of that direction, in order).
  up_writes,
  up_payload,
  up_tables,
  up_queues,
  down_completions,
  down_stores,
  write_room,  ///< the buffer of posted writes
  wire_out,    ///< the link from its host (of a response: the peer's) to the switch
  wire_in,     ///< the switch's output
  receive,     ///< the fetch of a receive from host memory
  lock,        ///< another atomic on its word
  retry,       ///< all that went by before the attempt that succeeded
  several,     ///< causes beyond those that there is room for
};
inline constexpr std::array cause_names{"CPU",
                                        "own QP",
                                        "look-up before it",
                                        "READ credits or fence",
                                        "contexts",
                                        "context fetch",
                                        "pipe",
                                        "buffer",
                                        "walk slot",
                                        "another's fetch",
                                        "table fetch",
                                        "busy cache",
                                        "WQE fetch place",
                                        "PCIe tags",
                                        "PCIe credits or buffer",
                                        "PCIe up: writes",
                                        "PCIe up: payload reads",
                                        "PCIe up: table reads",
                                        "PCIe up: queue reads",
                                        "PCIe down: answers",
                                        "PCIe down: stores",
                                        "write buffer",
                                        "wire out",
                                        "wire in",
                                        "receive",
                                        "atomics' lock",
                                        "retries",
                                        "several"};
inline constexpr unsigned cause_count = cause_names.size();
static_assert(cause_count == unsigned(Cause::several) + 1);

/// The waits of one operation, in order of time. They do not overlap. Waits for look-ups have the step `translation` (or
/// `responder_translation`), whether a key's line or a translation's is missing.
class Waits {
 public:
  static constexpr unsigned room = 20;  ///< more kinds of wait than an operation usually has
  static constexpr unsigned keys = step_count * 32;
  static_assert(cause_count <= 32);

  struct Entry {
    std::int64_t span;  ///< above 0
    std::uint32_t key;
    Step step() const { return Step(key / 32); }
    Cause cause() const { return Cause(key % 32); }
  };

  // Entries beyond `count_` have no meaning and cost nothing.
  Waits() {}
  Waits(const Waits& other) { append(other); }
  Waits& operator=(const Waits& other) {
    if (this == &other) return *this;
    count_ = 0;
    append(other);
    return *this;
  }

  void clear() { count_ = 0; }
  /// A wait of no length is none.
  void add(Step step, Cause cause, Time span) {
    if (span.raw != 0) record(unsigned(step) * 32 + unsigned(cause), span.raw);
  }
  void append(const Waits& other) {
    if (count_ + other.count_ > room) [[unlikely]]
      return overflow(other);
    // In blocks: what is copied too much has no meaning there either.
    for (unsigned i = 0; i < other.count_; i += block) {
      std::memcpy(&keys_[count_ + i], &other.keys_[i], block * sizeof(keys_[0]));
      std::memcpy(&spans_[count_ + i], &other.spans_[i], block * sizeof(spans_[0]));
    }
    count_ = static_cast<std::uint16_t>(count_ + other.count_);
  }
  /// Those of an earlier attempt, or of an earlier piece, from that step on.
  void drop_from(Step step) {
    while (count_ != 0 && keys_[count_ - 1] >= unsigned(step) * 32) --count_;
  }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = Entry;

    Iterator(const Waits& waits, unsigned at) : waits_(&waits), at_(at) {}
    Entry operator*() const { return {waits_->spans_[at_], waits_->keys_[at_]}; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return {*waits_, at_++}; }
    bool operator==(const Iterator&) const = default;

   private:
    const Waits* waits_;
    unsigned at_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, count_}; }
  Time sum() const {
    Time all;
    for (const Entry entry : *this) all.raw += entry.span;
    return all;
  }

 private:
  [[gnu::noinline]] void record(std::uint32_t key, std::int64_t span) {
    assert(span > 0);
    for (unsigned i = count_; i != 0; --i)
      if (keys_[i - 1] == key) {
        spans_[i - 1] += span;
        return;
      }
    if (count_ != room) [[likely]] {
      keys_[count_] = static_cast<std::uint16_t>(key);
      spans_[count_++] = span;
      return;
    }
    keys_[room - 1] = static_cast<std::uint16_t>(keys_[room - 1] / 32 * 32 + unsigned(Cause::several));
    spans_[room - 1] += span;
  }
  [[gnu::cold]] void overflow(const Waits& other) {
    for (const Entry entry : other) record(entry.key, entry.span);
  }

  static constexpr unsigned block = 4;
  // Keys and spans apart: ten bytes an entry. In one word of eight, a span would have room for ten hours; an RNR wait may last longer.
  std::uint16_t count_ = 0;
  std::array<std::uint16_t, room + block - 1> keys_;
  std::array<std::int64_t, room + block - 1> spans_;
};

}  // namespace mtsim::ports
