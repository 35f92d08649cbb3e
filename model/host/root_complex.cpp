#include "host/root_complex.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "base/error.h"
#include "base/quantity_text.h"
#include "base/sections.h"

namespace mtsim::host {
namespace {

const Sections::Entrant<RootComplexParams> declared;

}  // namespace

void RootComplexParams::declare(Declaration<RootComplexParams>& d) {
  d.section("host.root_complex", "The root complex of a host and the way from it to memory.");
  d.field("read_latency", &RootComplexParams::read_latency)
      .standard("190ns")
      .range("0ns", "10us")
      .means("From the arrival of a read request at the root complex to its first data.")
      .source("estimate (P1: 440 ns for a 64 B read that hits the last-level cache, less two ways through the link)");
  d.field("write_latency", &RootComplexParams::write_latency)
      .standard("70ns")
      .range("0ns", "10us")
      .means("From the arrival of a posted write at the root complex until a CPU sees it.")
      .source("estimate (N3)");
}

RootComplex::RootComplex(sc_core::sc_module_name module_name, const RootComplexParams& params, const FramePoolParams& memory,
                         const LlcParams& cache, const IommuParams& iommu)
    : sc_module(module_name), params_(params), frames_(memory), iommu_params_(iommu) {
  if (cache.size.raw != 0) llc_ = std::make_unique<Llc>(cache);
}

Pa RootComplex::allocate(Bytes length, Bytes align) {
  const auto extent = frames_.allocate_contiguous(length, align);
  if (!extent)
    throw UserError(fmt::format("{}: no {} of contiguous memory left for the NIC's queues and tables; host.memory.size is too small",
                                name(), text::show(length)));
  const Pa address = frames_.law().address(*extent, 0);
  allocated_.emplace(address, *extent);
  return address;
}

void RootComplex::release(Pa address, Bytes) {
  const auto found = allocated_.find(address);
  assert(found != allocated_.end());
  frames_.release(found->second);
  allocated_.erase(found);
}

RootComplex::Device& RootComplex::device(std::uint32_t number) {
  if (number >= devices_.size()) devices_.resize(number + 1);
  return devices_[number];
}

void RootComplex::translate_by(const IoPageTable* table, unsigned levels) {
  Device& next = device(told_++);
  next.table = table;
  if (table == nullptr) return;
  if (!iommu_) iommu_ = std::make_unique<Iommu>(iommu_params_, levels, memory_end(), llc_.get());
  next.domain = domains_++;
  iommu_->add_domain(*table);
}

std::optional<Pa> RootComplex::resolve(Pa address) const {
  const IoPageTable* table = devices_.empty() ? nullptr : devices_.front().table;
  if (table == nullptr || address < memory_end()) return address;
  return table->translate(address);
}

RootComplex::Reached RootComplex::reach(const ports::MemoryAccess& access, Time now) {
  const Device& from = device(access.device);
  if (from.table == nullptr || access.translated) return {access.address, access.length, now};
  const Iommu::Answer answer = iommu_->translate(from.domain, access.address, now);
  return {answer.address, std::min(access.length, answer.length), answer.at};
}

// A read does not overtake a write of its device that waits for its translation (PCI Express, table of ordering rules).
RootComplex::Served RootComplex::read(const ports::MemoryAccess& access, Time now) {
  const Reached reached = reach(access, now);
  Time at = std::max(reached.at, device(access.device).posted) + params_.read_latency;
  if (llc_ && !llc_->read(reached.address, reached.length, access.just_written)) at += llc_->params().miss;
  return {reached.length, at};
}

// One that may not overtake waits for those before it; one that may is itself not overtaken by others that may not.
Time RootComplex::write(const ports::MemoryAccess& access, Time now) {
  Time at = now;
  for (ports::MemoryAccess rest = access; rest.length.raw != 0;) {
    const Reached reached = reach(rest, now);
    if (llc_) llc_->write(reached.address, reached.length);
    at = std::max(at, reached.at);
    rest.address += reached.length;
    rest.length -= reached.length;
  }
  Time& posted = device(access.device).posted;
  if (!access.relaxed) at = std::max(at, posted);
  posted = std::max(posted, at);
  return at;
}

ports::Translation RootComplex::translate(std::uint32_t number, Pa address, Time now) {
  const Device& from = device(number);
  if (from.table == nullptr) return HostMemory::translate(number, address, now);
  const Iommu::Answer answer = iommu_->translate(from.domain, address, now);
  return {answer.address, answer.length, answer.at, !answer.fault};
}

}  // namespace mtsim::host
