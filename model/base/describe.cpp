#include "base/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/config_node.h"
#include "base/error.h"

namespace mtsim {
namespace {

constexpr std::size_t width = 100;

/// `text` broken between words to `width` columns, each line after `indent` spaces; `first` stands in front of the first line.
std::string wrapped(const std::string& text, std::size_t indent, const std::string& first = "") {
  std::istringstream words(text);
  std::string out, line = fmt::format("{:<{}}", first, indent), word;
  bool fresh = true;
  while (words >> word) {
    if (!fresh && line.size() + 1 + word.size() > width) {
      out += line + '\n';
      line = std::string(indent, ' ');
      fresh = true;
    }
    if (!fresh) line += ' ';
    line += word;
    fresh = false;
  }
  return out + line + '\n';
}

std::string parameter_text(const Parameter& p) {
  std::string out = fmt::format("  {}\n", p.name);
  out += wrapped(p.meaning, 4);
  out += wrapped(p.allowed(), 14, "    takes");
  out += wrapped(p.standard.empty() ? (p.unit == "text" ? "(empty)" : "none: must be given") : p.standard, 14, "    default");
  if (!p.source.empty()) out += wrapped(p.source, 14, "    source");
  return out;
}

std::string section_text(const Section& section) {
  std::string out = section.path + "\n" + wrapped(section.meaning, 2);
  for (const Parameter& p : section.parameters) out.append("\n").append(parameter_text(p));
  return out;
}

}  // namespace

std::string describe(const std::vector<const Section*>& sections) {
  std::size_t column = 0;
  for (const Section* s : sections) column = std::max(column, s->path.size() + 2);
  std::string out;
  for (const Section* s : sections) out += wrapped(s->meaning, column, s->path);
  return out + "\n'mtsim describe NAME' shows the parameters of a section: type, default, what is allowed, meaning and source.\n";
}

std::string describe(const std::vector<const Section*>& sections, const std::string& name) {
  std::string out;
  std::vector<std::string> known;
  const auto append = [&](const std::string& text) { out += fmt::format("{}{}", out.empty() ? "" : "\n", text); };
  for (const Section* s : sections) {
    if (s->path == name || s->path.starts_with(name + ".")) append(section_text(*s));
    known.push_back(s->path);
    for (const Parameter& p : s->parameters) {
      known.push_back(s->path + "." + p.name);
      if (known.back() == name) append(s->path + "\n" + parameter_text(p));
    }
  }
  if (!out.empty()) return out;
  std::vector<std::string> paths;
  for (const Section* s : sections)
    if (paths.empty() || paths.back() != s->path) paths.push_back(s->path);
  throw UserError(fmt::format("describe: no section or parameter {}; sections: {}{}", config::in_quotes(name), fmt::join(paths, ", "),
                              did_you_mean(name, known)));
}

}  // namespace mtsim
