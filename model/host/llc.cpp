#include "host/llc.h"

#include "base/sections.h"

namespace mtsim::host {
namespace {

const Sections::Entrant<LlcParams> declared;

}  // namespace

void LlcParams::declare(Declaration<LlcParams>& d) {
  d.section("host.llc", "The last-level cache of a host, as its devices see it.");
  d.field("size", &LlcParams::size)
      .standard("0B")
      .range("0B", "1GiB")
      .means("Size; 0: not modelled, and every read of a device takes host.root_complex.read_latency.")
      .source("modelling choice");
  d.field("ways", &LlcParams::ways)
      .standard("20")
      .range("1", "64")
      .means("Ways; size over 64 B lines must be a multiple.")
      .source("Xeon E5 v3 and v4: 20 ways");
  d.field("write_ways", &LlcParams::write_ways)
      .standard("2")
      .range("0", "64")
      .means("Ways that writes of devices may be placed in (DDIO); 0: they go to memory.")
      .source("Xeon E5: 2 of 20 ways (Intel Data Direct I/O Technology, 10 % of the cache)");
  d.field("miss", &LlcParams::miss)
      .standard("80ns")
      .range("0ns", "10us")
      .means("What a read whose lines are not all there takes longer: memory's latency.")
      .source("P1: a 64 B read takes 520 ns cold and 440 ns warm");
  d.field("cpu_warm", &LlcParams::cpu_warm)
      .standard("true")
      .means("Whether WQEs, lists and mailboxes, which a CPU has just written, are there when a device reads them.")
      .source("estimate: a CPU's caches answer a device's read (MESI), as the last-level cache does");
}

bool Llc::read(Pa address, Bytes length, bool just_written) {
  bool all = true;
  each_line(address, length, [&](std::uint64_t number) {
    if (just_written && params_.cpu_warm) lines_.put(number);
    const bool hit = lines_.find(number).has_value();
    ++counts_.reads;
    counts_.read_hits += hit;
    all = all && hit;
  });
  return all;
}

void Llc::write(Pa address, Bytes length) {
  each_line(address, length, [&](std::uint64_t number) {
    ++counts_.writes;
    counts_.write_hits += lines_.holds(number);
    if (params_.write_ways == 0) lines_.drop(number);
    else lines_.put(number, params_.write_ways);
  });
}

bool Llc::walk(std::uint64_t line_number) {
  const bool hit = lines_.find(line_number).has_value();
  if (!hit) lines_.put(line_number);
  ++counts_.reads;
  counts_.read_hits += hit;
  return hit;
}

void Llc::fill(Pa address, Bytes length) {
  const Bytes kept = std::min(length, params_.size);
  if (kept.raw != 0) each_line(address + (length - kept), kept, [&](std::uint64_t number) { lines_.put(number); });
}

void Llc::flush(Pa address, Bytes length) {
  if (length.raw != 0) each_line(address, length, [&](std::uint64_t number) { lines_.drop(number); });
}

}  // namespace mtsim::host
