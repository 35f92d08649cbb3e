// mtsim compare.
#include "results/compare.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>

#include "base/error.h"
#include "command.h"
#include "results/json.h"
#include "results/output_file.h"
#include "verbs/rules.h"

namespace mtsim::tool {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 28;

std::string read_results(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UserError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  std::string text;
  std::vector<char> block(std::size_t{1} << 20);
  errno = 0;
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > most_bytes) throw UserError(fmt::format("{}: more than {} MiB: too large for results", path, most_bytes >> 20));
  }
  if (in.bad()) throw UserError(fmt::format("{}: cannot be read: {}", path, errno == 0 ? "input error" : std::strerror(errno)));
  return text;
}

/// The variant that is asked for, or the only report.
results::Variant read_variant(const std::string& path, const char* option, const std::string& wanted) {
  std::vector<results::Variant> all = results::parse_json(read_results(path), path);
  std::vector<std::string> names;
  for (const results::Variant& v : all) names.push_back(v.name);
  const bool alone = all.size() == 1 && all.front().name.empty();
  if (alone && wanted.empty()) return std::move(all.front());
  const std::string known = fmt::format("{}", fmt::join(names, ", "));
  if (alone) throw UserError(fmt::format("{}: results without variants; {} {} names none of them", path, option, wanted));
  if (wanted.empty()) throw UserError(fmt::format("{}: results of several variants: {}; choose one with {} NAME", path, known, option));
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found == names.end())
    throw UserError(fmt::format("{}: there is no variant '{}'; it has {}{}", path, wanted, known, did_you_mean(wanted, names)));
  return std::move(all[static_cast<std::size_t>(found - names.begin())]);
}

/// Does `read`, and keeps what the user is told of it.
template <class F>
void collect(std::vector<std::string>& mistakes, F read) {
  try {
    read();
  } catch (const UserError& error) { mistakes.insert(mistakes.end(), error.messages().begin(), error.messages().end()); }
}

void check_rules(const std::string& rules) {
  const std::vector<std::string> known = verbs::RuleSets::names();
  if (!rules.empty() && std::find(known.begin(), known.end(), rules) == known.end())
    throw UserError(
        fmt::format("--rules: there is no set of rules '{}'; known: {}{}", rules, fmt::join(known, ", "), did_you_mean(rules, known)));
}

}  // namespace

int compare(const CompareArguments& arguments) {
  std::unique_ptr<results::OutputFile> json;
  std::vector<std::string> mistakes;
  results::Variant a, b;
  results::Names names;
  std::vector<results::OperationRow> rows_a, rows_b;
  collect(mistakes, [&] { check_rules(arguments.rules); });
  collect(mistakes, [&] { a = read_variant(arguments.a, "--variant-a", arguments.variant_a); });
  collect(mistakes, [&] { b = read_variant(arguments.b, "--variant-b", arguments.variant_b); });
  const bool operations = !arguments.ops.empty();
  if (operations) {
    collect(mistakes, [&] { rows_a = results::read_operations(arguments.ops[0], names); });
    collect(mistakes, [&] { rows_b = results::read_operations(arguments.ops[1], names); });
  }
  if (!mistakes.empty()) throw UserError(mistakes);
  if (!arguments.json.empty()) json = std::make_unique<results::OutputFile>(arguments.json);

  const auto side = [](const std::string& path, const std::string& variant) {
    results::ComparedSide out;
    out.name = variant.empty() ? path : path + " " + variant;
    return out;
  };
  results::ComparedSide of_a = side(arguments.a, a.name), of_b = side(arguments.b, b.name);
  if (!arguments.rules.empty()) of_b.rules = arguments.rules;
  const bool measured = !a.report.measured_on.empty() || !b.report.measured_on.empty();
  std::optional<results::OperationsComparison> compared;
  if (operations) compared = results::compare_operations(rows_a, rows_b, names, measured);
  const results::Comparison comparison = results::compare(of_a, a.report, of_b, b.report, std::move(compared));

  const bool to_stdout = arguments.json == "-";
  results::TextOptions text;
  text.colour = std::getenv("NO_COLOR") == nullptr && isatty(to_stdout ? STDERR_FILENO : STDOUT_FILENO) != 0;
  (to_stdout ? std::cerr : std::cout) << results::to_text(comparison, text) << std::flush;
  if (json) {
    json->write(results::to_json(comparison));
    json->commit();
  }
  return comparison.differs() ? 1 : 0;
}

}  // namespace mtsim::tool
