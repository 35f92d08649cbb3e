// Figures that follow from a report and are never stored in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/report.h"

namespace mtsim::results {

std::uint64_t completed_operations(const Report&);
Bytes payload(const Report&);
/// Payload that succeeded, in bits a second of the measured window.
double goodput_bits_per_s(const Report&);
double operations_per_s(const Report&);
/// Bytes registered or deregistered in a phase, by its time.
double bytes_per_s(const PhaseStats&);
/// What is left of the latency of an opcode's operations without their waits.
TotalTime service(const OperationStats&);
/// Latencies of all opcodes together; steps of the same name are added up.
LatencyTable all_latencies(const Report&);

/// Share of the window in which a unit of the resource was in use, on average over its units: 0 to 1.
double utilisation(const ResourceStats&, Time window);
/// Share of the CPU time spent in reg_mr and dereg_mr, over the hosts that spent any; 0 when none did.
double registration_cpu_share(const Report&);

/// A resource counts as saturated from here on.
inline constexpr double saturated_from = 0.9;
/// The resource with the highest utilisation (the first of equals), or null without resources.
const ResourceStats* busiest(const Report&);
/// How many threads that do nothing but register are enough to keep the resource in use all the time: the time of their calls without
/// waits for each other, over the time that these keep the resource. 0: none are, since they do not use it.
double full_from_threads(const Report&, const Contention&);
/// Below this many calls nothing is said about threads.
inline constexpr std::uint64_t contention_told_from = 100;
/// One sentence: which resource saturates and by how much, or that none does and which comes nearest. Another, when there
/// were many registrations: which resource more threads would fill first. Empty without resources.
std::string what_saturates(const Report&);

/// What is at odds with itself, one sentence each: breakdowns that do not add up to the whole, look-ups that are neither hits nor
/// misses, resources used for more than their time. An empty list for every report of a correct model.
std::vector<std::string> contradictions(const Report&);

}  // namespace mtsim::results
