// KLM list (mlx5 access mode 2): pieces of any length, so that the list has to be read from its beginning to find the one that an address
// lies in. A cold look-up reads the context, the list line by line up to the piece's entry, the child's context, a line of its array: four
// reads for the first line's entries and one more for each line before an entry's own. A piece ends where a contiguous run of memory does,
// once it has `nic.child` bytes or more; what is one piece is a plain key.
#include "translate/child_keys.h"

namespace mtsim::translate {
namespace {

class Klm : public ChildKeys {
 public:
  explicit Klm(const ArchitectureOptions& options) : ChildKeys(options) {}

 private:
  std::vector<std::uint64_t> cut(const Region& region) const override {
    const DmaMap& map = *region.map;
    const std::uint64_t pages = map.pages().raw, least = std::max(child(), region.block) / page_bytes;
    const std::uint64_t before = region.start().raw % region.block.raw / page_bytes.raw;  // pages of the first block that it lacks
    std::vector<std::uint64_t> out{0};
    for (std::uint64_t end = least; end < pages; end += least) {
      end = end - 1 + map.run_from(end - 1).length / page_bytes;
      const std::uint64_t block = ceil_div((before + end) * page_bytes.raw, region.block.raw);
      end = block * (region.block / page_bytes) - before;
      if (end < pages) out.push_back(block);
    }
    return out;
  }
  std::uint32_t list_lines(std::uint64_t line) const override { return static_cast<std::uint32_t>(line) + 1; }
};

const Architectures::Entrant entrant("klm", "A list of keys for pieces of nic.child or more, searched from its beginning (mlx5).",
                                     [](const ArchitectureOptions& options) { return std::make_unique<Klm>(options); });

}  // namespace
}  // namespace mtsim::translate
