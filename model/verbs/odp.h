// Memory regions on demand: what a device's page fault asks for, how it ends, and who is told (Linux hw/mlx5/odp.c of 6.12). Pure
// functions; the page tables and the time are others' affair.
#pragma once

#include <optional>
#include <span>

#include "verbs/judge.h"

namespace mtsim::verbs {

/// Bytes of each child of an implicit MR (MLX5_IMR_MTT_SHIFT).
inline constexpr Bytes implicit_child{1ull << 30};
/// A fault of a packet brings in that packet's bytes, and then no more than this of what follows.
inline constexpr Bytes rdma_prefetch{4ull << 20};

/// Whether a fault on an MR of these rights asks the kernel for writable pages: always when the MR may be written, even for a READ.
constexpr bool asks_for_write(Access mr) { return writes(mr); }

/// The pages of a process as a fault finds them.
struct FaultedMemory {
  bool process_gone = false;
  bool mapped = true, readable = true, writable = true;  ///< all of the range
  bool changes = false;                                  ///< the range is being changed under the fault
};

enum class FaultEnd : std::uint8_t {
  resolved,
  not_on_demand,  ///< the key is of no MR on demand: the fault is not this one's business, and the operation is judged as any other
  again,          ///< EAGAIN: the operation is resumed and faults once more
  variant,        ///< EFAULT: the key's low byte
  out_of_range,   ///< EFAULT: outside the MR
  process_gone,   ///< EINVAL
  not_mapped,     ///< EFAULT
  not_permitted,  ///< EPERM: the mapping does not allow what the MR does
};
const char* explain(FaultEnd end);
/// Of a fault at [address, address + length) with `key`. `region` is what the key's index stands for; null where nothing has it.
FaultEnd end_of_fault(const Grant* region, Key key, Iova address, Bytes length, const FaultedMemory& memory);
/// Of a fault of a work request: all its elements are brought in before it is resumed, and the first that cannot be ends it.
FaultEnd end_of_work_fault(std::span<const FaultEnd> elements);
/// Positive errno that the driver answers the device's event with; 0: the operation is resumed, not ended.
int errno_of(FaultEnd end);

/// Whose operation faulted.
enum class FaultedQueue : std::uint8_t {
  send,     ///< an element of a request
  receive,  ///< an element of a receive
  rdma,     ///< memory that a peer's READ, WRITE or atomic names
};
/// What both sides see of a fault that ended badly. SUCCESS: nothing.
struct FaultOutcome {
  Status requester = Status::SUCCESS, receive = Status::SUCCESS;
  Nak nak = Nak::none;
  friend constexpr bool operator==(const FaultOutcome&, const FaultOutcome&) = default;
};
FaultOutcome outcome(FaultEnd end, FaultedQueue queue);

/// What a responder answers while it waits for pages: SENDs and WRITEs are sent away with an RNR NAK, since their packets cannot be kept;
/// READs and atomics wait, or are sent again.
constexpr Nak while_faulting(Opcode opcode) { return is_read_or_atomic(opcode) ? Nak::none : Nak::receiver_not_ready; }

/// The children of an implicit MR that an access reaches, made at its first fault; nothing where the MR does not reach as far. `entries` is
/// how many children the MR has room for.
struct Children {
  std::uint64_t first = 0, last = 0;
};
std::optional<Children> children_of(Iova address, Bytes length, std::uint64_t entries);

}  // namespace mtsim::verbs
