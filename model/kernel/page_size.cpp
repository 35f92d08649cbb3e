#include "kernel/page_size.h"

#include <bit>
#include <cassert>

namespace mtsim {
namespace {

/// Bits from `low` up; none when `low` is past the last.
constexpr std::uint64_t bits_from(unsigned low) { return low > 63 ? 0 : ~std::uint64_t{0} << low; }

/// Bits needed to write `n`, at least one.
constexpr unsigned bits_needed(std::uint64_t n) { return n == 0 ? 1 : static_cast<unsigned>(std::bit_width(n)); }

}  // namespace

Bytes best_page_size(const DmaMap& map, Iova iova, PageSizes supported) {
  if (map.length().raw == 0 || supported == 0) return Bytes(0);
  const std::uint64_t last = iova.raw + (map.length().raw - 1);
  if (last < iova.raw) return Bytes(0);
  // A page that already holds the whole range is enough.
  std::uint64_t differing = supported & bits_from(bits_needed(last ^ iova.raw));
  const int smallest = std::countr_zero(supported);
  std::uint64_t position = iova.raw;
  std::uint64_t into_page = map.lead().raw;
  map.for_each_run([&](const DmaRun& run) {
    differing |= (run.start.raw + into_page) ^ position;
    // Where memory is not contiguous a page of the table must begin, so the address there has its low bits clear.
    if (position != iova.raw) differing |= position;
    position += run.length.raw - into_page;
    into_page = 0;
    return std::countr_zero(differing) > smallest;
  });
  if (differing == 0) return Bytes(std::bit_floor(supported));
  return Bytes(std::bit_floor(supported & ~bits_from(static_cast<unsigned>(std::countr_zero(differing)) + 1)));
}

std::uint64_t count_blocks(Iova iova, Bytes length, Bytes page) {
  assert(std::has_single_bit(page.raw) && length.raw > 0);
  return (iova.raw + (length.raw - 1)) / page.raw - iova.raw / page.raw + 1;
}

std::uint64_t count_blocks_per_run(const DmaMap& map, Iova iova, PageSizes supported) {
  if (map.length().raw == 0 || (supported & page_bytes.raw) == 0 || iova.raw % page_bytes.raw != map.lead().raw) return 0;
  return map.count_leaves(iova.raw / page_bytes.raw, supported);
}

}  // namespace mtsim
