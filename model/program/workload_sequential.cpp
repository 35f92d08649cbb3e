// `sequential`: each thread goes through the server's memory block by block, from a start of its own.
#include "program/workload_footprint.h"

namespace mtsim::program {

namespace {

class Sequential final : public Workload {
 public:
  Sequential(const Shape& shape, const FootprintParams& footprint)
      : Workload("sequential", shape,
                 {.region = Footprint(shape, footprint).region(),
                  .regions = footprint.regions,
                  .client = LocalBlocks::needed(shape),
                  .window = shape.window}),
        footprint_(shape, footprint) {}

 private:
  class Walk final : public Places {
   public:
    Walk(const Footprint& footprint, const std::vector<NameId>& regions, const LocalBlocks& local, std::uint64_t start)
        : footprint_(footprint), regions_(regions), local_(local), at_(start) {}
    Place next() override {
      const AddressRef remote = footprint_.block(at_, regions_);
      at_ = at_ + 1 == footprint_.blocks() ? 0 : at_ + 1;
      return {local_.next(), remote};
    }

   private:
    const Footprint footprint_;
    const std::vector<NameId>& regions_;
    LocalBlocks local_;
    std::uint64_t at_;
  };

  std::unique_ptr<Cursor> work(const ClientThread& t) const override {
    // Starts are spread evenly, so that threads do not follow each other through the same cache lines.
    using Wide = unsigned __int128;
    const auto start = static_cast<std::uint64_t>(Wide{footprint_.blocks()} * t.actor / shape().all_threads());
    return std::make_unique<ClosedLoop>(shape(), t, std::make_unique<Walk>(footprint_, server().regions, LocalBlocks(shape(), t), start));
  }
  std::uint64_t work_size(const ClientThread&) const override { return ClosedLoop::size(shape()); }

  Footprint footprint_;
};

const Workloads::Entrant entrant("sequential", "Consecutive blocks of the server's memory, each thread from a start of its own.",
                                 [](const Config& config) {
                                   const auto [shape, footprint] = read_checked<FootprintParams>(config);
                                   return make_sequential(shape, footprint);
                                 });

}  // namespace

std::unique_ptr<Workload> make_sequential(const Shape& shape, const FootprintParams& footprint) {
  return std::make_unique<Sequential>(shape, footprint);
}

}  // namespace mtsim::program
