#include "kernel/driver_params.h"

#include <bit>

#include "base/sections.h"

namespace mtsim::kernel {
namespace {

const Sections::Entrant<DriverParams> declared;

}  // namespace

void DriverParams::declare(Declaration<DriverParams>& d) {
  d.section("driver", "The NIC's kernel driver: how it writes tables, hands out keys, and what that costs.");
  d.field("table_writer", &DriverParams::table_writer)
      .standard("umr")
      .means("Who writes the translation table of an MR.")
      .source("mlx5: the NIC, from a UMR work request");
  d.field("keys", &DriverParams::keys)
      .standard("cache")
      .means("Where keys come from and what becomes of them.")
      .source("mlx5, Linux 6.12: mkeys are parked and used again");
  d.field("most_keys", &DriverParams::most_keys)
      .standard("1048576")
      .range("1", "16777215")
      .means("Keys at most.")
      .source("estimate; devices report 2^19 (mlx4) to 2^24");
  d.choice("page_size", &DriverParams::page_size,
           {{"none", PageSizeChoice::none}, {"best", PageSizeChoice::best}, {"per_run", PageSizeChoice::per_run}})
      .standard("best")
      .means(
          "Page size of an MR's table: always 4 KiB, the greatest that fits the whole MR, or for each contiguous run the greatest that "
          "fits "
          "it, where the table's entries may differ.")
      .source("Linux 6.12 core/umem.c, ib_umem_find_best_pgsz");
  d.field("largest_page", &DriverParams::largest_page)
      .standard("2GiB")
      .range("4KiB", "1TiB")
      .means("Greatest page size of a table; rounded down to a power of two.")
      .source("mlx5: 5-bit page size field");
  d.field("largest_segment", &DriverParams::largest_segment)
      .standard("2GiB")
      .range("4KiB", "1TiB")
      .means("Greatest scatter-gather entry.")
      .source("mlx5: net/mlx5/core/main.c");
  d.field("key", &DriverParams::key)
      .standard("300ns")
      .range("0ns", "1ms")
      .means("CPU time of taking a key or giving it back, a command apart.")
      .source("estimate (R3)");
  d.field("umr_post", &DriverParams::umr_post)
      .standard("1.5us")
      .range("0ns", "1ms")
      .means("CPU time of preparing and posting one UMR work request.")
      .source("estimate (R3)");
  d.field("list_entry", &DriverParams::list_entry)
      .standard("2ns")
      .range("0ns", "100us")
      .means("CPU time of each entry laid in a list for the NIC (UMR or command).")
      .source("estimate (R4)");
  d.field("umr_requests", &DriverParams::umr_requests)
      .standard("128")
      .range("1", "65536")
      .means("UMR work requests under way at most.")
      .source("mlx5: MAX_UMR_WR (hw/mlx5/umr.c)");
  d.field("umr_entries", &DriverParams::umr_entries)
      .standard("131064")
      .range("8", "131072")
      .means("Entries that one UMR work request writes at most.")
      .source("mlx5: lists of 2^20-64 bytes (hw/mlx5/umr.c)");
  d.field("command_post", &DriverParams::command_post)
      .standard("1.5us")
      .range("0ns", "1ms")
      .means("CPU time of preparing and posting one firmware command.")
      .source("estimate");
  d.field("mailbox", &DriverParams::mailbox)
      .standard("150ns")
      .range("0ns", "1ms")
      .means("CPU time of each 512-byte mailbox of a command.")
      .source("estimate");
  d.field("create_key", &DriverParams::create_key)
      .standard("17us")
      .range("0ns", "1s")
      .means("Time that the firmware gives to the command that makes a key known (CREATE_MKEY, SW2HW_MPT) and to no other.")
      .source("estimate (R3: a miss every 17.5 us with up to 8 creations in flight)");
  d.field("create_key_latency", &DriverParams::create_key_latency)
      .standard("190us")
      .range("0ns", "1s")
      .means("What passes besides before that command is answered, while the firmware goes on with others.")
      .source("estimate (R2: registering without a cache takes 230 us more)");
  d.field("destroy_key", &DriverParams::destroy_key)
      .standard("17us")
      .range("0ns", "1s")
      .means("The same of the command that ends a key: DESTROY_MKEY, HW2SW_MPT.")
      .source("estimate: as create_key");
  d.field("destroy_key_latency", &DriverParams::destroy_key_latency)
      .standard("125us")
      .range("0ns", "1s")
      .means("What passes besides before that command is answered.")
      .source("estimate (R2: deregistering without a cache takes 160 us more)");
  d.field("store_entry", &DriverParams::store_entry)
      .standard("10ns")
      .range("0ns", "100us")
      .means("CPU time of each entry that the CPU stores into the table itself.")
      .source("estimate (R1)");
}

PinRules DriverParams::pin_rules() const {
  PinRules rules;
  rules.max_segment = largest_segment;
  rules.page_sizes = page_sizes(12, static_cast<unsigned>(std::bit_width(largest_page.raw) - 1));
  rules.choice = page_size;
  return rules;
}

}  // namespace mtsim::kernel
