// Does each wrong configuration get the message that a person needs, and nothing else?
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/run_refusal.h"

using namespace mtsim::test;

namespace {

const std::string base = "extends: " MTSIM_SOURCE_DIR "/configs/base.yaml\n";

/// What `mtsim run` says of the base configuration with `text` laid over it.
std::string run_with(const std::string& text) {
  const TempFolder folder;
  return refusal(folder, {"run", folder.write("my.yaml", base + text)});
}

std::string run_with_set(const std::string& set) {
  const TempFolder folder;
  return refusal(folder, {"run", folder.write("my.yaml", base), "--set", set});
}

const std::string nic_keys =
    "cache_pool, child, clock, contexts, deepest_first, firmware, icm_cache, icm_page, inline_entries, mpt_cache, mtt_cache, qp_cache, "
    "request_cache, requester, "
    "responder, table_allocation, table_entries, table_space, transfers, translation, walks, "
    "window_change, write_buffer";

}  // namespace

TEST_CASE("An unknown key is told with the keys that are known and the nearest of them") {
  CHECK(run_with("nic:\n  wlks: 4\n") == "my.yaml:3:3: nic.wlks: unknown key; allowed here: " + nic_keys + "; did you mean 'walks'?\n");
  CHECK(run_with("hosts:\n  client0: {nic: {walk: 4}}\n") ==
        "my.yaml:3:19: hosts.client0.nic.walk: unknown key; allowed here: " + nic_keys + "; did you mean 'walks'?\n");
}

TEST_CASE("A quantity without a unit, with a wrong one or out of its range is told with what is allowed") {
  CHECK(run_with("kernel: {registration: 5}\n") == "my.yaml:2:24: kernel.registration: '5' needs a unit: ps, ns, us, ms or s\n");
  CHECK(run_with("kernel: {registration: 5GB}\n") ==
        "my.yaml:2:24: kernel.registration: '5GB' has an unknown unit; allowed: ps, ns, us, ms or s\n");
  CHECK(run_with("nic: {walks: 5000}\n") == "my.yaml:2:14: nic.walks: 5000 is above the maximum 4096\n");
  CHECK(run_with("nic: {walks: 0}\n") == "my.yaml:2:14: nic.walks: 0 is below the minimum 1\n");
}

TEST_CASE("A range that is registered on more NICs than its host has is refused") {
  CHECK(run_with("workload: {kind: chunked, nics: 2}\n") ==
        "workload.nics: host client0 has no NIC 'nic1'; with host.nics=1 it has nic0; did you mean 'nic0'?\n");
  CHECK(run_with("host: {nics: 17}\n") == "my.yaml:2:14: host.nics: 17 is above the maximum 16\n");
}

TEST_CASE("The parameters of a range that is registered in chunks are checked at their places") {
  CHECK(run_with("workload: {kind: chunked, touch: some}\n") == "my.yaml:2:34: workload.touch: 'some' is not one of: none, one, all\n");
  CHECK(run_with("workload: {kind: chunked, chunk: 6KiB}\n") == "my.yaml:2:34: workload.chunk: must be whole pages of 4KiB\n");
  CHECK(run_with("workload: {kind: chunked, region: 1GiB, chunk: 4KiB, clients: 100}\n") ==
        "my.yaml:2:48: workload.chunk: 262144 MRs on each of 1 NICs of 100 clients are too many: more than 16777216 in all\n");
}

TEST_CASE("Values within a range that no hardware has are refused at their place") {
  CHECK(run_with("network: {mtu: 3KiB}\n") == "my.yaml:2:16: network.mtu: a path MTU is one of 256B, 512B, 1KiB, 2KiB and 4KiB\n");
  CHECK(run_with("pcie: {lanes: 3}\n") == "my.yaml:2:15: pcie.lanes: a link has 1, 2, 4, 8, 12, 16 or 32 lanes\n");
  CHECK(run_with("host: {memory: {size: 65MiB}}\n") == "my.yaml:2:23: host.memory.size: must be a whole number of 64MiB regions\n");
}

