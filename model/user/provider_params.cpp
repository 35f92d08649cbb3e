#include "user/provider_params.h"

#include "base/sections.h"

namespace mtsim::user {
namespace {

const Sections::Entrant<ProviderParams> declared;

}  // namespace

void ProviderParams::declare(Declaration<ProviderParams>& d) {
  d.section("provider", "CPU time of the provider library (libmlx5 and its like) and of libibverbs.");
  d.field("post", &ProviderParams::post)
      .standard("20ns")
      .range("0ns", "100us")
      .means("Of each call of ibv_post_send.")
      .source("estimate (N3)");
  d.field("wqe", &ProviderParams::wqe)
      .standard("20ns")
      .range("0ns", "100us")
      .means("Of each request written into the ring.")
      .source("estimate (N3)");
  d.field("sge", &ProviderParams::sge)
      .standard("4ns")
      .range("0ns", "100us")
      .means("Of each scatter-gather element.")
      .source("estimate (N3)");
  d.field("inline_byte", &ProviderParams::inline_byte)
      .standard("50ps")
      .range("0ps", "100ns")
      .means("Of each byte copied into a request.")
      .source("estimate: 20 GB/s");
  d.field("doorbell", &ProviderParams::doorbell)
      .standard("20ns")
      .range("0ns", "100us")
      .means("Of the doorbell record, the barriers and the store to the NIC.")
      .source("estimate (N3)");
  d.field("blueflame", &ProviderParams::blueflame)
      .standard("64B")
      .range("0B", "1KiB")
      .means("Largest request that goes down with the doorbell itself when it is posted alone; 0 turns that off.")
      .source("mlx5: BlueFlame, in units of 64 bytes");
  d.field("poll_empty", &ProviderParams::poll_empty)
      .standard("15ns")
      .range("1ns", "100us")
      .means("One turn of a loop that polls an empty CQ.")
      .source("estimate (N3)");
  d.field("poll_cqe", &ProviderParams::poll_cqe)
      .standard("30ns")
      .range("0ns", "100us")
      .means("Of each completion taken.")
      .source("estimate (N3)");
  d.field("find_page_size", &ProviderParams::find_page_size)
      .standard("5.3ms")
      .range("0ns", "1s")
      .means("With ibv_fork_init and RDMAV_HUGEPAGES_SAFE: finding out the page size of each range that is registered.")
      .source("measured, rdma-core pull 767: reading /proc/self/smaps; 10 us when madvise is asked instead");
}

}  // namespace mtsim::user
