#include "verbs/vendor.h"

#include <array>
#include <utility>

namespace mtsim::verbs {
namespace {

constexpr std::array<std::pair<Status, std::uint8_t>, 13> syndromes{{{Status::LOC_LEN_ERR, 0x01},
                                                                     {Status::LOC_QP_OP_ERR, 0x02},
                                                                     {Status::LOC_PROT_ERR, 0x04},
                                                                     {Status::WR_FLUSH_ERR, 0x05},
                                                                     {Status::MW_BIND_ERR, 0x06},
                                                                     {Status::BAD_RESP_ERR, 0x10},
                                                                     {Status::LOC_ACCESS_ERR, 0x11},
                                                                     {Status::REM_INV_REQ_ERR, 0x12},
                                                                     {Status::REM_ACCESS_ERR, 0x13},
                                                                     {Status::REM_OP_ERR, 0x14},
                                                                     {Status::RETRY_EXC_ERR, 0x15},
                                                                     {Status::RNR_RETRY_EXC_ERR, 0x16},
                                                                     {Status::REM_ABORT_ERR, 0x22}}};

}  // namespace

std::optional<std::uint8_t> mlx5_syndrome(Status status) {
  for (const auto& [word, syndrome] : syndromes)
    if (word == status) return syndrome;
  return std::nullopt;
}

Status mlx5_status(std::uint8_t syndrome) {
  for (const auto& [word, code] : syndromes)
    if (code == syndrome) return word;
  return Status::GENERAL_ERR;
}

std::uint8_t mlx5_vendor_error(Status status, bool gather, bool on_demand) {
  if (on_demand && status == Status::REM_ABORT_ERR) return 0x93;
  if (status == Status::LOC_PROT_ERR) return gather ? 0x51 : 0x52;
  return status == Status::REM_ACCESS_ERR ? 0x88 : 0;
}

}  // namespace mtsim::verbs
