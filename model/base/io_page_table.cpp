#include "base/io_page_table.h"

#include <iterator>

namespace mtsim {

std::optional<Pa> IoPageTable::translate(Pa device) const {
  if (const auto hit = pages_.at(device.raw / page_bytes.raw)) return hit->address + Bytes(device.raw % page_bytes.raw);
  const auto after = ranges_.upper_bound(device);
  if (after == ranges_.begin()) return std::nullopt;
  const auto& [first, map] = *std::prev(after);
  const std::uint64_t page = (device - first) / page_bytes;
  if (page >= map->pages().raw) return std::nullopt;
  return map->page(page) + (device - first) % page_bytes;
}

}  // namespace mtsim
