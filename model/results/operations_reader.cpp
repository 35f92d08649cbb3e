#include "results/operations_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "results/csv_reader.h"
#include "results/human.h"

namespace mtsim::results {
namespace {

enum Column : std::size_t { host, qp, wr, opcode, bytes, status, measured, latency };
constexpr std::array<const char*, 8> column_names{"host", "qp", "wr", "opcode", "bytes", "status", "measured", "latency_ns"};

/// A field as a message shows it: what is no text stands as its code, and little of what is long.
std::string shown(std::string_view field) {
  std::string out;
  for (const char c : field.substr(0, 60)) {
    if (c >= ' ' && c <= '~') out += c;
    else out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return "'" + human::cut(out, 40) + "'";
}

class Reader {
 public:
  Reader(const std::string& path, Names& names, const OperationsLimits& limits)
      : path_(path), names_(names), limits_(limits), csv_(path, limits.line_bytes) {}

  std::vector<OperationRow> all() {
    header();
    std::vector<OperationRow> rows;
    while (csv_.next()) {
      if (rows.size() == limits_.rows) csv_.fail(fmt::format("more than {} operations", limits_.rows));
      rows.push_back(row());
    }
    return rows;
  }

 private:
  void header() {
    if (!csv_.next()) throw UserError(path_ + ":1:1: the file is empty; the first line of a table of operations names its columns");
    columns_ = csv_.size();
    std::vector<std::string> found;
    for (std::size_t i = 0; i < columns_; ++i) found.emplace_back(csv_.field(i));
    if (found.front().starts_with("\xef\xbb\xbf")) found.front().erase(0, 3);
    for (std::size_t c = 0; c < column_names.size(); ++c) {
      const auto at = std::find(found.begin(), found.end(), column_names[c]);
      if (at == found.end())
        csv_.fail(fmt::format("there is no column '{}'; a table of operations has {}, and others", column_names[c],
                              fmt::join(column_names, ", ")));
      if (const auto again = std::find(at + 1, found.end(), column_names[c]); again != found.end())
        csv_.fail(static_cast<std::size_t>(again - found.begin()), fmt::format("a second column '{}'", column_names[c]));
      at_[c] = static_cast<std::size_t>(at - found.begin());
    }
    if (const auto at = std::find(found.begin(), found.end(), "cqe"); at != found.end())
      cqe_at_ = static_cast<std::size_t>(at - found.begin());
  }

  OperationRow row() {
    if (csv_.size() != columns_)
      csv_.fail(fmt::format("{} field{} where the header names {}", csv_.size(), csv_.size() == 1 ? "" : "s", columns_));
    OperationRow out;
    out.host = name(host);
    out.qp = name(qp);
    out.wr = number(wr);
    out.opcode = word(opcode, verbs::parse_opcode, verbs::opcode_count, [](unsigned i) { return verbs::name(verbs::Opcode(i)); });
    out.bytes = number(bytes);
    out.status = word(status, verbs::parse_status, verbs::status_count, [](unsigned i) { return verbs::name(verbs::Status(i)); });
    if (const std::string_view text = field(measured); text == "yes" || text == "no") out.measured = text == "yes";
    else fail(measured, "'yes' or 'no'");
    if (cqe_at_) {
      if (const std::string_view text = csv_.field(*cqe_at_); text == "yes" || text == "no") out.cqe = text == "yes";
      else csv_.fail(*cqe_at_, fmt::format("cqe: {} is not 'yes' or 'no'", shown(text)));
    }
    out.latency = time(latency);
    return out;
  }

  std::string_view field(Column column) const { return csv_.field(at_[column]); }
  [[noreturn]] void fail(Column column, const std::string& allowed) const {
    csv_.fail(at_[column], fmt::format("{}: {} is not {}", column_names[column], shown(field(column)), allowed));
  }

  std::uint32_t name(Column column) {
    const std::string_view text = field(column);
    if (text.empty() || std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }))
      fail(column, "a name in one line of text");
    // Most lines have the name of one shortly before them.
    Last& last = last_[column];
    if (last.text != text) {
      last.text = text;
      last.number = names_.number(last.text);
    }
    return last.number;
  }

  std::uint64_t number(Column column) const {
    const std::string_view text = field(column);
    std::uint64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size()) fail(column, "a whole number from 0 to 2^64 - 1");
    return out;
  }

  /// Nanoseconds to the picosecond; further digits are cut.
  Time time(Column column) const {
    constexpr std::uint64_t most_ns = 9'200'000'000'000'000;
    const std::string_view text = field(column);
    const char* const stop = text.data() + text.size();
    std::uint64_t ns = 0, ps = 0;
    auto [end, error] = std::from_chars(text.data(), stop, ns);
    bool good = error == std::errc() && ns <= most_ns;
    if (good && end != stop) {
      good = *end == '.' && end + 1 != stop;
      const char* digit = end + 1;
      for (std::uint64_t scale = 100; good && digit != stop; ++digit, scale /= 10) {
        good = *digit >= '0' && *digit <= '9';
        ps += scale * static_cast<std::uint64_t>(*digit - '0');
      }
    }
    if (!good) fail(column, "a time in ns, such as 1234.567");
    return Time(static_cast<std::int64_t>(ns * 1000 + ps));
  }

  template <class Value, class NameOf>
  Value word(Column column, std::optional<Value> (*parse)(std::string_view), unsigned count, NameOf name_of) const {
    if (const std::optional<Value> value = parse(field(column))) return *value;
    std::vector<std::string> known;
    for (unsigned i = 0; i < count; ++i) known.emplace_back(name_of(i));
    csv_.fail(at_[column], fmt::format("{}: {} is not one of {}{}", column_names[column], shown(field(column)), fmt::join(known, ", "),
                                       did_you_mean(field(column).substr(0, 60), known)));
  }

  struct Last {
    std::string text;
    std::uint32_t number = 0;
  };

  std::string path_;
  Names& names_;
  OperationsLimits limits_;
  CsvReader csv_;
  std::size_t columns_ = 0;
  std::array<std::size_t, column_names.size()> at_{};
  std::optional<std::size_t> cqe_at_;
  std::array<Last, 2> last_;
};

}  // namespace

std::vector<OperationRow> read_operations(const std::string& path, Names& names, const OperationsLimits& limits) {
  return Reader(path, names, limits).all();
}

}  // namespace mtsim::results
