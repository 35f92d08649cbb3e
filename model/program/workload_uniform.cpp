// `uniform`: blocks of the server's memory, drawn uniformly at random.
#include "base/sections.h"
#include "program/workload_footprint.h"
#include "program/workload_random.h"

namespace mtsim::program {

namespace {

class Uniform final : public Workload {
 public:
  Uniform(const Shape& shape, const FootprintParams& footprint, const UniformParams& params)
      : Workload("uniform", shape,
                 {.region = Footprint(shape, footprint).region(),
                  .regions = footprint.regions,
                  .client = LocalBlocks::needed(shape),
                  .window = shape.window}),
        footprint_(shape, footprint),
        seed_(params.seed) {}

 private:
  class Draws final : public Places {
   public:
    Draws(const Footprint& footprint, const std::vector<NameId>& regions, const LocalBlocks& local, Random random)
        : footprint_(footprint), regions_(regions), local_(local), random_(random) {}
    Place next() override {
      const AddressRef remote = footprint_.block(random_.below(footprint_.blocks()), regions_);
      return {local_.next(), remote};
    }

   private:
    const Footprint footprint_;
    const std::vector<NameId>& regions_;
    LocalBlocks local_;
    Random random_;
  };

  std::unique_ptr<Cursor> work(const ClientThread& t) const override {
    // Each thread starts where a generator of its own leads, so that streams of neighbouring threads have nothing in common.
    const std::uint64_t start = Random(seed_)() ^ Random(t.actor)();
    return std::make_unique<ClosedLoop>(shape(), t,
                                        std::make_unique<Draws>(footprint_, server().regions, LocalBlocks(shape(), t), Random(start)));
  }
  std::uint64_t work_size(const ClientThread&) const override { return ClosedLoop::size(shape()); }

  Footprint footprint_;
  std::uint64_t seed_;
};

const Sections::Entrant<UniformParams> declared;
const Workloads::Entrant entrant("uniform", "Random blocks of the server's memory, with a window of outstanding requests on each QP.",
                                 [](const Config& config) {
                                   const auto [shape, footprint] = read_checked<FootprintParams>(config);
                                   return make_uniform(shape, footprint, config.read<UniformParams>());
                                 });

}  // namespace

void UniformParams::declare(Declaration<UniformParams>& d) {
  d.section("workload", "Of the kinds `uniform` and `connections`: the draws.");
  d.field("seed", &UniformParams::seed).standard("1").means("Start of the random draws.").source("a choice, not a property of hardware");
}

std::unique_ptr<Workload> make_uniform(const Shape& shape, const FootprintParams& footprint, const UniformParams& params) {
  return std::make_unique<Uniform>(shape, footprint, params);
}

}  // namespace mtsim::program
