// What is wrong with a trace: collected while it is read, told all at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mtsim::program {

class Problems {
 public:
  /// At most so many are told in full; the rest are counted.
  static constexpr std::size_t limit = 20;

  /// `file` is what messages call the trace.
  explicit Problems(std::string file) : file_(std::move(file)) {}

  /// `text` makes the message; it is not called once there are enough of them. Lines and columns (in bytes) count from 1.
  template <class Text>
  void add(std::uint64_t line, std::uint64_t column, Text text) {
    if (found_.size() < limit) found_.push_back({line, column, text()});
    else ++more_;
  }

  bool any() const { return !found_.empty(); }
  const std::string& file() const { return file_; }
  /// Throws a UserError with all of them in the order of the file.
  [[noreturn]] void raise();

 private:
  struct Problem {
    std::uint64_t line, column;
    std::string text;
  };
  std::string file_;
  std::vector<Problem> found_;
  std::uint64_t more_ = 0;
};

/// `'text'` for a message: bytes that are not printable ASCII as `\x1b`, the end of a long one cut off.
std::string quote(std::string_view text);
/// `file:line:column`.
std::string place(const std::string& file, std::uint64_t line, std::uint64_t column);

}  // namespace mtsim::program
