// Completion statuses as mlx5 devices code them: the syndrome of an error CQE and the vendor's own code beside it (rdma-core
// providers/mlx5/cq.c, mlx5_handle_error_cqe; vendor codes as seen in public reports). Pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "verbs/judge.h"

namespace mtsim::verbs {

/// The syndrome that a status is told by; none for SUCCESS and for statuses that mlx5 does not have.
std::optional<std::uint8_t> mlx5_syndrome(Status status);
/// The status that a syndrome stands for; every unknown one is GENERAL_ERR.
Status mlx5_status(std::uint8_t syndrome);

/// The vendor's code, wc.vendor_err. 0: none is known of.
///   0x51, 0x52: an element's key; which is which is not published. Estimate: 0x51 is of an element to be read (`gather`)
///   0x88: the peer refused the access
///   0x93: a page fault on demand ended badly (`on_demand`)
std::uint8_t mlx5_vendor_error(Status status, bool gather, bool on_demand);

}  // namespace mtsim::verbs
