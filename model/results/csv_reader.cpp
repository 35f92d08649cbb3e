#include "results/csv_reader.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace mtsim::results {

CsvReader::CsvReader(std::string path, std::size_t longest)
    : path_(std::move(path)), longest_(longest), file_(std::fopen(path_.c_str(), "rbe")), block_(std::size_t{1} << 16) {
  if (!file_) throw UserError(fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
}

int CsvReader::peek() {
  if (at_ == filled_) {
    filled_ = std::fread(block_.data(), 1, block_.size(), file_.get());
    at_ = 0;
    if (std::ferror(file_.get()) != 0) throw UserError(fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
    if (filled_ == 0) return end_of_file;
  }
  return static_cast<unsigned char>(block_[at_]);
}

int CsvReader::take() {
  const int c = peek();
  if (c == end_of_file) return c;
  ++at_;
  ++column_;
  if (++taken_ > longest_) fail(fmt::format("a line of more than {} bytes: this is no table of operations", longest_));
  return c;
}

void CsvReader::read_quoted() {
  const std::uint64_t line = line_, column = column_;
  for (int c = take(); c != '"' || peek() == '"'; c = take()) {
    if (c == end_of_file) fail_at(line, column, "the quote that opens here does not close");
    if (c == '"') take();
    if (c == '\n') {
      ++line_;
      column_ = 0;
    }
    text_ += static_cast<char>(c);
  }
}

bool CsvReader::next() {
  text_.clear();
  fields_.clear();
  taken_ = 0;
  first_line_ = line_;
  column_ = 0;
  int c = take();
  if (c == end_of_file) return false;
  while (true) {
    fields_.push_back({text_.size(), 0, line_, column_});
    Field& field = fields_.back();
    const bool quoted = c == '"';
    if (quoted) {
      read_quoted();
      c = take();
    } else {
      for (; c != ',' && c != '\n' && c != end_of_file; c = take()) text_ += static_cast<char>(c);
      if (c == '\n' && text_.size() > field.begin && text_.back() == '\r') text_.pop_back();
    }
    field.size = text_.size() - field.begin;
    if (quoted && c == '\r') c = take();
    if (c == end_of_file) fail_at(line_, column_ + 1, "the file ends amid this line: a part of it is missing");
    if (c == '\n') {
      ++line_;
      return true;
    }
    if (c != ',') fail_at(line_, column_, "more text after the quote that closes the field");
    c = take();
  }
}

void CsvReader::fail(std::size_t field, const std::string& wrong) const { fail_at(fields_[field].line, fields_[field].column, wrong); }
void CsvReader::fail(const std::string& wrong) const { fail_at(first_line_, 1, wrong); }
void CsvReader::fail_at(std::uint64_t line, std::uint64_t column, const std::string& wrong) const {
  throw UserError(fmt::format("{}:{}:{}: {}", path_, line, column, wrong));
}

}  // namespace mtsim::results
