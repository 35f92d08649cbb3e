// The line's number folded over itself by exclusive or: tables that lie a power of two apart do not meet in the same sets.
#include <bit>

#include "nic/index_function.h"

namespace mtsim::nic {
namespace {

class XorFold final : public IndexFunction {
 public:
  explicit XorFold(std::uint32_t rows) : rows_(rows), bits_(rows == 1 ? 0 : static_cast<unsigned>(std::bit_width(rows - 1))) {}
  std::uint32_t row(std::uint64_t tag, std::uint32_t) const override {
    if (bits_ == 0) return 0;
    std::uint64_t folded = 0;
    for (; tag != 0; tag >>= bits_) folded ^= tag;
    folded &= (std::uint64_t{1} << bits_) - 1;
    // Where the rows are no power of two, the fold may say one that there is not.
    return static_cast<std::uint32_t>(folded < rows_ ? folded : folded - rows_);
  }

 private:
  std::uint64_t rows_;
  unsigned bits_;  ///< of a row's number
};

const IndexFunctions::Entrant registered("hashed", "the line's number folded to the width of a set's number by exclusive or",
                                         [](std::uint32_t rows) { return std::make_unique<XorFold>(rows); });

}  // namespace
}  // namespace mtsim::nic
