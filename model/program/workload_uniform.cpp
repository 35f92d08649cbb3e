// `uniform`: blocks of the server's memory, drawn uniformly at random.
#include "base/sections.h"
#include "program/workload_footprint.h"

namespace mtsim::program {

namespace {

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). The same numbers on every machine,
/// which the standard library does not promise of its distributions.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Below `n`, which is far smaller than 2^64: the bias of one multiplication is then beyond measuring.
  std::uint64_t below(std::uint64_t n) {
    using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{(*this)()} * n >> 64);
  }

 private:
  std::uint64_t state_;
};

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
  d.section("workload", "Of the kind `uniform`: the draws.");
  d.field("seed", &UniformParams::seed).standard("1").means("Start of the random draws.").source("a choice, not a property of hardware");
}

std::unique_ptr<Workload> make_uniform(const Shape& shape, const FootprintParams& footprint, const UniformParams& params) {
  return std::make_unique<Uniform>(shape, footprint, params);
}

}  // namespace mtsim::program
