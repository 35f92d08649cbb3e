// `ladder`: memory of growing size is registered and deregistered, over and over; nothing is sent.
#include <fmt/format.h>

#include <algorithm>

#include "base/sections.h"
#include "program/workload_kinds.h"
#include "program/workload_script.h"

namespace mtsim::program {

namespace {

/// The sizes of the rungs, smallest first. The last is the largest even where the factor does not lead to it.
std::vector<std::uint64_t> rungs(const LadderParams& p) {
  std::vector<std::uint64_t> out;
  const std::uint64_t largest = std::max(p.largest, p.smallest).raw;
  for (std::uint64_t size = p.smallest.raw; size < largest; size *= p.factor) out.push_back(size);
  out.push_back(largest);
  return out;
}

/// One thread's climb. Where the memory is to be touched beforehand a rung maps it once; else each repeat maps it anew, so that every
/// registration meets absent pages.
class Climb final : public Cursor {
 public:
  Climb(const Shape& shape, const LadderParams& params, const Workload::ClientThread& thread, NameId buffer, std::vector<NameId> mrs)
      : params_(params), page_(shape.page), thread_(thread), buffer_(buffer), mrs_(std::move(mrs)), sizes_(rungs(params)) {}

  bool next(Op& op) override {
    switch (step_) {
      case Step::map:
        if (rung_ == sizes_.size()) return false;
        begin(op, Kind::mmap, buffer_);
        op.mmap.length = Bytes(round_up(stride() * mrs_.size(), Script::page_size(page_).raw));
        op.mmap.page = page_;
        step_ = params_.touched ? Step::touch : Step::reg;
        return true;
      case Step::touch:
        begin(op, Kind::touch, buffer_);
        op.whole = op.flag = true;
        step_ = Step::reg;
        return true;
      case Step::reg:
        begin(op, Kind::reg_mr, mrs_[at_]);
        op.pd = thread_.pd;
        op.address = {buffer_, at_ * stride()};
        op.length = sizes_[rung_];
        op.access = verbs::Access::local_write;
        if (++at_ == mrs_.size()) at_ = 0, step_ = Step::dereg;
        return true;
      case Step::dereg:
        begin(op, Kind::dereg_mr, mrs_[at_]);
        if (++at_ == mrs_.size()) at_ = 0, end_round();
        return true;
      case Step::unmap:
        begin(op, Kind::munmap, buffer_);
        op.whole = true;
        if (repeat_ == 0) ++rung_;
        step_ = Step::map;
        return true;
    }
    return false;
  }

  /// Operations of one thread.
  static std::uint64_t size(const LadderParams& p) {
    const std::uint64_t round = 2 * std::uint64_t{p.live};
    return rungs(p).size() * (p.touched ? 3 + p.repeats * round : p.repeats * (2 + round));
  }

 private:
  enum class Step : std::uint8_t { map, touch, reg, dereg, unmap };

  void begin(Op& op, Kind kind, NameId id) const {
    op.clear();
    op.kind = kind;
    op.actor = thread_.actor;
    op.id = id;
    if (kind == Kind::reg_mr || kind == Kind::dereg_mr) op.mr = id;
  }
  /// MRs stand in pages of their own.
  std::uint64_t stride() const { return round_up(sizes_[rung_], page_bytes.raw); }
  void end_round() {
    repeat_ = repeat_ + 1 == params_.repeats ? 0 : repeat_ + 1;
    step_ = params_.touched && repeat_ != 0 ? Step::reg : Step::unmap;
  }

