#include "kernel/pin_plan.h"

namespace mtsim {

PinPlan plan_pinning(const PinnedRange& range, const FaultCounts& faults, Iova iova, const PinRules& rules) {
  PinPlan plan;
  plan.pages = Pages(range.counts.pages);
  plan.batches = ceil_div(range.counts.pages, pin_batch_pages);
  plan.folios = range.counts.folios;
  plan.grabs = range.counts.grabs;
  plan.faults = faults;
  plan.sg_entries = count_sg_entries(range.map, rules.max_segment);
  const bool best = rules.choice == PageSizeChoice::best;
  if (range.length.raw != 0) plan.page_size = best ? best_page_size(range.map, iova, rules.page_sizes) : page_bytes;
  if (plan.page_size.raw != 0) plan.blocks = count_blocks(iova, range.length, plan.page_size);
  return plan;
}

}  // namespace mtsim
