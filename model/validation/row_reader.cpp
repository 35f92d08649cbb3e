#include "validation/row_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "validation/map_reader.h"
#include "validation/unit.h"

namespace mtsim::validation {
namespace {

std::string text_of(const Node& node) { return node.kind == Node::Kind::scalar ? node.text : std::string(); }

void read_tolerance(MapReader& in, Tolerance& out) {
  const Node* node = in.find("tolerance");
  if (node == nullptr) return;
  const std::string text = text_of(*node);
  if (const auto share = share_of(text)) out = {Tolerance::Kind::share, *share};
  else if (const auto number = number_of(text)) out = {Tolerance::Kind::absolute, *number};
  else if (const auto factor = number_of(text.starts_with('x') ? text.substr(1) : std::string())) out = {Tolerance::Kind::factor, *factor};
  else
    in.fail(*node, "tolerance",
            fmt::format("wants a share (10%), a number in the unit of the series (0.1) or a factor (x1.5), but is {}", node->described()));
  if (out.amount < 0 || (out.kind == Tolerance::Kind::factor && out.amount < 1)) in.fail(*node, "tolerance", "lets nothing pass");
}

/// A single figure, or `LOW..HIGH`.
bool read_band(const std::string& text, Band& out) {
  const auto dots = text.find("..");
  const auto low = number_of(text.substr(0, dots));
  const auto high = dots == std::string::npos ? low : number_of(text.substr(dots + 2));
  if (!low || !high || *low > *high) return false;
  out = {*low, *high};
  return true;
}

Measure read_measure(MapReader& in, const std::string& key, const Node& node) {
  Measure out;
  const std::vector<Node> terms = node.kind == Node::Kind::list ? node.items : std::vector<Node>{node};
  for (const Node& term : terms) {
    if (text_of(term).empty())
      in.fail(
          term, key,
          fmt::format("wants a name such as reg_mr_mean, a path such as summary.bytes, or a list of those, but is {}", term.described()));
    else out.terms.push_back({term.text, term.place});
  }
  return out;
}

class SeriesReader {
 public:
  SeriesReader(const Node::Member& member, const Series& standard, const std::vector<std::string>& variants, std::vector<Problem>& problems)
      : problems_(problems), variants_(variants), in_(member.value, "validation.series." + member.key, problems) {
    out_ = standard;
    out_.name = member.key;
  }

  Series read() {
    if (const Node* node = in_.find("measure", true)) out_.measure = read_measure(in_, "measure", *node);
    out_.unit = in_.word("unit", unit_names(), true);
    read_per();
    if (const Node* node = in_.find("minus"); node != nullptr && is_variant(node->place, text_of(*node), "minus")) out_.minus = node->text;
    read_tolerance(in_, out_.tolerance);
    out_.fitted = in_.flag("fitted", out_.fitted);
    out_.judged = in_.flag("judged", true);
    if (const Node* node = in_.find("published", true)) read_points(*node);
    if (const Node* node = in_.find("line")) read_line(*node);
    out_.order = in_.share("order");
    if (const Node* node = in_.find("steps")) read_steps(*node);
    in_.finish();
    return std::move(out_);
  }

 private:
  bool is_variant(const config::Place& at, const std::string& name, const std::string& key) {
    if (std::find(variants_.begin(), variants_.end(), name) != variants_.end()) return true;
    in_.fail(at, key,
             fmt::format("there is no variant {}; known: {}{}", config::in_quotes(name), fmt::join(variants_, ", "),
                         did_you_mean(name, variants_)));
    return false;
  }

  void read_per() {
    const Node* node = in_.find("per");
    if (node == nullptr) return;
    if (const auto number = number_of(text_of(*node))) {
      if (*number > 0) out_.per = *number;
      else in_.fail(*node, "per", "must be above 0");
    } else {
      out_.per_measure = read_measure(in_, "per", *node);
    }
  }

