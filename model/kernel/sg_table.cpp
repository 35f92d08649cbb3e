#include "kernel/sg_table.h"

#include <cassert>

namespace mtsim {

std::uint64_t count_sg_entries(const DmaMap& map, Bytes max_segment) {
  assert(max_segment >= page_bytes);
  return map.count_runs(max_segment / page_bytes);
}

}  // namespace mtsim
