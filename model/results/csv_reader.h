// A CSV file, record by record.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mtsim::results {

/// Fields are parted by commas; one that begins with a quote ends with one, and two quotes in it are one. Lines end in LF or CR LF.
class CsvReader {
 public:
  /// Throws UserError when the file cannot be read. `longest` is what a record may have in bytes.
  CsvReader(std::string path, std::size_t longest);
  /// Reads the next record. False at the end of the file. Throws UserError, with its place, for a record that is too long or damaged, and
  /// for a file that ends amid a line.
  bool next();

  std::size_t size() const { return fields_.size(); }
  std::string_view field(std::size_t i) const { return std::string_view(text_).substr(fields_[i].begin, fields_[i].size); }
  /// Ends with what is wrong with a field of this record, or with the record as a whole.
  [[noreturn]] void fail(std::size_t field, const std::string& wrong) const;
  [[noreturn]] void fail(const std::string& wrong) const;

 private:
  struct Field {
    std::size_t begin = 0, size = 0;  ///< in text_
    std::uint64_t line = 0, column = 0;
  };
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  static constexpr int end_of_file = -1;

  /// The next character, or end_of_file; take() also goes past it.
  int peek();
  int take();
  void read_quoted();
  [[noreturn]] void fail_at(std::uint64_t line, std::uint64_t column, const std::string& wrong) const;

  std::string path_;
  std::size_t longest_;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<char> block_;
  std::size_t at_ = 0, filled_ = 0;
  std::uint64_t line_ = 1, column_ = 0;  ///< of the character that was taken last
  std::uint64_t first_line_ = 1;         ///< of this record
  std::size_t taken_ = 0;                ///< characters of this record
  std::string text_;                     ///< of its fields, without their quotes
  std::vector<Field> fields_;
};

}  // namespace mtsim::results
