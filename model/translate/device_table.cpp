// Tables in the device's own memory (efa, mana): a look-up reads nothing over PCIe. Their shape is not published; a region takes 8 bytes a
// block of a memory that is bounded by the limit of entries.
#include "translate/context_table.h"

namespace mtsim::translate {
namespace {

class DeviceTable : public ContextTable {
 public:
  explicit DeviceTable(const ArchitectureOptions& options) : ContextTable(options, Place::device, options.mtt_line) {
    set_ranges(std::make_unique<FirstFit>(units()));
  }

 private:
  bool lay_out(const Region& region, Layout& out) override {
    out.entries = region.blocks();
    out.arrays.resize(1);
    return take(out.entries, out.arrays[0]);
  }
};

const Architectures::Entrant entrant("device", "Tables in the device's own memory: a look-up fetches nothing (efa, mana).",
                                     [](const ArchitectureOptions& options) { return std::make_unique<DeviceTable>(options); });

}  // namespace
}  // namespace mtsim::translate
