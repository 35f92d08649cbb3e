// The line behind.
#include "nic/prefetcher.h"

namespace mtsim::nic {
namespace {

class NextLine final : public Prefetcher {
 public:
  std::optional<std::uint64_t> ahead(Key, std::uint64_t tag) override { return tag + 1; }
};

const Prefetchers::Entrant registered("next_line", "the line behind", [] { return std::make_unique<NextLine>(); });

}  // namespace
}  // namespace mtsim::nic
