// `connections`: many connections to one server, few of them in use at a time.
#include <fmt/format.h>

#include <algorithm>

#include "base/sections.h"
#include "program/workload_footprint.h"
#include "program/workload_random.h"

namespace mtsim::program {

namespace {

/// The connections shared out among the threads.
Shape shared_out(Shape shape, const ConnectionsParams& params) {
  if (params.connections != 0) shape.qps = static_cast<std::uint32_t>(params.connections / shape.all_threads());
  return shape;
}

/// What the local end looks like: as many blocks as a thread can have outstanding.
Shape local_shape(Shape shape, const ConnectionsParams& params) {
  shape.qps = 1;
  shape.window = params.outstanding;
  return shape;
}

/// A thread posts until it has `outstanding` requests under way and then waits for its oldest, `batch` of them, before it posts on.
class OneOfMany final : public Cursor {
 public:
  OneOfMany(const Shape& shape, const ConnectionsParams& params, const Footprint& footprint, const std::vector<NameId>& regions,
            const Workload::ClientThread& thread, Random random)
      : form_(request_form(shape, thread)),
        params_(params),
        footprint_(footprint),
        regions_(regions),
        local_(local_shape(shape, params), thread),
        random_(random),
        qps_(thread.qps),
        window_(shape.window),
        operations_(shape.operations),
        under_way_(qps_.size()),
        used_(params.outstanding) {
    draw();
  }

  bool next(Op& op) override {
    if (due_ == 0 && (posted_ == operations_ || posted_ - polled_ == params_.outstanding || under_way_[qp_] == window_)) {
      if (polled_ == operations_) return false;
      due_ = posted_ == operations_ ? 1 : std::min<std::uint64_t>(batch(), posted_ - polled_);
    }
    if (due_ != 0) {
      --due_;
      --under_way_[used_[polled_ % used_.size()]];
      form_.poll_for(op, form_.wr(polled_++));
    } else if (form_.compute_ns != 0 && !computed_) {
      form_.compute(op);
      computed_ = true;
    } else {
      computed_ = false;
      used_[posted_ % used_.size()] = qp_;
      ++under_way_[qp_];
      form_.post(op, qps_[qp_], form_.wr(posted_++), true, {local_.next(), footprint_.block(random_.below(footprint_.blocks()), regions_)});
      draw();
    }
    return true;
  }

 private:
  std::uint64_t batch() const { return params_.batch == 0 ? params_.outstanding : params_.batch; }
  void draw() {
    if (params_.choice == ConnectionsParams::Choice::random) qp_ = static_cast<std::uint32_t>(random_.below(qps_.size()));
    else if (posted_ != 0) qp_ = qp_ + 1 == qps_.size() ? 0 : qp_ + 1;
  }

  RequestForm form_;
  const ConnectionsParams params_;
  const Footprint footprint_;
  const std::vector<NameId>& regions_;
  LocalBlocks local_;
  Random random_;
  const std::vector<NameId>& qps_;
  const std::uint64_t window_, operations_;
  std::vector<std::uint32_t> under_way_;  ///< by QP
  std::vector<std::uint32_t> used_;       ///< the QPs of the requests under way, by their number
  std::uint32_t qp_ = 0;                  ///< of the next request
  std::uint64_t posted_ = 0, polled_ = 0;
  std::uint64_t due_ = 0;  ///< completions to wait for before the next request
  bool computed_ = false;  ///< the program has done its own work on the block to come
};

class Connections final : public Workload {
 public:
  Connections(const Shape& shape, const FootprintParams& footprint, const UniformParams& draws, const ConnectionsParams& params)
      : Workload("connections", shared_out(shape, params),
                 {.region = Footprint(shape, footprint).region(),
                  .regions = footprint.regions,
                  .client = LocalBlocks::needed(local_shape(shape, params)),
                  .window = std::min(shape.window, params.outstanding)}),
        footprint_(shape, footprint),
        seed_(draws.seed),
        params_(params) {}

 private:
  std::unique_ptr<Cursor> work(const ClientThread& t) const override {
    const std::uint64_t start = Random(seed_)() ^ Random(t.actor)();
    return std::make_unique<OneOfMany>(shape(), params_, footprint_, server().regions, t, Random(start));
  }
  std::uint64_t work_size(const ClientThread&) const override { return shape().operations * (shape().compute == Time(0) ? 2 : 3); }

  Footprint footprint_;
  std::uint64_t seed_;
  ConnectionsParams params_;
};

const Sections::Entrant<ConnectionsParams> declared;
const Workloads::Entrant entrant("connections",
                                 "Random blocks of the server's memory over many connections, with a window of requests on each thread.",
                                 [](const Config& config) {
                                   const auto [shape, footprint] = read_checked<FootprintParams>(config);
                                   auto params = config.read<ConnectionsParams>();
                                   const std::vector<Complaint> complaints = check(shape, params);
                                   for (const Complaint& c : complaints) config.fail("workload." + c.key, c.message);
                                   if (!complaints.empty()) params = defaults<ConnectionsParams>();
                                   return make_connections(complaints.empty() ? shape : defaults<Shape>(), footprint,
                                                           config.read<UniformParams>(), params);
                                 });

}  // namespace

void ConnectionsParams::declare(Declaration<ConnectionsParams>& d) {
  d.section("workload", "Of the kind `connections`: how many there are and how they are used.");
  const char* const free_choice = "a choice, not a property of hardware";
  d.field("connections", &ConnectionsParams::connections)
      .standard("0")
      .range("0", "1000000")
      .means(
          "Connections to the server over all clients, shared out evenly among their threads: so many QPs at the server's NIC, and their "
          "share at each client's. 0: qps for each thread.")
      .source(free_choice);
  d.field("outstanding", &ConnectionsParams::outstanding)
      .standard("64")
      .range("1", "32768")
      .means("Requests of a thread under way at most, over all its connections; on one of them never more than window.")
      .source("4 QPs x 16 outstanding in the published many-thread measurements (N1)");
  d.field("batch", &ConnectionsParams::batch)
      .standard("1")
      .range("0", "32768")
      .means("Completions, of its oldest requests, that a thread waits for when it may post no more; 0: as many as outstanding.")
      .source(free_choice);
  d.choice("choice", &ConnectionsParams::choice, {{"random", ConnectionsParams::Choice::random}, {"turn", ConnectionsParams::Choice::turn}})
      .standard("random")
      .means("Which of its connections a thread uses next.")
      .source("N4: reads of random objects, so of random peers");
}

std::vector<Complaint> check(const Shape& shape, const ConnectionsParams& params) {
  std::vector<Complaint> out;
  if (params.connections != 0 && params.connections % shape.all_threads() != 0)
    out.push_back(
        {"connections", fmt::format("{} cannot be shared out evenly among {} threads in all", params.connections, shape.all_threads())});
  if (params.connections != 0 && shape.qps != 1)
    out.push_back({"qps", "with workload.connections given, each thread has its share of them"});
  if (params.batch > params.outstanding)
    out.push_back({"batch", fmt::format("{} is above the {} that a thread has outstanding", params.batch, params.outstanding)});
  if (shape.signal_every != 1) out.push_back({"signal_every", "every request of this kind asks for a completion"});
  return out;
}

std::unique_ptr<Workload> make_connections(const Shape& shape, const FootprintParams& footprint, const UniformParams& draws,
                                           const ConnectionsParams& params) {
  return std::make_unique<Connections>(shape, footprint, draws, params);
}

}  // namespace mtsim::program
