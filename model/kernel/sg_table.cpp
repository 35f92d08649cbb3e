#include "kernel/sg_table.h"

#include <cassert>

namespace mtsim {

std::uint64_t count_sg_entries(const DmaMap& map, Bytes max_segment) {
  assert(max_segment >= page_bytes);
  return map.count_runs(max_segment / page_bytes);
}

std::uint64_t count_joined_segments(const DmaMap& map, Bytes max_segment) {
  assert(max_segment >= page_bytes);
  const std::uint64_t limit = max_segment / page_bytes, pages = map.pages().raw;
  std::uint64_t joined = 0;
  for (std::uint64_t page = 0; page < pages; ++joined) {
    if (pages - page <= limit) return joined + 1;
    // The next one begins with the entry that holds the first page beyond the limit.
    const std::uint64_t beyond = page + limit, run = map.run_start(beyond);
    page = run + round_down(beyond - run, limit);
  }
  return joined;
}

}  // namespace mtsim
