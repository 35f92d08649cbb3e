// What the lines of a trace expect, and something else in the place of each: whether a run would notice.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace mtsim::test {

struct Expectation {
  std::size_t line, begin, end;  ///< the line from 1, the place in the whole text
  std::string opposite;          ///< something that cannot come in its stead
};

/// Every word that a line of `text` expects under `set`: by `expect.SET=`, or else by `expect=`.
inline std::vector<Expectation> expectations(const std::string& text, const std::string& set = "ib") {
  std::vector<Expectation> out;
  std::size_t line = 0;
  for (std::size_t start = 0; start < text.size(); start = std::min(text.find('\n', start), text.size() - 1) + 1) {
    ++line;
    const std::string_view whole(text.data() + start, text.find('\n', start) - start);
    const std::string own = " expect." + set + "=", common = " expect=";
    std::size_t found = whole.find(own), mark = own.size();
    if (found == std::string_view::npos) {
      found = whole.find(common);
      mark = common.size();
    }
    if (found == std::string_view::npos) continue;
    std::size_t at = start + found + mark;
    const std::size_t operation = text.find(' ', start) + 1;
    const std::string kind = text.substr(operation, text.find(' ', operation) - operation);
    const std::size_t end = text.find_first_of(" \n", at);
    while (at < end) {
      const std::size_t comma = std::min(text.find(',', at), end), colon = text.find(':', at);
      const std::size_t begin = colon < comma ? colon + 1 : at;
      const bool success = text.compare(begin, comma - begin, "SUCCESS") == 0;
      const std::string opposite = kind == "poll"       ? success ? "RETRY_EXC_ERR" : "SUCCESS"
                                   : kind == "query_qp" ? "sqd"
                                   : kind == "event"    ? "DEVICE_FATAL"
                                                        : "EIO";
      out.push_back({line, begin, comma, opposite});
      at = comma + 1;
    }
  }
  return out;
}

}  // namespace mtsim::test
