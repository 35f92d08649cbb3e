// Text that is written while a simulation runs: in blocks, so that memory does not grow with the run.
#pragma once

#include <charconv>
#include <cstring>
#include <exception>
#include <memory>
#include <string_view>

#include "base/units.h"
#include "results/output_file.h"

namespace mtsim::results {

/// Collects text for an output file. A write that fails (full disk) must not throw amid a simulation: it is kept, nothing further is
/// written, and finish() throws it.
class BlockWriter {
 public:
  explicit BlockWriter(OutputFile& file) : file_(file), text_(std::make_unique<char[]>(block)), at_(text_.get()) {}

  void add(std::string_view text) {
    while (text.size() > room()) {
      const std::size_t part = room();
      append(text.substr(0, part));
      text.remove_prefix(part);
      pass_on();
    }
    append(text);
  }
  void add(char c) {
    if (room() == 0) pass_on();
    *at_++ = c;
  }
  void add(std::uint64_t n) {
    if (room() < longest_number) pass_on();
    at_ = std::to_chars(at_, end(), n).ptr;
  }
  void add_hex(std::uint64_t n) {
    if (room() < longest_number) pass_on();
    at_ = std::to_chars(at_, end(), n, 16).ptr;
  }
  /// Nanoseconds with three decimals: exact. Not negative.
  void add_ns(Time t) { add_scaled<3, 1'000>(t); }
  /// Microseconds with six decimals: exact. Not negative.
  void add_us(Time t) { add_scaled<6, 1'000'000>(t); }
  /// Throws UserError when the disk was full or failed, now or earlier.
  void finish() {
    pass_on();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static constexpr std::size_t block = 1 << 16, longest_number = 32;

  char* end() const { return text_.get() + block; }
  std::size_t room() const { return static_cast<std::size_t>(end() - at_); }
  void append(std::string_view text) {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  template <unsigned decimals, std::uint64_t scale>
  void add_scaled(Time t) {
    const auto raw = static_cast<std::uint64_t>(t.raw);
    add(raw / scale);
    if (room() < longest_number) pass_on();
    *at_++ = '.';
    std::uint64_t fraction = raw % scale;
    for (unsigned i = decimals; i > 0; --i, fraction /= 10) at_[i - 1] = static_cast<char>('0' + fraction % 10);
    at_ += decimals;
  }
  void pass_on() {
    try {
      if (!failure_) file_.write({text_.get(), static_cast<std::size_t>(at_ - text_.get())});
    } catch (...) { failure_ = std::current_exception(); }
    at_ = text_.get();
  }

  OutputFile& file_;
  std::unique_ptr<char[]> text_;
  char* at_;
  std::exception_ptr failure_;
};

}  // namespace mtsim::results
