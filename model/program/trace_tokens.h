// The words of a line of a trace, parted by spaces and tabs; `#` begins a comment.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mtsim::program {

class Tokens {
 public:
  explicit Tokens(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

  struct Token {
    std::string_view text;                        ///< empty at the end of the line
    std::size_t equals = std::string_view::npos;  ///< where its first `=` stands
  };
  Token next() {
    const char* at = at_;
    while (at != end_ && (*at == ' ' || *at == '\t')) ++at;
    const char* const begin = at;
    std::size_t equals = std::string_view::npos;
    for (; at != end_; ++at) {
      const Class c = classes[static_cast<unsigned char>(*at)];
      if (c == Class::part) [[likely]]
        continue;
      if (c == Class::end) break;
      if (equals == std::string_view::npos) equals = static_cast<std::size_t>(at - begin);
    }
    at_ = at;
    return {{begin, static_cast<std::size_t>(at - begin)}, equals};
  }
  /// What follows the last token.
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }

 private:
  enum class Class : std::uint8_t { part, end, equals };
  static constexpr std::array<Class, 256> classes = [] {
    std::array<Class, 256> out{};
    out[' '] = out['\t'] = out['#'] = Class::end;
    out['='] = Class::equals;
    return out;
  }();
  const char* at_;
  const char* end_;
};

}  // namespace mtsim::program
