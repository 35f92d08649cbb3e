// The bytes of a trace: a plain file, one compressed with zstd or gzip, or a pipe, which is first copied to a temporary file so that
// it can be read more than once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mtsim::program {

/// The lines of one reading of a file, front to back. Memory is bounded by the longest line.
class LineReader {
 public:
  static constexpr std::size_t longest_line = std::size_t{1} << 20;  ///< bytes, without its end

  class Bytes;
  LineReader(std::string file, std::unique_ptr<Bytes>);
  LineReader(LineReader&&) noexcept;
  ~LineReader();

  /// The next line without its `\n` or `\r\n`, valid until the next call; false at the end of the file.
  /// Throws UserError for bytes that cannot be read or decompressed and for a line that is too long.
  bool next(std::string_view& line);
  /// Of the line last given out, from 1.
  std::uint64_t number() const { return number_; }

 private:
  bool refill();

  std::string file_;
  std::unique_ptr<Bytes> bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< of what is read and not yet given out
  std::uint64_t number_ = 0;
  bool ended_ = false;
};

class TraceFile {
 public:
  /// `path` is a file, a pipe, or `-` for standard input. A name that ends in .zst or .gz says how the file is compressed; otherwise
  /// its first bytes do. Throws UserError for what cannot be opened.
  explicit TraceFile(const std::string& path);
  TraceFile(TraceFile&&) noexcept;
  ~TraceFile();

  /// A new reading from the start. Readings are independent of each other and share one open file, so a file that is replaced
  /// meanwhile stays what it was; one that was written to in place is refused with a UserError.
  LineReader read() const;

  /// What messages call it: the path, or `standard input`.
  const std::string& name() const { return name_; }

 private:
  class Handle;
  enum class Packing : std::uint8_t { none, zstd, gzip };

  std::string name_;
  std::shared_ptr<const Handle> handle_;
  Packing packing_ = Packing::none;
};

}  // namespace mtsim::program
