// `pool`: each client registers one MR, cuts it into slots of a block, and each request takes the next slot. Registration is no part of
// the work.
#include <fmt/format.h>

#include "base/sections.h"
#include "program/workload_closed_loop.h"
#include "program/workload_kinds.h"
#include "program/workload_slots.h"

namespace mtsim::program {

namespace {

class Pool final : public Workload {
 public:
  Pool(const Shape& shape, const PoolParams& params)
      : Workload("pool", shape, {.region = params.storage, .client = params.pool, .window = shape.window}), params_(params) {}

 private:
  class Slots final : public Places {
   public:
    Slots(const SlotSequence& slots, NameId mr, NameId storage) : slots_(slots), mr_(mr), storage_(storage) {}
    Place next() override {
      const Place place{{mr_, slots_.local()}, {storage_, slots_.remote()}};
      slots_.advance();
      return place;
    }

   private:
    SlotSequence slots_;
    NameId mr_, storage_;
  };

  std::unique_ptr<Cursor> work(const ClientThread& t) const override {
    const SlotSequence slots(shape(), params_, t.client, t.thread);
    return std::make_unique<ClosedLoop>(shape(), t, std::make_unique<Slots>(slots, t.mr, server().regions[0]));
  }
  std::uint64_t work_size(const ClientThread&) const override { return ClosedLoop::size(shape()); }

  PoolParams params_;
};

const Sections::Entrant<PoolParams> declared;
const Workloads::Entrant entrant("pool", "One MR a client, cut into slots that blocks take in turn.", [](const Config& config) {
  const auto [shape, params] = read_checked<PoolParams>(config);
  return make_pool(shape, params);
});

}  // namespace

void PoolParams::declare(Declaration<PoolParams>& d) {
  d.section("workload", "Of the kinds `pool` and `per_op`: memory that the blocks go through in turn.");
  d.field("pool", &PoolParams::pool)
      .standard("64MiB")
      .range("1B", "64GiB")
      .means("Memory of each client that blocks are taken from.")
      .source("64 MB cut into 16,384 slots (R6)");
  d.field("storage", &PoolParams::storage)
      .standard("64MiB")
      .range("1B", "16TiB")
      .means("Memory of the server, shared out evenly between the clients.")
      .source("the size of one client's pool (R6)");
}

std::vector<Complaint> check(const Shape& shape, const PoolParams& params) {
  std::vector<Complaint> out;
  const auto lacking = [&](const char* key, Bytes has, Bytes wants, const std::string& why) {
    if (has < wants) out.push_back({key, fmt::format("{} bytes are too few: {}", has.raw, why)});
  };
  lacking("pool", params.pool, shape.block, fmt::format("a block has {} bytes", shape.block.raw));
  lacking("storage", params.storage, shape.block * shape.clients,
          fmt::format("{} clients with blocks of {} bytes", shape.clients, shape.block.raw));
  return out;
}

std::unique_ptr<Workload> make_pool(const Shape& shape, const PoolParams& params) { return std::make_unique<Pool>(shape, params); }

}  // namespace mtsim::program
