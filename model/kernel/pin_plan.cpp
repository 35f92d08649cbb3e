#include "kernel/pin_plan.h"

namespace mtsim {

PinPlan plan_pinning(const DmaMap& frames, const PageCounts& counts, const PinRules& rules) {
  PinPlan plan;
  plan.pages = Pages(counts.pages);
  plan.batches = ceil_div(counts.pages, pin_batch_pages);
  plan.folios = counts.folios;
  plan.grabs = counts.grabs;
  plan.sg_entries = count_sg_entries(frames, rules.max_segment);
  return plan;
}

void plan_table(PinPlan& plan, const DmaMap& device, Iova iova, const PinRules& rules) {
  plan.page_size = Bytes(0);
  plan.blocks = 0;
  if (device.length().raw == 0) {
    // A search finds no page size for nothing; who does not search has nothing to fail at.
    if (rules.choice == PageSizeChoice::none) plan.page_size = page_bytes;
    return;
  }
  if (rules.choice == PageSizeChoice::per_run) {
    plan.blocks = count_blocks_per_run(device, iova, rules.page_sizes);
    if (plan.blocks != 0) plan.page_size = page_bytes;
    return;
  }
  plan.page_size = rules.choice == PageSizeChoice::best ? best_page_size(device, iova, rules.page_sizes) : page_bytes;
  if (plan.page_size.raw != 0) plan.blocks = count_blocks(iova, device.length(), plan.page_size);
}

}  // namespace mtsim
