// No translation: the context holds one address, to which that of the operation is added (mlx5's access mode PA; irdma's level 0). A cold
// look-up reads the context and nothing else. In life such keys are the kernel's own, as they cover whatever it likes; here a region must
// be contiguous as the device sees it, as an IOMMU makes it, and reg_mr of another one fails with ENOMEM.
#include "translate/context_table.h"

namespace mtsim::translate {
namespace {

class Physical : public ContextTable {
 public:
  explicit Physical(const ArchitectureOptions& options) : ContextTable(options, Place::host, options.mtt_line) {
    set_ranges(std::make_unique<FirstFit>(units()));
  }
  bool mixes_block_sizes() const override { return true; }

 private:
  bool lay_out(const Region& region, Layout& out) override {
    out.own_walk = true;
    return region.map->contiguous();
  }
};

const Architectures::Entrant entrant("physical",
                                     "No table: a region must be contiguous to the device (mlx5 access mode PA, irdma level 0).",
                                     [](const ArchitectureOptions& options) { return std::make_unique<Physical>(options); });

}  // namespace
}  // namespace mtsim::translate
