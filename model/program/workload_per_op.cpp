// `per_op`: each block is registered, sent from its own MR, waited for and deregistered. The rest is as in `pool`, so that the two can
// be compared as variants of one configuration.
#include <fmt/format.h>
#include <algorithm>

#include "base/sections.h"
#include "program/workload_closed_loop.h"
#include "program/workload_kinds.h"
#include "program/workload_slots.h"

namespace mtsim::program {

namespace {

/// Up to `depth` blocks of a thread are under way; before the next is registered the oldest is waited for and deregistered.
class BlockByBlock final : public Cursor {
 public:
  BlockByBlock(const Shape& shape, const Workload::ClientThread& t, const SlotSequence& slots, std::vector<NameId> mrs, NameId storage)
      : form_(request_form(shape, t)), thread_(t), slots_(slots), mrs_(std::move(mrs)), storage_(storage), operations_(shape.operations) {}

  bool next(Op& op) override {
    switch (step_) {
      case Step::poll:
        if (ended_ == operations_) return false;
        if (begun_ < operations_ && begun_ - ended_ < mrs_.size()) {
          if (form_.compute_ns == 0) return reg(op);
          form_.compute(op);
          step_ = Step::reg;
          return true;
        }
        if (thread_.qps.size() == 1) form_.poll_next(op);
        else form_.poll_for(op, form_.wr(ended_));
        step_ = Step::dereg;
        return true;
      case Step::dereg:
        begin(op, Kind::dereg_mr, mrs_[ended_ % mrs_.size()]);
        ++ended_;
        step_ = Step::poll;
        return true;
      case Step::reg:
        return reg(op);
      case Step::post:
        post(op);
        return true;
    }
    return false;
  }

 private:
  enum class Step : std::uint8_t { poll, dereg, reg, post };

  void begin(Op& op, Kind kind, NameId mr) const {
    op.kind = kind;
    op.actor = form_.actor;
    op.at_ns = -1;
    op.id = op.mr = mr;
    op.expect.given = false;
  }

  bool reg(Op& op) {
    begin(op, Kind::reg_mr, mrs_[begun_ % mrs_.size()]);
    op.pd = thread_.pd;
    op.address = {thread_.buffer, slots_.local()};
    op.length = form_.length;
    op.whole = op.has_iova = false;
    op.access = verbs::Access::local_write;
    step_ = Step::post;
    return true;
  }

  void post(Op& op) {
    const Place place{{mrs_[begun_ % mrs_.size()], 0}, {storage_, slots_.remote()}};
    form_.post(op, thread_.qps[begun_ % thread_.qps.size()], form_.wr(begun_), true, place);
    slots_.advance();
    ++begun_;
    step_ = Step::poll;
  }

  RequestForm form_;
  const Workload::ClientThread& thread_;
  SlotSequence slots_;
  std::vector<NameId> mrs_;
  NameId storage_;
  std::uint64_t operations_, begun_ = 0, ended_ = 0;
  Step step_ = Step::poll;
};

class PerOp final : public Workload {
 public:
  PerOp(const Shape& shape, const PoolParams& pool, const PerOpParams& params)
      : Workload("per_op", shape,
                 {.region = pool.storage,
                  .client = pool.pool,
                  .client_registered = false,
                  .window = std::max(shape.window, static_cast<std::uint32_t>(ceil_div(params.depth, shape.qps)))}),
        pool_(pool) {
    if (!shape.clean_up) add_use("dereg_mr");
    for (const ClientThread& t : client_threads())
      for (std::uint32_t d = 0; d < params.depth; ++d) mrs_.push_back(add_object(t.host, fmt::format("mr{}_{}", t.thread, d)));
    depth_ = params.depth;
  }

 private:
  std::unique_ptr<Cursor> work(const ClientThread& t) const override {
    const auto first = mrs_.begin() + static_cast<std::ptrdiff_t>(t.actor * depth_);
    const SlotSequence slots(shape(), pool_, t.client, t.thread);
    return std::make_unique<BlockByBlock>(shape(), t, slots, std::vector<NameId>(first, first + static_cast<std::ptrdiff_t>(depth_)),
                                          server().regions[0]);
  }
  std::uint64_t work_size(const ClientThread&) const override { return (shape().compute == Time(0) ? 4 : 5) * shape().operations; }

  PoolParams pool_;
  std::uint64_t depth_ = 0;
  std::vector<NameId> mrs_;  ///< `depth` for each client's thread, in their order
};

const Sections::Entrant<PerOpParams> declared;
const Workloads::Entrant entrant("per_op", "Each block is registered, sent, waited for and deregistered.", [](const Config& config) {
  const auto [shape, pool] = read_checked<PoolParams>(config);
  return make_per_op(shape, pool, config.read<PerOpParams>());
});

}  // namespace

void PerOpParams::declare(Declaration<PerOpParams>& d) {
  d.section("workload",
            "Of the kind `per_op`, which waits for every block: `signal_every` has no effect, and `depth` takes the place of the window.");
  d.field("depth", &PerOpParams::depth)
      .standard("1")
      .range("1", "32768")
      .means("Blocks of each thread that are registered and under way at once.")
      .source("one block after the other (R6)");
}

std::unique_ptr<Workload> make_per_op(const Shape& shape, const PoolParams& pool, const PerOpParams& params) {
  return std::make_unique<PerOp>(shape, pool, params);
}

}  // namespace mtsim::program
