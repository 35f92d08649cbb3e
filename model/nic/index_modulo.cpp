// The low part of the line's number: lines in a row lie in rows in a row.
#include <bit>

#include "nic/index_function.h"

namespace mtsim::nic {
namespace {

class Modulo final : public IndexFunction {
 public:
  explicit Modulo(std::uint32_t rows) : rows_(rows) {}
  std::uint32_t row(std::uint64_t tag, std::uint32_t) const override { return static_cast<std::uint32_t>(tag % rows_); }
  std::optional<std::uint64_t> mask() const override { return std::has_single_bit(rows_) ? std::optional(rows_ - 1) : std::nullopt; }

 private:
  std::uint64_t rows_;
};

const IndexFunctions::Entrant registered("modulo", "the line's number modulo the sets",
                                         [](std::uint32_t rows) { return std::make_unique<Modulo>(rows); });

}  // namespace
}  // namespace mtsim::nic
