#include "rows.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "base/error.h"

namespace mtsim::replay {

namespace fs = std::filesystem;

namespace {

/// Column number `column` of a line; what stands in quotes may hold commas.
std::string_view cell(std::string_view line, std::size_t column) {
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] != ',' || quoted) continue;
    if (column-- == 0) return line.substr(begin, i - begin);
    begin = i + 1;
  }
  return column == 0 ? line.substr(begin) : std::string_view();
}

std::optional<std::size_t> column_of(std::string_view header, std::string_view name) {
  for (std::size_t column = 0;; ++column) {
    const std::string_view here = cell(header, column);
    if (here == name) return column;
    if (here.empty()) return std::nullopt;
  }
}

/// A table that is being read.
struct Table {
  explicit Table(const std::string& path) : in(path) { has_line = bool(std::getline(in, header)); }
  void next(std::size_t column) {
    has_line = bool(std::getline(in, line));
    const std::string_view text = cell(line, column);
    end = 0;
    if (has_line) std::from_chars(text.data(), text.data() + text.size(), end);
  }

  std::ifstream in;
  std::string header, line;
  bool has_line = false;
  double end = 0;
};

}  // namespace

Part::Part() {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  folder_ = (place / "mtsim-replay-XXXXXX").string();
  if (error || mkdtemp(folder_.data()) == nullptr)
    throw UserError(fmt::format("no temporary folder {} can be made: {}", folder_, std::strerror(errno)));
  file_ = std::make_unique<results::OutputFile>(path());
}

Part::~Part() {
  file_.reset();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string Part::path() const { return folder_ + "/rows.csv"; }

void merge_rows(const std::vector<std::string>& paths, results::OutputFile& out) {
  std::vector<std::unique_ptr<Table>> tables;
  for (const std::string& path : paths)
    if (auto table = std::make_unique<Table>(path); table->has_line) tables.push_back(std::move(table));
  if (tables.empty()) return;
  const std::string& header = tables.front()->header;
  const auto column = column_of(header, "end_ns");
  for (const auto& table : tables) {
    if (table->header != header || !column) throw std::runtime_error("processes of one replay wrote different tables");
    table->next(*column);
  }
  out.write(header + '\n');
  for (;;) {
    Table* first = nullptr;
    for (const auto& table : tables)
      if (table->has_line && (first == nullptr || table->end < first->end)) first = table.get();
    if (first == nullptr) return;
    out.write(first->line + '\n');
    first->next(*column);
  }
}

}  // namespace mtsim::replay
