#include "host/root_complex.h"

#include <fmt/format.h>

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

RootComplex::RootComplex(sc_core::sc_module_name module_name, const RootComplexParams& params, const FramePoolParams& memory)
    : sc_module(module_name), params_(params), frames_(memory) {}

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

std::optional<Pa> RootComplex::resolve(Pa device) const {
  if (io_pages_ == nullptr || device < FrameLaw::memory_start + page_bytes * frames_.size().raw) return device;
  return io_pages_->translate(device);
}

}  // namespace mtsim::host
