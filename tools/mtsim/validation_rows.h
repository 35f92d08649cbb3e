// The rows that `mtsim validate` runs: which there are, and what each is made of.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/config.h"
#include "system/plan.h"
#include "validation/row.h"

namespace mtsim::tool {

struct ReadRow {
  validation::Row row;
  std::vector<std::string> names;  ///< of the variants
  Config config;
};

/// The shipped rows, in the order of their files' names (R2 before R10). Throws UserError with the mistakes of all of them.
std::vector<ReadRow> shipped_rows(const std::vector<std::string>& sets);
/// The row of one file.
ReadRow row_of_file(const std::string& path, const std::vector<std::string>& sets);
/// Those whose name or group is `name`; all when it is empty. Throws UserError when there is none.
std::vector<ReadRow> chosen(std::vector<ReadRow> rows, const std::string& name);

/// One plan for each variant, named after the row as well. Throws UserError with the mistakes of all of them, each said once.
std::vector<system::Plan> plans_of(const ReadRow& row);

/// Whether the section `validation` of a configuration can be read. Throws UserError.
void check_row(const Config& config);

}  // namespace mtsim::tool
