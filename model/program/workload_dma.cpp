// `dma`: programs on each client's NIC move data between it and the host's memory; nothing is sent.
#include <fmt/format.h>

#include <limits>

#include "base/sections.h"
#include "program/workload_kinds.h"

namespace mtsim::program {

namespace {

/// One call that makes all of a thread's transfers.
class OneCall final : public Cursor {
 public:
  OneCall(const Workload::ClientThread& thread, const verbs::DmaRequest& request) : thread_(thread), request_(request) {}
  bool next(Op& op) override {
    if (done_) return false;
    done_ = true;
    op.clear();
    op.kind = Kind::dma;
    op.actor = thread_.actor;
    op.id = op.mr = thread_.mr;
    op.dma = request_;
    return true;
  }

 private:
  const Workload::ClientThread& thread_;
  verbs::DmaRequest request_;
  bool done_ = false;
};

class Dma final : public Workload {
 public:
  Dma(const Shape& shape, const FootprintParams& footprint, const UniformParams& uniform, const DmaParams& params)
      : Workload("dma", shape, {.region = page_bytes, .client = footprint.footprint, .client_registered = true, .window = 1}) {
    add_use("dma");
    request_.kind = params.type;
    request_.length = shape.block;
    request_.count = static_cast<std::uint32_t>(shape.operations);
    request_.depth = shape.window;
    request_.window = footprint.footprint;
    request_.seed = params.order == DmaParams::Order::random ? uniform.seed : 0;
    request_.cache = params.cache;
    request_.direct = !params.engine;
  }

 private:
  std::unique_ptr<Cursor> work(const ClientThread& t) const override {
    verbs::DmaRequest request = request_;
    // Threads draw places of their own.
    if (request.seed != 0) request.seed += t.actor * std::uint64_t{0x9E3779B97F4A7C15};
    return std::make_unique<OneCall>(t, request);
  }
  std::uint64_t work_size(const ClientThread&) const override { return 1; }

  verbs::DmaRequest request_;
};

const Sections::Entrant<DmaParams> declared;
const Workloads::Entrant entrant("dma", "The NIC's DMA engine alone: reads or writes of a footprint of the client's own memory.",
                                 [](const Config& config) -> std::unique_ptr<Workload> {
                                   const auto [shape, footprint] = read_checked<FootprintParams>(config);
                                   const auto uniform = config.read<UniformParams>();
                                   if (uniform.seed == 0) config.fail("workload.seed", "must not be 0 in a workload of the kind dma");
                                   // Each client has one MR, and places follow from `block`.
                                   if (footprint.regions != 1) config.fail("workload.regions", "must be 1 in a workload of the kind dma");
                                   if (footprint.stride.raw != 0)
                                     config.fail("workload.stride", "must be 0B in a workload of the kind dma");
                                   if (shape.operations > std::numeric_limits<std::uint32_t>::max())
                                     config.fail("workload.operations", "must be below 2^32 in a workload of the kind dma");
                                   return make_dma(shape, footprint, uniform, config.read<DmaParams>());
                                 });

}  // namespace

void DmaParams::declare(Declaration<DmaParams>& d) {
  using Type = verbs::DmaRequest::Kind;
  using Cache = verbs::DmaRequest::Cache;
  const char* const free_choice = "a choice, not a property of hardware";
  d.section("workload",
            "Of the kind `dma`: `block` bytes a transfer, `window` in flight, over `footprint` bytes of each client's MR. Of the QPs' "
            "keys none has an effect.");
  d.choice("type", &DmaParams::type, {{"read", Type::read}, {"write", Type::write}, {"write_read", Type::write_read}})
      .standard("read")
      .means("What a transfer does with the host's memory; write_read writes and reads back the same bytes, timed together.")
      .source(free_choice);
  d.choice("order", &DmaParams::order, {{"random", Order::random}, {"sequential", Order::sequential}})
      .standard("random")
      .means("How transfers go through the footprint, at multiples of `block` rounded up to 64 B.")
      .source(free_choice);
  d.choice("cache", &DmaParams::cache, {{"as_is", Cache::as_is}, {"warm", Cache::warm}, {"cold", Cache::cold}})
      .standard("as_is")
      .means("How the CPU leaves the footprint before: as it is, just written, or flushed. Of effect with host.llc only.")
      .source(free_choice);
  d.field("engine", &DmaParams::engine)
      .standard("true")
      .means("Whether transfers go through the NIC's DMA engine, with descriptors; otherwise its processors make them themselves.")
      .source(free_choice);
}

std::unique_ptr<Workload> make_dma(const Shape& shape, const FootprintParams& footprint, const UniformParams& uniform,
                                   const DmaParams& params) {
  return std::make_unique<Dma>(shape, footprint, uniform, params);
}

}  // namespace mtsim::program