TEST_CASE("Credits, buffers, IOTLBs and caches that cannot be are refused at the place of what does not fit") {
  CHECK(run_with("pcie: {completion: 32B}\n") == "my.yaml:2:20: pcie.completion: must be 0B, or from 64B to pcie.max_payload\n");
  CHECK(run_with("pcie: {completion_buffer: 511B}\n") ==
        "my.yaml:2:27: pcie.completion_buffer: must be 0B, or hold what one request asks for: pcie.max_read_request\n");
  CHECK(run_with("pcie: {write_data_credits: 64B}\n") ==
        "my.yaml:2:28: pcie.write_data_credits: must be 0B, or be enough for one write of pcie.max_payload\n");
  CHECK(run_with("host: {iommu: {levels: 2}}\n") == "my.yaml:2:24: host.iommu.levels: must be 0, or 3 to 5\n");
  CHECK(run_with("host: {iommu: {iotlb_ways: 5}}\n") ==
        "my.yaml:2:28: host.iommu.iotlb_ways: must divide host.iommu.iotlb_entries, which is 112\n");
  CHECK(run_with("host: {llc: {size: 1000B}}\n") ==
        "my.yaml:2:20: host.llc.size: must be a whole number of sets: of 20 ways of 64B each\n");
  CHECK(run_with("host: {llc: {write_ways: 21}}\n") == "my.yaml:2:26: host.llc.write_ways: must not be above host.llc.ways, which is 20\n");
  CHECK(run_with("workload: {kind: dma, regions: 2, stride: 4KiB}\n") ==
        "my.yaml:2:32: workload.regions: must be 1 in a workload of the kind dma\n"
        "my.yaml:2:43: workload.stride: must be 0B in a workload of the kind dma\n");
  CHECK(run_with("workload: {kind: dma, seed: 0}\n") == "my.yaml:2:29: workload.seed: must not be 0 in a workload of the kind dma\n");
}

TEST_CASE("Keys that do not fit the places for contexts are refused, and contexts that do not fit the table space") {
  CHECK(run_with("nic: {contexts: 1048576}\ndriver: {keys: random_start}\n") ==
        "my.yaml:2:17: nic.contexts: must be 16777216 for driver.keys 'random_start', whose keys lie that far apart\n");
  CHECK(run_with("nic: {contexts: 16777216, table_space: 1GiB}\n") ==
        "my.yaml:2:40: nic.table_space: must hold more than the contexts, which take 64 bytes each\n");
}

TEST_CASE("Limits of the key cache that are not of their form are refused at their place") {
  CHECK(run_with("driver: {cache_limits: 250y12}\n") ==
        "my.yaml:2:24: driver.cache_limits: takes up to 40 numbers with spaces between them, each up to 65535; 250x12 stands for twelve of "
        "them\n");
}

TEST_CASE("Access flags that there are not are refused at their place") {
  CHECK(run_with("driver: {refused_access: zb hugetlb}\n") ==
        "my.yaml:2:26: driver.refused_access: takes access flags of lw rr rw ra mw zb od ht ro fg fp with spaces between them\n");
}

TEST_CASE("The name of a component that does not exist is told with those that do") {
  CHECK(run_with("nic: {translation: flat_mmt}\n") ==
        "my.yaml:2:20: nic.translation: there is no translation architecture 'flat_mmt'; known: ats, device, flat_mtt, inline, klm, "
        "ksm, mapped_icm, page_table, pble, physical, process_page_table, radix, range; did you mean 'flat_mtt'?\n");
}

