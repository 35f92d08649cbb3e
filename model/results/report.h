// What a run found, as plain values. The simulator and real hardware fill the same structs; the printers beside this file read them.
// Nothing here depends on the machine that ran it except `Machine`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "results/latency_table.h"
#include "results/waits.h"
#include "verbs/types.h"

namespace mtsim::results {

/// Version of the JSON's layout. It rises when a reader of the older layout would misread the newer.
inline constexpr unsigned schema_version = 1;

/// Work requests of one opcode within the measured window. Receives are listed too, from their message's arrival on; sums over all opcodes
/// leave them out, since the sender's request counts already.
struct OperationStats {
  verbs::Opcode opcode = verbs::Opcode::write;
  std::uint64_t posted = 0;
  std::uint64_t completed = 0;   ///< finished with any status, whether or not a CQE was asked for
  Bytes bytes;                   ///< payload of those that succeeded
  LatencyTable latency;          ///< of those that succeeded: from the post call's start to the CQE in memory, or where it would be
  std::vector<WaitStats> waits;  ///< of the same; empty where none waited, or where that was not noted (run.measures)
};

/// What a call or a completion answered other than the program expected.
struct Unexpected {
  std::uint64_t line = 0;  ///< of the trace, from 1; a workload's operation number
  std::string actor;       ///< `a.t0`
  std::string operation;   ///< `poll cq wr=2`
  std::string expected;    ///< `SUCCESS`
  std::string got;         ///< `REM_ACCESS_ERR`
};

/// Calls of one kind: reg_mr or dereg_mr.
struct CallStats {
  std::uint64_t calls = 0;              ///< failed ones included
  std::map<int, std::uint64_t> failed;  ///< by errno
  Bytes bytes;                          ///< of the ranges that succeeded
  Pages pages;                          ///< base pages that those ranges touch
  LatencyTable latency;                 ///< of calls that succeeded
};

struct NamedCalls : CallStats {
  std::string name;
};

/// A part of the measured window that a program has timed by itself.
struct PhaseStats {
  std::string name;         ///< `registration`
  std::uint64_t times = 0;  ///< it may come again and again
  Time time;                ///< over all of them
  Bytes bytes;              ///< of memory regions registered or deregistered meanwhile
};

/// A host whose memory ran short, or whose pages were moved behind the program's back.
struct MemoryStats {
  std::string host;
  std::uint64_t swapped_out = 0, swapped_in = 0, dropped = 0, migrated = 0;  ///< 4 KiB pages
  std::uint64_t killed = 0;                                                  ///< processes that the kernel ended for want of memory
  // How things stood when it did.
  Time killed_at;
  Bytes size, resident, pinned, in_swap;
  std::uint64_t pinned_regions = 0;
  std::string killed_process;   ///< empty: the host's first
  std::uint64_t processes = 0;  ///< that there were
  /// 4 KiB pages that were pinned and that the program's writes moved away from: the NIC has other ones.
  std::uint64_t left_pins = 0;
};

/// Data of one host that were wrong without an error.
struct HazardStats {
  std::string host;
  struct Counts {
    std::uint64_t requests = 0;   ///< of the host, that ended with SUCCESS
    std::uint64_t receives = 0;   ///< the same
    std::uint64_t transfers = 0;  ///< by its NIC, in its memory; of requests that no completion tells of as well
    bool any() const { return requests + receives + transfers != 0; }
  };
  Counts stale, foreign;
};

enum class HazardReason : std::uint8_t { unmapped, other_page, other_key };
inline constexpr std::array<const char*, 3> hazard_reason_names{"unmapped", "other_page", "other_key"};

/// One transfer of them.
struct HazardEvent {
  std::string kind;  ///< `stale` or `foreign`
  Time at;
  std::string host;                    ///< whose memory it is
  std::string operation;               ///< `a write wr=1 on QP 0x40`
  bool writes = false;                 ///< memory was written
  std::uint64_t address = 0, key = 0;  ///< as the operation has them
  std::uint64_t memory = 0;            ///< where the process has it
  HazardReason why = HazardReason::unmapped;
};

/// A resource that registrations of one host contend for.
struct Contention {
  std::string name;  ///< the resource's
  std::string host;
  std::uint64_t calls = 0;  ///< of reg_mr, rereg_mr and dereg_mr
  TotalTime alone;          ///< what they took all together, less all their waits for each other
  TotalTime kept;           ///< for how long they had the resource, summed over its units
};

/// How the memory of a host stood from the start of the run on: values hold from one time to the next, a few hundred at most.
struct MemorySeries {
  std::string host;
  std::vector<Time> at;
  std::vector<Bytes> free, pinned, swapped;
};

/// How busy units were over time: each point tells of the time since the one before it.
struct Occupancy {
  struct Unit {
    std::string name;            ///< as of resources; `a.nic.requests` are those outstanding
    std::uint64_t capacity = 0;  ///< of buffers in bytes; 0: no limit
    bool level = false;          ///< in use at that time, and not on average since the one before
    std::vector<double> in_use;
  };
  Time from;  ///< where the first begins
  std::vector<Time> at;
  std::vector<Unit> units;  ///< those that were used at all
};

struct RegistrationStats {
  CallStats reg_mr, dereg_mr;
  std::vector<NamedCalls> others;  ///< rereg_mr, when there was one
  std::vector<Contention> contention;
  Bytes pinned_now, pinned_most;
};

/// look-ups = hits + misses; a miss that waits for a fetch under way counts as a miss of that fetch's cause.
struct CacheStats {
  std::string name;  ///< hierarchical and unique: `a.nic.mtt_cache`
  std::uint64_t lookups = 0, hits = 0;
  std::uint64_t misses_cold = 0, misses_capacity = 0, misses_conflict = 0;
  std::uint64_t evictions = 0;
  std::uint64_t fetches_most = 0;  ///< most fetches in flight at one time
  TotalTime miss_time;             ///< from look-up to content, over all misses
  Time miss_longest;
  std::uint64_t misses() const { return misses_cold + misses_capacity + misses_conflict; }
};

/// Look-ups of one NIC that missed, and how many lines they had to fetch one after the other.
struct MissChains {
  struct Chain {
    std::string lines;  ///< kinds of line in order: `mpt, mtt`
    std::uint64_t length = 0, lookups = 0;
    TotalTime total;  ///< from the first miss to the answer, over all
    Time longest;
  };
  std::string name;           ///< `a.nic`
  std::uint64_t without = 0;  ///< look-ups that found all of their lines
  std::uint64_t most = 0;     ///< most look-ups that waited for lines at one time
  std::vector<Chain> chains;  ///< by how they came up first
  std::uint64_t lookups() const {
    std::uint64_t sum = without;
    for (const Chain& c : chains) sum += c.lookups;
    return sum;
  }
};

enum class ResourceKind : std::uint8_t { server, link, cpu, pool };
inline constexpr std::array<const char*, 4> resource_kind_names{"server", "link", "cpu", "pool"};

/// Something that requests contend for.
struct ResourceStats {
  std::string name;  ///< hierarchical and unique: `a.kernel.umr_qp`
  ResourceKind kind = ResourceKind::server;
  std::uint64_t capacity = 1;  ///< units that can be in use at one time
  /// Time in use, summed over its units. A CPU's excludes spinning in a poll, which gives way to any other work.
  Time busy;
  std::uint64_t requests = 0;
  TotalTime waited;  ///< over all requests, from asking to getting a unit
  Time longest_wait;
  std::uint64_t most_in_use = 0;
  Bytes bytes;       ///< moved, for links
  std::string note;  ///< a few words for the reader: `100 Gb/s`
};

/// One direction of one PCIe link.
struct PcieStats {
  std::string name;                                      ///< `a.pcie.up` (NIC to host) or `a.pcie.down`
  std::uint64_t reads = 0, writes = 0, completions = 0;  ///< TLPs by kind
  Bytes payload, header;
  std::uint64_t tag_stalls = 0;  ///< reads that found every tag in use
  Time tag_stall_time;
  std::uint64_t credit_stalls = 0;  ///< TLPs that found no flow-control credit
  Time credit_stall_time;
  Time busy;  ///< time in which a TLP was on the wire
};

struct StepTime {
  std::string step;
  Time time;
};

/// How the CPUs of one host spent the measured window; the parts add up to cpus × window.
struct CpuStats {
  std::string host;
  std::uint64_t cpus = 0;
  Time user, system_call;              ///< system calls other than registration
  std::vector<StepTime> registration;  ///< in reg_mr and dereg_mr, by step
  Time interrupt, polling, idle;
  Time registering() const;
};

/// One output of the switch or of a NIC.
struct PortStats {
  std::string name;
  std::uint64_t packets = 0;
  Bytes bytes;  ///< on the wire, headers included
  Bytes deepest_queue;
};

/// A figure that has no struct of its own.
struct Counter {
  std::string name;  ///< hierarchical and unique
  std::string unit;  ///< as a JSON key carries it: `count`, `bytes`, `ns`
  std::string meaning;
  std::uint64_t value = 0;
  bool level = false;  ///< what there was at the end, not what was counted up to then
};

/// The only figures that differ from one machine and run to the next.
struct Machine {
  double wall_s = 0;
  double operations_per_s = 0;  ///< of wall time
  double events_per_s = 0;
};

/// A check of a NIC's that failed, with what it looked at.
struct Refusal {
  Time at;
  std::string host;
  std::uint64_t qpn = 0;
  std::string operation;  ///< `send wr=7`, or `write of a peer`
  std::string reason;     ///< the check
  std::string detail;     ///< key, range and rights asked for, and what the key gives
};

struct Report {
  std::string version;  ///< release of the tool
  std::uint64_t seed = 0;
  std::string config_hash;
  std::string config;             ///< the full effective configuration as YAML
  std::string trace;              ///< base name of the trace, or the workload's kind
  std::string trace_hash;         ///< empty for a workload
  Time simulated;                 ///< from the start to the last event
  Time window_start, window_end;  ///< what is measured; warm-up lies before it
  bool partial = false;           ///< the run was interrupted
  std::string measured_on;        ///< the device that it was measured on; empty for a simulation, whose times `simulated` and so on are

