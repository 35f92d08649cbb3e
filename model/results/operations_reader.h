// Reads what `--ops FILE` wrote, of a simulation or of real hardware: the columns that both have, whatever steps stand beside them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "verbs/types.h"

namespace mtsim::results {

/// Names that come again and again, by number: the same for the same name in both files that share one.
class Names {
 public:
  std::uint32_t number(const std::string& name) {
    const auto [at, fresh] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return at->second;
  }
  const std::string& operator[](std::uint32_t number) const { return names_[number]; }

 private:
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

/// A line of an operations file.
struct OperationRow {
  std::uint32_t host = 0, qp = 0;  ///< in Names
  verbs::Opcode opcode = verbs::Opcode::write;
  verbs::Status status = verbs::Status::SUCCESS;
  bool measured = true;
  bool cqe = true;  ///< a completion told of it; files of before have no such column, and then all count
  std::uint64_t wr = 0, bytes = 0;
  Time latency;
};

/// What a file may have. More is refused: it would be no file of ours, or none that fits into memory.
struct OperationsLimits {
  std::uint64_t rows = std::uint64_t{1} << 24;
  std::size_t line_bytes = std::size_t{1} << 16;
};

/// All rows in their order, read block by block: what is held is 48 bytes a row. Columns that are not asked for are not looked at. Throws
/// UserError, with `path:line:column` (in bytes, from 1), at the first thing that is wrong: a file that cannot be read, a column that is
/// missing, a line of another number of fields, a field that is no number or no known word, a last line without its end.
std::vector<OperationRow> read_operations(const std::string& path, Names& names, const OperationsLimits& limits = {});

}  // namespace mtsim::results
