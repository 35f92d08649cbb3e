// The memory of queues, as the provider library allocates it: rdma-core providers/mlx5/buf.c, mlx5_alloc_buf, and dbrec.c. The rings
// themselves lie in host memory that SimDevice::allocate gives; here is what the process has to do with them.
#include <cerrno>

#include "user/sim_device.h"

namespace mtsim::user {

using verbs::Reply;
using verbs::Thread;

/// posix_memalign of whole pages, kept from children. The allocator's header stands in a page before them that is not, so that each takes
/// two mappings.
engine::Task<int> SimDevice::map_apart(Thread t, Bytes length, ForkRanges::Range& range) {
  verbs::MmapRequest request;
  request.length = page_bytes + Bytes(round_up(length.raw, page_bytes.raw));
  const Reply mapped = co_await kernel->mmap(t, request);
  if (mapped.error != 0) co_return mapped.error;
  const ForkRanges::Range wanted{Va(mapped.value) + page_bytes, request.length - page_bytes};
  const int error = co_await keep_from_children(t, wanted, true);
  if (error == 0) range = wanted;
  else co_await kernel->munmap(t, Va(mapped.value), request.length);
  co_return error;
}

engine::Task<int> SimDevice::unmap_apart(Thread t, const ForkRanges::Range& range) {
  co_await keep_from_children(t, range, false);
  const Reply gone = co_await kernel->munmap(t, range.start - page_bytes, range.length + page_bytes);
  co_return gone.error;
}

engine::Task<int> SimDevice::allocate_queue(Thread t, Bytes length, QueueBuffer& buffer) {
  Library& library = library_of(t);
  buffer.library = &library;
  if (!kernel->pins_queues()) co_return 0;
  if (!library.fork_safe) library.too_late = true;
  else if (const int error = co_await map_apart(t, length, buffer.range); error != 0) co_return error;
  const DoorbellPages::Place place = library.doorbells.take();
  buffer.pages = Pages(ceil_div(length.raw, page_bytes.raw));
  buffer.doorbell_page = place.page;
  if (!library.fork_safe || !place.fresh) co_return 0;
  const int error = co_await map_apart(t, page_bytes, library.doorbell_ranges[place.page]);
  if (error == 0) co_return 0;
  library.doorbell_ranges.erase(place.page);
  co_await free_queue(t, buffer);
  co_return error;
}

engine::Task<int> SimDevice::free_queue(Thread t, const QueueBuffer& buffer) {
  // What a child frees of its parent's is a copy.
  if (buffer.library != &library_of(t) || buffer.pages == Pages(0)) co_return 0;
  Library& library = *buffer.library;
  if (buffer.range.length.raw != 0) co_await unmap_apart(t, buffer.range);
  if (!library.doorbells.give_back(buffer.doorbell_page)) co_return 0;
  const auto page = library.doorbell_ranges.find(buffer.doorbell_page);
  if (page == library.doorbell_ranges.end()) co_return 0;
  const ForkRanges::Range range = page->second;
  library.doorbell_ranges.erase(page);
  co_await unmap_apart(t, range);
  co_return 0;
}

}  // namespace mtsim::user
