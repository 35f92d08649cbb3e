// What the suites about traces share: files that vanish, reading to the end, comparing operations by what they mean.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "program/trace_reader.h"

namespace mtsim::program::test {

/// A directory of its own, removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();

  /// Writes a file and gives its path.
  std::string file(const std::string& name, std::string_view bytes) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string bytes_of(const std::string& path);

/// All operations, actor by actor.
std::vector<Op> operations(const Program&);

/// The operations of a trace with that text after its first line `mtrace 1`.
std::vector<Op> operations(std::string_view text, const TraceOptions& = {});

/// The messages of the UserError that reading the text gives, without the directory; empty when it is legal.
std::vector<std::string> messages(std::string_view text, const std::string& name = "t.mtrace");

/// The names of the fields in which two operations differ, names of objects compared as text.
std::string difference(const Op& a, const Names& names_a, const Op& b, const Names& names_b);

/// Paths of the recorded traces, sorted.
std::vector<std::string> recorded_traces();
#ifdef __SANITIZE_ADDRESS__
inline constexpr std::size_t recorded_trace_count = 7;  ///< every eighth: under the sanitizers they take twenty times as long
#else
inline constexpr std::size_t recorded_trace_count = 52;
#endif

/// A trace that holds every operation, opcode and key of the format, each in a legal place.
std::string_view whole_grammar();

}  // namespace mtsim::program::test
