#include "verbs/odp.h"

#include <cerrno>

namespace mtsim::verbs {

FaultEnd end_of_fault(const Grant* region, Key key, Iova address, Bytes length, const FaultedMemory& memory) {
  // A lookup by index that finds nothing, or a pinned MR, is ENOENT, which counts as handled.
  if (region == nullptr || region->key.index() != key.index() || !has(region->access, Access::on_demand)) return FaultEnd::not_on_demand;
  if (region->key != key) return FaultEnd::variant;
  const std::uint64_t offset = address.raw - region->start.raw;
  if (address < region->start || length > region->length || offset > region->length.raw - length.raw) return FaultEnd::out_of_range;
  if (memory.process_gone) return FaultEnd::process_gone;
  if (memory.changes) return FaultEnd::again;
  if (!memory.mapped) return FaultEnd::not_mapped;
  if (!memory.readable || (asks_for_write(region->access) && !memory.writable)) return FaultEnd::not_permitted;
  return FaultEnd::resolved;
}

int errno_of(FaultEnd end) {
  switch (end) {
    case FaultEnd::resolved:
    case FaultEnd::not_on_demand:
    case FaultEnd::again:
      return 0;
    case FaultEnd::process_gone:
      return EINVAL;
    case FaultEnd::not_permitted:
      return EPERM;
    case FaultEnd::variant:
    case FaultEnd::out_of_range:
    case FaultEnd::not_mapped:
      return EFAULT;
  }
  return 0;
}

FaultOutcome outcome(FaultEnd end, FaultedQueue queue) {
  if (errno_of(end) == 0) return {};
  switch (queue) {
    case FaultedQueue::send:
      return {Status::LOC_PROT_ERR, Status::SUCCESS, Nak::none};
    case FaultedQueue::receive:
      return {Status::REM_OP_ERR, Status::LOC_PROT_ERR, Nak::remote_operational};
    case FaultedQueue::rdma:
      return {Status::REM_ACCESS_ERR, Status::SUCCESS, Nak::remote_access};
  }
  return {};
}

std::optional<Children> children_of(Iova address, Bytes length, std::uint64_t entries) {
  const std::uint64_t first = address.raw / implicit_child.raw;
  // The last byte; a range of no bytes reaches the child that it stands in.
  const std::uint64_t end = length.raw == 0 ? address.raw : address.raw + (length.raw - 1);
  if (end < address.raw) return std::nullopt;
  const std::uint64_t last = end / implicit_child.raw;
  if (last >= entries) return std::nullopt;
  return Children{first, last};
}

FaultEnd end_of_work_fault(std::span<const FaultEnd> elements) {
  for (const FaultEnd end : elements)
    if (end != FaultEnd::resolved && end != FaultEnd::not_on_demand) return end;
  return FaultEnd::resolved;
}

const char* explain(FaultEnd end) {
  switch (end) {
    case FaultEnd::resolved:
      return "resolved";
    case FaultEnd::not_on_demand:
      return "the key is of no region on demand";
    case FaultEnd::again:
      return "the memory is being changed: once more";
    case FaultEnd::variant:
      return "the key's low byte is not the region's";
    case FaultEnd::out_of_range:
      return "the access reaches outside the memory region";
    case FaultEnd::process_gone:
      return "the process is gone";
    case FaultEnd::not_mapped:
      return "nothing is mapped there";
    case FaultEnd::not_permitted:
      return "the mapping does not allow what the memory region does";
  }
  return "";
}

}  // namespace mtsim::verbs
