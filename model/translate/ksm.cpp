// KSM (mlx5 access mode 3): pieces of one size (`nic.child`), the last one shorter, so that an address says which entry of the list it
// needs. A cold look-up is four reads: context, entry, the child's context, a line of its array. That is the shape of mlx5's implicit
// on-demand keys and of the chunked giant MR that some libraries build above 4 GiB; what is not larger than a piece is a plain key: two
// reads.
#include "translate/child_keys.h"

namespace mtsim::translate {
namespace {

class Ksm : public ChildKeys {
 public:
  explicit Ksm(const ArchitectureOptions& options) : ChildKeys(options) {}

 private:
  std::vector<std::uint64_t> cut(const Region& region) const override {
    std::vector<std::uint64_t> out;
    const std::uint64_t each = std::max(child(), region.block) / region.block;
    for (std::uint64_t block = 0; block < region.blocks(); block += each) out.push_back(block);
    return out;
  }
  std::uint32_t list_lines(std::uint64_t) const override { return 1; }
};

const Architectures::Entrant entrant("ksm", "A table of keys for pieces of one size, nic.child, each with an array of its own (mlx5).",
                                     [](const ArchitectureOptions& options) { return std::make_unique<Ksm>(options); });

}  // namespace
}  // namespace mtsim::translate
