#include "nic/params.h"

#include "base/sections.h"

namespace mtsim::nic {
namespace {

const Sections::Entrant<NicParams> nic_declared;
const Sections::Entrant<RequesterParams> requester_declared;
const Sections::Entrant<ResponderParams> responder_declared;
const Sections::Entrant<FirmwareParams> firmware_declared;

}  // namespace

void NicParams::declare(Declaration<NicParams>& d) {
  d.section("nic", "The NIC as a whole.");
  d.field("clock", &NicParams::clock)
      .standard("500MHz")
      .range("1MHz", "10GHz")
      .means("Clock of the NIC's units: they act on its edges.")
      .source("estimate; not published");
  d.field("translation", &NicParams::translation)
      .standard("flat_mtt")
      .means("Translation architecture.")
      .source("mlx5 and mlx4: a flat array of entries a region");
  d.field("table_space", &NicParams::table_space)
      .standard("8GiB")
      .range("128MiB", "1TiB")
      .means("Host memory set aside for translation tables (ICM).")
      .source("estimate; grows on demand in life");
  d.choice("table_allocation", &NicParams::table_allocation,
           {{"first_fit", translate::Allocation::first_fit}, {"buddy", translate::Allocation::buddy}})
      .standard("first_fit")
      .means("How flat_mtt gives out room: exact, or powers of two of 8 entries, which a fragmented table may be out of before it is full.")
      .source("mlx5: the firmware's affair; mlx4: buddy, net/mlx4/mr.c");
  d.field("table_entries", &NicParams::table_entries)
      .standard("0")
      .means("Translation entries of all MRs together at most, beyond which reg_mr fails with ENOMEM; 0: as many as table_space holds.")
      .source("mlx4: 2^log_num_mtt x 2^log_mtts_per_seg");
  d.field("inline_entries", &NicParams::inline_entries)
      .standard("2")
      .range("1", "6")
      .means("Addresses that a context holds with nic.translation 'inline'; an MR of more blocks has a table.")
      .source("hns: 2 (HNS_ROCE_V2_MAX_INNER_MTPT_NUM); erdma: 4 (ERDMA_MAX_INLINE_MTT_ENTRIES), efa: 4");
  d.field("child", &NicParams::child)
      .standard("1GiB")
      .range("4KiB", "1TiB")
      .means(
          "What one key stands for in a table of keys: with nic.translation 'ksm' exactly, with 'klm' at least; a power of two. An MR "
          "that is not larger has no such table.")
      .source("mlx5: 1 GiB for implicit on-demand keys (MLX5_IMR_MTT_SIZE)");
  d.field("icm_page", &NicParams::icm_page)
      .standard("4KiB")
      .range("4KiB", "256KiB")
      .means("What one entry of the map stands for with nic.translation 'mapped_icm': a power of two.")
      .source("mlx4: MLX4_ICM_PAGE_SHIFT (net/mlx4/icm.h); how the device keeps the map is not published");
  d.field("write_buffer", &NicParams::write_buffer)
      .standard("32KiB")
      .range("256B", "64MiB")
      .means("Payload of posted writes that may wait for the PCIe link; beyond it, packets wait in front of the responder.")
      .source("estimate: several times a path MTU");
  d.field("contexts", &NicParams::contexts)
      .standard("1048576")
      .range("64", "16777216")
      .means("Places for mkey contexts (MPT entries): a power of two, and no fewer than driver.most_keys.")
      .source("estimate; devices report 2^19 (mlx4) to 2^24");
  d.field("deepest_first", &NicParams::deepest_first)
      .standard("false")
      .means(
          "Of lines that a look-up needs one after the other: goes on with the last one that a cache has, all being looked for at once, "
          "instead of needing each in turn from the first.")
      .source("modelling choice; paging-structure caches of CPUs do it");
  d.field("window_change", &NicParams::window_change)
      .standard("100ns")
      .range("0ns", "1ms")
      .means("Rewriting the context of a memory window, for a bind or an invalidation, once the contexts that are checked are there.")
      .source("estimate: of a UMR request without a list; not published");
  d.field("walks", &NicParams::walks)
      .standard("32")
      .range("1", "4096")
      .means("Table walks in flight at most.")
      .source("estimate (N4: about 25 misses overlap on ConnectX-5)");
}

void RequesterParams::declare(Declaration<RequesterParams>& d) {
  d.section("nic.requester", "The unit that takes up work requests and sends packets.");
  d.field<Time>("interval", &RequesterParams::interval)
      .standard("14ns")
      .range("0ns", "10us")
      .means("Between two requests (or pieces of one) taken up.")
      .source("estimate (N7: about 110 M requests/s on ConnectX-6, less on ConnectX-5)");
  d.field<Time>("service", &RequesterParams::service)
      .standard("40ns")
      .range("0ns", "10us")
      .means("From taking a request up to its key look-up.")
      .source("estimate (N3)");
  d.field<std::uint32_t>("contexts", &RequesterParams::contexts)
      .standard("64")
      .range("1", "65536")
      .means("Requests between taking up and the end of their translation.")
      .source("estimate; not published");
  d.field("buffer", &RequesterParams::buffer)
      .standard("64KiB")
      .range("4KiB", "64MiB")
      .means("Payload being fetched or waiting for the wire.")
      .source("estimate: several times bandwidth times PCIe round trip");
  d.field("prefetch", &RequesterParams::prefetch)
      .standard("16")
      .range("1", "4096")
      .means("WQEs of a QP that are fetched ahead at most.")
      .source("estimate; not published");
  d.choice("prefetch_at", &RequesterParams::prefetch_at, {{"doorbell", PrefetchAt::doorbell}, {"turn", PrefetchAt::turn}})
      .standard("doorbell")
      .means("When WQEs are fetched: as soon as a doorbell tells of them, or when it is their QP's turn and it has none left in the NIC.")
      .source("estimate; not published");
  d.field("wqe_fetches", &RequesterParams::wqe_fetches)
      .standard("0")
      .range("0", "65536")
      .means("Reads of WQEs in flight at most, over all QPs; 0: one for each QP.")
      .source("estimate; not published");
  d.field("qp_order", &RequesterParams::qp_order)
      .standard("round_robin")
      .means("In which order QPs with work have their turns.")
      .source("estimate; not published");
  d.field("burst", &RequesterParams::burst)
      .standard("4")
      .range("1", "65536")
      .means("Requests of a QP in its turn, with nic.requester.qp_order 'burst'.")
      .source("estimate; not published");
  d.field("translate_ahead", &RequesterParams::translate_ahead)
      .standard("false")
      .means("Whether the first of a request's memory is looked up as soon as its WQE has been fetched, before its turn.")
      .source("estimate; not published");
  d.field("qp_pieces", &RequesterParams::qp_pieces)
      .standard("1")
      .range("1", "65536")
      .means("Requests (or pieces of them) of one QP between taking up and the end of their translation; they leave in order.")
      .source("estimate; not published");
}

void ResponderParams::declare(Declaration<ResponderParams>& d) {
  d.section("nic.responder", "The unit that carries out requests of peers.");
  d.field<Time>("interval", &ResponderParams::interval)
      .standard("14ns")
      .range("0ns", "10us")
      .means("Between two packets (or trains) taken up.")
      .source("estimate (N4: 35 M READs/s at least)");
  d.field<Time>("service", &ResponderParams::service)
      .standard("30ns")
      .range("0ns", "10us")
      .means("From taking a packet up to its key look-up.")
      .source("estimate (N3)");
  d.field("read_service", &ResponderParams::read_service)
      .standard("0ns")
      .range("0ns", "10us")
      .means("What a READ or an atomic takes besides service, for the answer that is set up.")
      .source("estimate; not published");
  d.field<std::uint32_t>("contexts", &ResponderParams::contexts)
      .standard("32")
      .range("1", "65536")
      .means("Packets between taking up and the end of their translation; each waits for its own misses.")
      .source("estimate (N4: about 25 misses overlap on ConnectX-5)");
  d.field("buffer", &ResponderParams::buffer)
      .standard("64KiB")
      .range("4KiB", "64MiB")
      .means("READ payload being fetched or waiting for the wire.")
      .source("estimate: several times bandwidth times PCIe round trip");
  d.field("receive_prefetch", &ResponderParams::receive_prefetch)
      .standard("16")
      .range("1", "4096")
      .means("Receives of a queue that are fetched ahead at most.")
      .source("estimate; not published");
  d.field("atomic_locks", &ResponderParams::atomic_locks)
      .standard("512")
      .range("1", "65536")
      .means("Atomics on 8-byte words whose numbers are equal modulo this exclude each other for a PCIe round trip.")
      .source("estimate (N6: one counter 2.24-2.7 M/s on ConnectX-3); 512: the words of a 4 KiB page");
}

void FirmwareParams::declare(Declaration<FirmwareParams>& d) {
  d.section("nic.firmware", "The command queue and the UMR queue pair.");
  d.field("command_slots", &FirmwareParams::command_slots)
      .standard("31")
      .range("1", "1024")
      .means("Commands that may be under way; the firmware carries them out one by one.")
      .source("mlx5: 2^5 slots less the page slot (cmd.c)");
  d.field("umr", &FirmwareParams::umr)
      .standard("1us")
      .range("0ns", "1ms")
      .means("The NIC's own time for one UMR WQE, transfers apart.")
      .source("estimate (R3; F1: about 770 ns a fast registration)");
}

}  // namespace mtsim::nic
