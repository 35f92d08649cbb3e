#include "ports/kernel.h"

namespace mtsim::ports {

RegistrationCost& RegistrationCost::operator+=(const RegistrationCost& o) {
  for (unsigned i = 0; i < registration_step_count; ++i) steps[i] += o.steps[i];
  pages += o.pages;
  batches += o.batches;
  grabs += o.grabs;
  folios += o.folios;
  faults += o.faults;
  sg_entries += o.sg_entries;
  dma_runs += o.dma_runs;
  iopte += o.iopte;
  iova_rbtree += o.iova_rbtree;
  table_entries += o.table_entries;
  queued += o.queued;
  shared_faults += o.shared_faults;
  umr_requests += o.umr_requests;
  commands += o.commands;
  mailboxes += o.mailboxes;
  list_bytes += o.list_bytes;
  return *this;
}

}  // namespace mtsim::ports