  LadderParams params_;
  verbs::PageKind page_;
  const Workload::ClientThread& thread_;
  NameId buffer_;
  std::vector<NameId> mrs_;
  std::vector<std::uint64_t> sizes_;
  Step step_ = Step::map;
  std::size_t rung_ = 0, at_ = 0;
  std::uint32_t repeat_ = 0;
};

class Ladder final : public Workload {
 public:
  Ladder(const Shape& shape, const LadderParams& params)
      // Each client has one MR beforehand, as any program that communicates: what a driver does for the only MR (mlx4 maps a chunk of its
      // tables, and takes it away with the last) is not what is asked.
      : Workload("ladder", shape, {.region = page_bytes, .client = page_bytes, .client_registered = true, .window = shape.window}),
        params_(params) {
    for (const char* what : {"dereg_mr", "munmap"}) add_use(what);
    for (const ClientThread& t : client_threads()) {
      buffers_.push_back(add_object(t.host, fmt::format("rung{}", t.thread)));
      for (std::uint32_t i = 0; i < params.live; ++i) mrs_.push_back(add_object(t.host, fmt::format("mr{}_{}", t.thread, i)));
    }
  }

 private:
  std::unique_ptr<Cursor> work(const ClientThread& t) const override {
    const auto first = mrs_.begin() + static_cast<std::ptrdiff_t>(std::uint64_t{t.actor} * params_.live);
    return std::make_unique<Climb>(shape(), params_, t, buffers_[t.actor], std::vector<NameId>(first, first + params_.live));
  }
  std::uint64_t work_size(const ClientThread&) const override { return Climb::size(params_); }

  LadderParams params_;
  std::vector<NameId> buffers_, mrs_;  ///< one, and `live`, for each client's thread, in their order
};

const Sections::Entrant<LadderParams> declared;
const Workloads::Entrant entrant("ladder", "Memory of growing size is registered and deregistered; nothing is sent.",
                                 [](const Config& config) {
                                   const auto [shape, params] = read_checked<LadderParams>(config);
                                   return make_ladder(shape, params);
                                 });

}  // namespace

void LadderParams::declare(Declaration<LadderParams>& d) {
  const char* const free_choice = "a choice, not a property of hardware";
  d.section("workload", "Of the kind `ladder`, which posts nothing: of the QPs' keys none has an effect.");
  d.field("smallest", &LadderParams::smallest)
      .standard("4KiB")
      .range("1B", "1TiB")
      .means("Bytes of an MR on the first rung.")
      .source("one page (R1)");
  d.field("largest", &LadderParams::largest)
      .standard("0B")
      .range("0B", "1TiB")
      .means("Bytes of an MR on the last rung; below `smallest` there is one rung.")
      .source(free_choice);
  d.field("factor", &LadderParams::factor)
      .standard("4")
      .range("2", "1024")
      .means("Each rung is so many times the one before.")
      .source("the steps of R1");
  d.field("repeats", &LadderParams::repeats)
      .standard("20")
      .range("1", "1000000")
      .means("Times that each rung is registered and deregistered.")
      .source(free_choice);
  d.field("live", &LadderParams::live)
      .standard("1")
      .range("1", "1000000")
      .means("MRs that each thread registers in a row before it deregisters them in the same order.")
      .source("one at a time (R1)");
  d.field("touched", &LadderParams::touched)
      .standard("true")
      .means("Whether the memory is written before it is registered; otherwise registering meets absent pages, each time.")
      .source(free_choice);
}

std::vector<Complaint> check(const Shape& shape, const LadderParams& params) {
  std::vector<Complaint> out;
  // Every MR has a name; no NIC has more keys.
  constexpr std::uint64_t most_keys = std::uint64_t{1} << 24, most_bytes = std::uint64_t{1} << 50;
  if (params.live > most_keys / shape.all_threads())
    out.push_back({"live", fmt::format("{} MRs in each of {} threads are too many: more than {} in all", params.live, shape.all_threads(),
                                       most_keys)});
  else if (params.live > most_bytes / round_up(std::max(params.smallest, params.largest).raw, page_bytes.raw) / shape.threads)
    out.push_back({"live", fmt::format("{} MRs of the last rung in each of {} threads are more memory than any host has", params.live,
                                       shape.threads)});
  return out;
}

std::unique_ptr<Workload> make_ladder(const Shape& shape, const LadderParams& params) { return std::make_unique<Ladder>(shape, params); }

}  // namespace mtsim::program