TEST_CASE("Caches that cannot be are refused at the place of what does not fit") {
  CHECK(run_with("nic: {mtt_cache: {replacement: plu}}\n") ==
        "my.yaml:2:32: nic.mtt_cache.replacement: there is no replacement policy 'plu'; known: drrip, fifo, lru, plru, random, srrip; did "
        "you mean 'plru'?\n");
  CHECK(run_with("nic: {mpt_cache: {index: hashd}}\n") ==
        "my.yaml:2:26: nic.mpt_cache.index: there is no index function 'hashd'; known: hashed, modulo, skewed; did you mean 'hashed'?\n");
  CHECK(run_with("nic: {mtt_cache: {index: skewed, replacement: plru}}\n") ==
        "my.yaml:2:47: nic.mtt_cache.replacement: plru keeps something for each set, and with the index skewed there are no sets\n");
  CHECK(run_with("nic: {mtt_cache: {prefetch: nextline}}\n") ==
        "my.yaml:2:29: nic.mtt_cache.prefetch: there is no prefetcher 'nextline'; known: next_line, none, stride; did you mean "
        "'next_line'?\n");
  CHECK(run_with("nic: {mtt_cache: {lines: 0, prefetch: stride}}\n") ==
        "my.yaml:2:39: nic.mtt_cache.prefetch: a cache without lines has no room for what is fetched ahead\n");
  CHECK(run_with("nic: {mtt_cache: {lines: 100}}\n") == "my.yaml:2:26: nic.mtt_cache.lines: must be a multiple of the ways, which are 8\n");
  CHECK(run_with("nic: {mpt_cache: {ways: 0, pd_ways: 2}}\n") ==
        "my.yaml:2:37: nic.mpt_cache.pd_ways: a quota counts the ways of a set, and a fully associative cache has one set of all lines\n");
  CHECK(run_with("nic: {mtt_cache: {table_write: ignore}}\n") ==
        "my.yaml:2:32: nic.mtt_cache.table_write: 'ignore' is not one of: invalidate, update\n");
  CHECK(run_with("nic: {mtt_cache: {on_miss: block}}\n") == "my.yaml:2:28: nic.mtt_cache.on_miss: 'block' is not one of: pass, stall\n");
  CHECK(run_with("nic: {mtt_cache: {banks: 4}}\n") ==
        "my.yaml:2:26: nic.mtt_cache.banks: without nic.mtt_cache.interval no look-up waits for another, however many there are\n");
  CHECK(run_with("nic: {cache_pool: {lines: 64, mpt_ways: 9}}\n") ==
        "my.yaml:2:41: nic.cache_pool.mpt_ways: a set of the pool has 8 ways\n");
  CHECK(run_with("nic: {cache_pool: {lines: 64, ways: 0, mtt_ways: 2}}\n") ==
        "my.yaml:2:50: nic.cache_pool.mtt_ways: a fully associative pool has no ways to share out\n");
  CHECK(run_with("nic: {cache_pool: {lines: 64}, mtt_cache: {level2: {lines: 64}}}\n") ==
        "my.yaml:2:60: nic.mtt_cache.level2.lines: nic.cache_pool is the second level already; a kind of line has one\n");
  CHECK(run_with("nic: {cache_pool: {lines: 64}, mtt_cache: {line: 128B}}\n") ==
        "my.yaml:2:27: nic.cache_pool.lines: a pool holds lines of one size, and nic.mpt_cache.line is not nic.mtt_cache.line\n");
}

TEST_CASE("What does not go together of QP contexts, turns of QPs and connections is told at its place") {
  CHECK(run_with("nic: {qp_cache: {level2: {lines: 64}}}\n") ==
        "my.yaml:2:34: nic.qp_cache.level2.lines: without nic.qp_cache.enabled every context is always at hand, and no cache holds any\n");
  CHECK(run_with("nic: {cache_pool: {lines: 64}, qp_cache: {enabled: true, level2: {lines: 64}}}\n") ==
        "my.yaml:2:74: nic.qp_cache.level2.lines: nic.cache_pool is the second level already; a kind of line has one\n");
  CHECK(run_with("nic: {qp_cache: {lines: 10, ways: 4}}\n") ==
        "my.yaml:2:25: nic.qp_cache.lines: must be a multiple of the ways, which are 4\n");
  CHECK(run_with("nic: {request_cache: {replacement: newest}}\n") ==
        "my.yaml:2:36: nic.request_cache.replacement: there is no replacement policy 'newest'; known: drrip, fifo, lru, plru, random, "
        "srrip\n");
  CHECK(run_with("nic: {qp_cache: {agent: payload}}\n") == "my.yaml:2:25: nic.qp_cache.agent: 'payload' is not one of: tables, control\n");
  CHECK(run_with("nic: {requester: {qp_order: bursts}}\n") ==
        "my.yaml:2:29: nic.requester.qp_order: there is no order of QPs 'bursts'; known: burst, exhaustive, round_robin; did you mean "
        "'burst'?\n");
  const std::string kind = "workload: {kind: connections, signal_every: 1, ";
  CHECK(run_with(kind + "qps: 1, threads: 3, connections: 16}\n") ==
        "my.yaml:2:81: workload.connections: 16 cannot be shared out evenly among 3 threads in all\n");
  CHECK(run_with(kind + "qps: 2, connections: 16}\n") ==
        "my.yaml:2:53: workload.qps: with workload.connections given, each thread has its share of them\n");
  CHECK(run_with(kind + "outstanding: 4, batch: 5}\n") == "my.yaml:2:71: workload.batch: 5 is above the 4 that a thread has outstanding\n");
  CHECK(run_with("workload: {kind: connections, signal_every: 2}\n") ==
        "my.yaml:2:45: workload.signal_every: every request of this kind asks for a completion\n");
}