  std::vector<OperationStats> operations;  ///< by opcode, those that occurred
  /// CQEs by status, whether polled or not.
  std::array<std::uint64_t, verbs::status_count> completions{};
  std::uint64_t unexpected_total = 0;
  std::vector<Unexpected> unexpected;  ///< the first of them
  std::uint64_t refusals_total = 0;
  std::vector<Refusal> refusals;                                     ///< the first of them, by time
  std::map<std::string, std::map<int, std::uint64_t>> failed_calls;  ///< of every kind: call name, errno, how often
  std::vector<PhaseStats> phases;
  RegistrationStats registration;
  std::vector<NamedCalls> calls;  ///< measured: calls of the other kinds
  std::vector<MemoryStats> memory;
  std::vector<MemorySeries> memory_series;
  std::vector<HazardStats> hazards;        ///< of hosts that had any
  std::vector<HazardEvent> hazard_events;  ///< the first of all hosts
  Occupancy occupancy;
  std::vector<CacheStats> caches;
  std::vector<MissChains> miss_chains;  ///< of NICs that had any
  std::vector<ResourceStats> resources;
  std::vector<PcieStats> pcie;
  std::vector<CpuStats> cpus;
  std::vector<PortStats> ports;
  std::vector<Counter> counters;
  std::optional<Machine> machine;

  Time window() const { return window_end - window_start; }
};

/// One of several configurations run together.
struct Variant {
  std::string name;
  Report report;
};

}  // namespace mtsim::results
