// Addresses in the context (hns: the first 2 in its MPT, hw/hns/hns_roce_hw_v2.c; efa and erdma: up to 4, hw/efa/efa_verbs.c and
// hw/erdma/erdma_verbs.c): a region of so few blocks needs no table, and a cold look-up is one read. A larger one has a flat array of all
// of its entries, which is a second read that depends on the first.
#include "translate/context_table.h"

namespace mtsim::translate {
namespace {

class InlineEntries : public ContextTable {
 public:
  explicit InlineEntries(const ArchitectureOptions& options)
      : ContextTable(options, Place::host, options.mtt_line), in_context_(options.inline_entries) {
    set_ranges(std::make_unique<FirstFit>(units()));
  }

 private:
  bool lay_out(const Region& region, Layout& out) override {
    if (region.blocks() <= in_context_) return true;
    out.levels = 1;
    out.entries = region.blocks();
    out.arrays.resize(1);
    return take(out.entries, out.arrays[0]);
  }

  std::uint64_t in_context_;
};

const Architectures::Entrant entrant("inline",
                                     "The first addresses in the context, nic.inline_entries of them; more in a flat array (efa, erdma).",
                                     [](const ArchitectureOptions& options) { return std::make_unique<InlineEntries>(options); });

}  // namespace
}  // namespace mtsim::translate