  void read_points(const Node& node) {
    if (!node.is_map() || node.members.empty()) {
      in_.fail(node, "published",
               fmt::format("wants a map from variants to figures, but is {}", node.is_map() ? "empty" : node.described()));
      return;
    }
    for (const Node::Member& m : node.members) {
      Point point{m.key, {}};
      if (!is_variant(m.place, m.key, "published")) continue;
      if (!read_band(text_of(m.value), point.published))
        in_.fail(m.value, "published." + m.key, fmt::format("wants a number, or a band such as 10..40, but is {}", m.value.described()));
      out_.points.push_back(std::move(point));
    }
  }

  /// The index of the point of a variant.
  std::optional<std::size_t> point(MapReader& in, const std::string& key) {
    const Node* node = in.find(key, true);
    if (node == nullptr) return std::nullopt;
    std::vector<std::string> known;
    for (const Point& p : out_.points) known.push_back(p.variant);
    const auto found = std::find(known.begin(), known.end(), text_of(*node));
    if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
    in.fail(*node, key,
            fmt::format("{} is none of the points: {}{}", config::in_quotes(text_of(*node)), fmt::join(known, ", "),
                        did_you_mean(text_of(*node), known)));
    return std::nullopt;
  }

  void read_line(const Node& node) {
    MapReader in(node, in_.path("line"), problems_);
    LineCheck line;
    line.tolerance = out_.tolerance;
    line.per = in.text("per", true);
    line.slope = in.number("slope");
    line.intercept = in.number("intercept");
    line.least_r2 = in.number("least_r2");
    read_tolerance(in, line.tolerance);
    if (const Node* at = in.find("at", true)) {
      MapReader places(*at, in.path("at"), problems_);
      for (const Point& p : out_.points) line.at.push_back(places.number(p.variant, true).value_or(0));
      places.finish();
      if (out_.points.size() < 3) in.fail(*at, "at", "a line wants three points at least");
      else if (std::equal(line.at.begin() + 1, line.at.end(), line.at.begin())) in.fail(*at, "at", "all points lie at the same place");
    }
    in.finish();
    out_.line = std::move(line);
  }

  void read_steps(const Node& node) {
    if (node.kind != Node::Kind::list) {
      in_.fail(node, "steps", fmt::format("wants a list, but is {}", node.described()));
      return;
    }
    for (const Node& item : node.items) {
      MapReader in(item, in_.path("steps"), problems_);
      const auto from = point(in, "from"), to = point(in, "to");
      const auto change = in.share("change", true);
      in.finish();
      if (from && to && change) out_.steps.push_back({*from, *to, *change});
    }
  }

  std::vector<Problem>& problems_;
  const std::vector<std::string>& variants_;
  MapReader in_;
  Series out_;
};

}  // namespace

Row read_row(const Node& section, const std::vector<std::string>& variants) {
  std::vector<Problem> problems;
  Row row;
  if (section.kind == Node::Kind::null)
    throw UserError(section.place.text() + ": there is no section 'validation': nothing to compare with");
  MapReader in(section, "validation", problems);
  row.name = in.text("row", true);
  row.group = in.text("group", true);
  row.title = in.text("title", true);
  row.source = in.text("source", true);
  row.notes = in.text("notes");
  Series standard;
  standard.fitted = in.flag("fitted", false);
  read_tolerance(in, standard.tolerance);
  const Node* series = in.find("series", true);
  in.finish();
  if (series != nullptr && (!series->is_map() || series->members.empty()))
    in.fail(*series, "series", fmt::format("wants a map of series by name, but is {}", series->is_map() ? "empty" : series->described()));
  else if (series != nullptr)
    for (const Node::Member& m : series->members) row.series.push_back(SeriesReader(m, standard, variants, problems).read());
  if (variants.empty()) problems.push_back({section.place, "validation: the points stand for variants, but there are none"});
  if (!problems.empty()) throw UserError(config::sorted_lines(std::move(problems)));
  return row;
}

}  // namespace mtsim::validation