TEST_CASE("An IOMMU mode that does not exist is told with those that do") {
  CHECK(run_with("host: {iommu: {mode: translated}}\n") ==
        "my.yaml:2:22: host.iommu.mode: there is no mode of an IOMMU 'translated'; known: off, passthrough, translate; did you mean "
        "'translate'?\n");
}

TEST_CASE("Page sizes that differ within an MR are refused where the table cannot hold them") {
  CHECK(run_with("driver: {page_size: per_run}\n") ==
        "my.yaml:2:21: driver.page_size: per_run needs a table whose entries may differ in size, and those of flat_mtt may not; take best "
        "for one size that fits the whole MR, or none for 4 KiB\n");
}

TEST_CASE("What a translation architecture cannot do with is told") {
  CHECK(run_with("nic: {translation: range, mtt_cache: {line: 16B}}\n") ==
        "my.yaml:2:45: nic.mtt_cache.line: must be at least 32B for nic.translation 'range'\n");
  CHECK(run_with("nic: {translation: ksm, mtt_cache: {line: 8B}}\n") ==
        "my.yaml:2:43: nic.mtt_cache.line: must be at least 16B for nic.translation 'ksm'\n");
  CHECK(run_with("nic: {translation: ksm, child: 5000B}\n") == "my.yaml:2:32: nic.child: must be a power of two\n");
  CHECK(run_with("nic: {translation: ats}\nhost: {iommu: {mode: passthrough}}\n") ==
        "my.yaml:3:22: host.iommu.mode: nic.translation 'ats' asks the IOMMU for translations, and this one has none to give; take "
        "translate\n");
  CHECK(run_with("nic: {translation: process_page_table}\nhost: {iommu: {mode: translate}}\n") ==
        "my.yaml:3:22: host.iommu.mode: nic.translation 'process_page_table' finds physical addresses, which an IOMMU that translates does "
        "not know; take off or passthrough\n");
  CHECK(run_with("nic: {icm_page: 5000B}\n") == "my.yaml:2:17: nic.icm_page: must be a power of two\n");
  CHECK(run_with("nic: {translation: page_tabel}\ndriver: {page_size: per_run}\n") ==
        "my.yaml:2:20: nic.translation: there is no translation architecture 'page_tabel'; known: ats, device, flat_mtt, inline, klm, "
        "ksm, mapped_icm, page_table, pble, physical, process_page_table, radix, range; did you mean 'page_table'?\n");
}

TEST_CASE("A misspelt kind of workload is the only complaint") {
  CHECK(run_with("workload: {kind: per_opp}\n") ==
        "my.yaml:2:18: workload.kind: 'per_opp' is not one of: chunked, connections, dma, ladder, per_op, pool, registration_cache, "
        "sequential, "
        "uniform; did "
        "you mean "
        "'per_op'?\n");
  const TempFolder folder;
  CHECK(refusal(folder, {"gen", folder.write("my.yaml", base + "workload: {kind: per_opp}\n"), "-o", "-"}) ==
        "my.yaml:2:18: workload.kind: 'per_opp' is not one of: chunked, connections, dma, ladder, per_op, pool, registration_cache, "
        "sequential, "
        "uniform; did "
        "you mean "
        "'per_op'?\n");
}

TEST_CASE("A configuration that runs nothing says so") {
  const TempFolder folder;
  CHECK(refusal(folder, {"run", folder.write("my.yaml", "rules: ib\nnic: {walks: 8}\n")}) ==
        "nothing to run: the configuration has no workload and no trace was given\n");
}

