#include "program/op.h"

#include <charconv>

#include "program/trace_words.h"

namespace mtsim::program {

std::string_view name(Kind kind) { return kind_words()[static_cast<std::size_t>(kind)]; }

std::string nic_name(std::uint32_t number) { return "nic" + std::to_string(number); }

std::optional<std::uint32_t> nic_number(std::string_view name) {
  std::uint32_t number = 0;
  if (!name.starts_with("nic")) return std::nullopt;
  std::from_chars(name.data() + 3, name.data() + name.size(), number);
  // No other spelling: not nic01.
  if (name != nic_name(number)) return std::nullopt;
  return number;
}

void Op::clear() {
  std::string kept_word = std::move(word);
  std::vector<SgeRef> kept_sges = std::move(sges);
  Expectation kept_expect = std::move(expect);
  *this = Op{};
  word = std::move(kept_word);
  sges = std::move(kept_sges);
  word.clear();
  sges.clear();
  expect.words = std::move(kept_expect.words);
  expect.by_wr = std::move(kept_expect.by_wr);
  expect.words.clear();
  expect.by_wr.clear();
}

}  // namespace mtsim::program
