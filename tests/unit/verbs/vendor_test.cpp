// Are statuses and the syndromes of mlx5 completions translated as its provider does?
#include "verbs/vendor.h"

#include <catch2/catch.hpp>
#include <map>

using namespace mtsim::verbs;

TEST_CASE("syndromes and statuses go both ways; an unknown syndrome is GENERAL_ERR",
          "[rule:9.2][rule:9.3][rule:9.4][rule:9.5][rule:9.6][rule:9.7]") {
  const std::map<int, Status> table{{0x01, Status::LOC_LEN_ERR},    {0x02, Status::LOC_QP_OP_ERR},   {0x04, Status::LOC_PROT_ERR},
                                    {0x05, Status::WR_FLUSH_ERR},   {0x06, Status::MW_BIND_ERR},     {0x10, Status::BAD_RESP_ERR},
                                    {0x11, Status::LOC_ACCESS_ERR}, {0x12, Status::REM_INV_REQ_ERR}, {0x13, Status::REM_ACCESS_ERR},
                                    {0x14, Status::REM_OP_ERR},     {0x15, Status::RETRY_EXC_ERR},   {0x16, Status::RNR_RETRY_EXC_ERR},
                                    {0x22, Status::REM_ABORT_ERR}};
  for (int code = 0; code < 256; ++code) {
    const auto found = table.find(code);
    const Status expected = found == table.end() ? Status::GENERAL_ERR : found->second;
    CHECK(mlx5_status(static_cast<std::uint8_t>(code)) == expected);
    if (found != table.end()) CHECK(mlx5_syndrome(found->second) == static_cast<std::uint8_t>(code));
  }
  CHECK_FALSE(mlx5_syndrome(Status::SUCCESS).has_value());
  CHECK_FALSE(mlx5_syndrome(Status::FATAL_ERR).has_value());
}

TEST_CASE("the vendor's code tells an element's key, a refused access and a page fault", "[rule:9.7]") {
  CHECK(mlx5_vendor_error(Status::LOC_PROT_ERR, true, false) == 0x51);
  CHECK(mlx5_vendor_error(Status::LOC_PROT_ERR, false, false) == 0x52);
  CHECK(mlx5_vendor_error(Status::REM_ACCESS_ERR, false, false) == 0x88);
  CHECK(mlx5_vendor_error(Status::REM_ABORT_ERR, false, true) == 0x93);
  CHECK(mlx5_vendor_error(Status::WR_FLUSH_ERR, false, false) == 0);
  CHECK(mlx5_vendor_error(Status::SUCCESS, true, true) == 0);
}
