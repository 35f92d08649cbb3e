// Each way has a hash of its own (Seznec: A case for two-way skewed-associative caches, ISCA 1993): lines that meet in one way hardly meet
// in the next.
#include "nic/index_function.h"

namespace mtsim::nic {
namespace {

class Skewed final : public IndexFunction {
 public:
  explicit Skewed(std::uint32_t rows) : rows_(rows) {}
  // SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014) of the line's number, begun elsewhere for each way; then scaled to the rows.
  std::uint32_t row(std::uint64_t tag, std::uint32_t way) const override {
    std::uint64_t z = tag + (way + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return static_cast<std::uint32_t>((z >> 32) * rows_ >> 32);
  }
  bool skewed() const override { return true; }

 private:
  std::uint64_t rows_;
};

const IndexFunctions::Entrant registered("skewed", "a hash of its own for each way, so that there are no sets",
                                         [](std::uint32_t rows) { return std::make_unique<Skewed>(rows); });

}  // namespace
}  // namespace mtsim::nic
