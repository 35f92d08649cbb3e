#include "base/io_page_table.h"

#include <bit>
#include <iterator>

namespace mtsim {
namespace {

/// The greatest entry for `page` of `map`, whose pages lie under device addresses from `first` on.
IoPageTable::Leaf entry_of(const DmaMap& map, Pa first, std::uint64_t page, std::uint64_t sizes) {
  const std::uint64_t run_page = map.run_start(page);
  const DmaRun run = map.run_from(run_page);
  const Pa device = first + page_bytes * page, begin = first + page_bytes * run_page;
  const Pa address = run.start + (device - begin);
  for (unsigned log = 63; log > 12; --log) {
    const std::uint64_t size = std::uint64_t{1} << log;
    if ((sizes & size) == 0 || ((device.raw ^ address.raw) & (size - 1)) != 0) continue;
    const Bytes into(device.raw & (size - 1));
    if (device - begin >= into && (device - begin) - into + Bytes(size) <= run.length) return {device - into, address - into, log};
  }
  return {device, address, 12};
}

}  // namespace

void IoPageTable::map_pages(std::uint64_t first, const FrameExtent& frames, std::uint64_t each) {
  const auto log = static_cast<unsigned>(12 + std::countr_zero(each));
  pages_.try_emplace(log, law_).first->second.set({first, frames, true});
}

void IoPageTable::unmap_pages(std::uint64_t first, std::uint64_t count) {
  for (auto& [log, pages] : pages_) pages.clear(first, first + count);
}

std::optional<Pa> IoPageTable::translate(Pa device) const {
  for (const auto& [log, pages] : pages_)
    if (const auto hit = pages.at(device.raw / page_bytes.raw)) return hit->address + Bytes(device.raw % page_bytes.raw);
  const auto after = ranges_.upper_bound(device);
  if (after == ranges_.begin()) return std::nullopt;
  const auto& [first, map] = *std::prev(after);
  const std::uint64_t page = (device - first) / page_bytes;
  if (page >= map->pages().raw) return std::nullopt;
  return map->page(page) + (device - first) % page_bytes;
}

std::optional<IoPageTable::Leaf> IoPageTable::leaf(Pa device) const {
  const std::uint64_t number = device.raw / page_bytes.raw;
  for (const auto& [log, pages] : pages_)
    if (const auto hit = pages.at(number)) {
      const Bytes into(device.raw & ((std::uint64_t{1} << log) - 1) & ~(page_bytes.raw - 1));
      return Leaf{Pa(number * page_bytes.raw) - into, hit->address - into, log};
    }
  const auto after = ranges_.upper_bound(device);
  if (after == ranges_.begin()) return std::nullopt;
  const auto& [first, map] = *std::prev(after);
  const std::uint64_t page = (device - first) / page_bytes;
  if (page >= map->pages().raw) return std::nullopt;
  return entry_of(*map, first, page, sizes_);
}

}  // namespace mtsim