TEST_CASE("Files that are missing, empty or go round in circles are told by name") {
  const TempFolder folder;
  CHECK(refusal(folder, {"run", folder.path("absent.yaml")}) == "absent.yaml: cannot be read: No such file or directory\n");
  CHECK(refusal(folder, {"run", folder.write("my.yaml", "extends: [nics/cx9.yaml]\n")}) ==
        "my.yaml:1:11: extends: nics/cx9.yaml cannot be read: No such file or directory\n");
  CHECK(refusal(folder, {"run", folder.write("empty.yaml", "")}) ==
        "empty.yaml: must hold a map of sections such as 'nic:', but is empty\n");
  folder.write("a.yaml", "extends: b.yaml\n");
  CHECK(refusal(folder, {"run", folder.write("b.yaml", "extends: a.yaml\n")}) ==
        "a.yaml:1:10: extends: b.yaml extends itself, directly or through others\n");
}

TEST_CASE("A key given twice, a value of the wrong type and broken YAML are told with their places") {
  CHECK(run_with("nic:\n  walks: 8\n  clock: 1GHz\n  walks: 9\n") == "my.yaml:5:3: nic.walks: given twice; first at line 3\n");
  CHECK(run_with("nic: 5\n") == "my.yaml:2:6: nic: wants a section of keys (" + nic_keys + "), but is the value '5'\n");
  CHECK(run_with("nic: {walks: [1, 2]}\n") == "my.yaml:2:14: nic.walks: wants a single value (count, 1 to 4096), but is a list\n");
  CHECK(run_with("nic:\n  walks: 5\n walks: 4\n") == "my.yaml:4:2: not valid YAML: end of map not found\n");
  CHECK(run_with("nic:\n\twalks: 5\n") ==
        "my.yaml:3:7: not valid YAML: illegal map value; line 3 is indented with a tab, where YAML wants spaces\n");
}

TEST_CASE("A wrong --set is told as it was typed") {
  CHECK(run_with_set("nic.walks") == "--set nic.walks: wants PATH=VALUE, such as nic.mtt_cache.ways=4\n");
  CHECK(run_with_set("nic.wlaks=4") ==
        "--set nic.wlaks=4: nic.wlaks: unknown key; allowed here: " + nic_keys + "; did you mean 'walks'?\n");
  CHECK(run_with_set("network.rate=100Gbps") ==
        "--set network.rate=100Gbps: network.rate: '100Gbps' has an unknown unit; allowed: b/s, Kb/s, Mb/s, Gb/s or Tb/s (bits, not "
        "bytes)\n");
}

TEST_CASE("All mistakes are told at once, those of variants too") {
  CHECK(run_with("rules: ibb\nnic: {walks: 0}\nkernel: {syscall: fast}\n") ==
        "my.yaml:2:8: rules: 'ibb' is not one of: hns, ib, irdma, mlx4, mlx5, rxe-6.1, rxe-6.12, siw; did you mean 'ib'?\n"
        "my.yaml:3:14: nic.walks: 0 is below the minimum 1\n"
        "my.yaml:4:19: kernel.syscall: 'fast' is not a number with a unit (ps, ns, us, ms or s)\n");
  CHECK(run_with("variants:\n  one: {nic: {walks: 0}}\n  two: {pcie: {lanes: 5}}\n") ==
        "my.yaml:3:22: nic.walks: 0 is below the minimum 1\n"
        "my.yaml:4:23: pcie.lanes: a link has 1, 2, 4, 8, 12, 16 or 32 lanes\n");
}

TEST_CASE("A misspelt command names the nearest known one") {
  const TempFolder folder;
  const std::string text = refusal(folder, {"runn", "my.yaml"});
  // Whether there is a replay depends on libibverbs.
  CHECK(text.find("there is no command 'runn'; known: run, ") == 0);
  CHECK(text.find("check, describe, gen, validate, compare; did you mean 'run'?\n") != std::string::npos);
}

TEST_CASE("mtsim check tells the same as a run, and ok of what is right") {
  const TempFolder folder;
  const std::string wrong = folder.write("my.yaml", base + "nic: {walks: 0}\n");
  CHECK(refusal(folder, {"check", wrong}) == "my.yaml:2:14: nic.walks: 0 is below the minimum 1\n");
  const CommandResult right = run_command({"check", folder.write("right.yaml", base)});
  CHECK(right.code == 0);
  CHECK(right.out == "ok\n");
  CHECK(right.err.empty());
}
