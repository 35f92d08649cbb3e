#include "kernel/driver_params.h"

#include <bit>
#include <charconv>

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
  d.field("key_seed", &DriverParams::key_seed)
      .standard("1")
      .means("Seed of the random parts of keys, for policies that have some.")
      .source("modelling choice");
  d.field("cache_limits", &DriverParams::cache_limits)
      .standard("250x12 32 16 8 4 0x5")
      .means(
          "Key cache: low-water mark of each class of 4 << i table entries; a class is filled up to twice that. 250x12: twelve times 250.")
      .source("mlx5: default profile, net/mlx5/core/main.c");
  d.field("cache_in_flight", &DriverParams::cache_in_flight)
      .standard("8")
      .range("1", "1024")
      .means("Key cache: creations under way on the side, for each class, at most.")
      .source("mlx5: MAX_PENDING_REG_MR (hw/mlx5/mr.c)");
  d.field("cache_age", &DriverParams::cache_age)
      .standard("300s")
      .range("1ms", "1000000s")
      .means("Key cache: time without a creation after which parked keys beyond twice the limit are destroyed.")
      .source("mlx5: hw/mlx5/mr.c, __cache_work_func");
  d.field("cache_temporary_age", &DriverParams::cache_temporary_age)
      .standard("30s")
      .range("1ms", "1000000s")
      .means("Key cache: time after which the parked keys of a size without a class of its own are destroyed.")
      .source("mlx5: hw/mlx5/mr.c, mlx5_revoke_mr");
  d.field("cache_prefill", &DriverParams::cache_prefill)
      .standard("true")
      .means("Key cache: whether the classes have been filled when a run begins; otherwise that begins with the run.")
      .source("modelling choice: a host has been up for a while");
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
  declare_checks(d);
  d.field("pins_queues", &DriverParams::pins_queues)
      .standard("true")
      .means(
          "Whether queues lie in memory of the process, which the kernel pins and charges to RLIMIT_MEMLOCK, or in memory that the driver "
          "allocates itself.")
      .source("mlx5, mlx4, irdma and hns pin it (hw/mlx5/cq.c, create_cq_user); rxe, siw and efa have it themselves");
  d.choice("on_demand", &DriverParams::on_demand,
           {{"none", OnDemand::none}, {"explicit", OnDemand::explicit_only}, {"implicit", OnDemand::implicit}})
      .standard("implicit")
      .means(
          "On-demand paging of the device: none, of ranges, or also of the whole address space. Needs table_writer: umr and a flat table; "
          "there is none without them.")
      .source("mlx5: hw/mlx5/odp.c, internal_fill_odp_caps");
  d.field("page_fault_queue", &DriverParams::page_fault_queue)
      .standard("17us")
      .range("0ns", "1s")
      .means("Time that the firmware gives to the command that makes the event queue for page faults, once a host.")
      .source("estimate: as create_key");
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
      .standard("150us")
      .range("0ns", "1s")
      .means("What passes besides before that command is answered, while the firmware goes on with others.")
      .source("estimate (R2: registering without a cache takes 230 us more; R3: 17.5 us a miss with 8 creations in flight)");
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
  d.field("query_qp", &DriverParams::query_qp)
      .standard("5us")
      .range("0ns", "1s")
      .means("Time that the firmware gives to the command that asks for the state of a QP.")
      .source("estimate");
  d.field("store_entry", &DriverParams::store_entry)
      .standard("10ns")
      .range("0ns", "100us")
      .means("CPU time of each entry that the CPU stores into the table itself.")
      .source("estimate (R1)");
  d.field("table_chunk", &DriverParams::table_chunk)
      .standard("0B")
      .range("0B", "1GiB")
      .means("Piece of a table that the CPU writes for which a command must be given before its first use; 0: none is needed.")
      .source("mlx4: 256 KiB (net/mlx4/icm.c); irdma: 2 MiB (hw/irdma/pble.c)");
  d.field("context_chunk", &DriverParams::context_chunk)
      .standard("0B")
      .range("0B", "1GiB")
      .means("The same for the table of contexts.")
      .source("mlx4: 256 KiB (net/mlx4/icm.c)");
  d.field("keep_chunks", &DriverParams::keep_chunks)
      .standard("false")
      .means("Whether such pieces stay when nothing in them is used any more; otherwise another command takes each away.")
      .source("mlx4: false (net/mlx4/icm.c); irdma: true (hw/irdma/pble.c)");
  d.field("map_chunk", &DriverParams::map_chunk)
      .standard("5us")
      .range("0ns", "1s")
      .means("Time that the firmware gives to such a command.")
      .source("estimate: as SW2HW_MPT of mlx4 (R1)");
  d.field("push_entries", &DriverParams::push_entries)
      .standard("504")
      .range("1", "16777216")
      .means("Entries that one message to a device with tables of its own carries at most.")
      .source("mana: messages of 4 KiB");
  d.field("push_message", &DriverParams::push_message)
      .standard("2us")
      .range("0ns", "1s")
      .means("Time that the firmware gives to each such message after the first.")
      .source("estimate; not published");
}

std::optional<std::vector<std::uint32_t>> DriverParams::cache_limit_list() const {
  std::vector<std::uint32_t> limits;
  const char* at = cache_limits.data();
  const char* const end = at + cache_limits.size();
  const auto number = [&](std::uint32_t most) -> std::optional<std::uint32_t> {
    std::uint32_t value = 0;
    const auto [after, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value > most) return std::nullopt;
    at = after;
    return value;
  };
  while (at != end) {
    if (*at == ' ') {
      ++at;
      continue;
    }
    const auto limit = number(65535);
    if (!limit) return std::nullopt;
    std::uint32_t times = 1;
    if (at != end && *at == 'x') {
      ++at;
      const auto said = number(40);
      if (!said) return std::nullopt;
      times = *said;
    }
    if (at != end && *at != ' ') return std::nullopt;
    limits.insert(limits.end(), times, *limit);
    if (limits.size() > 40) return std::nullopt;
  }
  return limits;
}

KeyPolicyOptions DriverParams::key_options() const {
  return {most_keys,
          key_seed,
          {cache_limit_list().value_or(std::vector<std::uint32_t>{}), cache_in_flight, cache_age, cache_temporary_age, cache_prefill}};
}

PinRules DriverParams::pin_rules() const {
  PinRules pinning;
  pinning.max_segment = largest_segment;
  pinning.page_sizes = page_sizes(12, static_cast<unsigned>(std::bit_width(largest_page.raw) - 1));
  pinning.choice = page_size;
  return pinning;
}

}  // namespace mtsim::kernel
