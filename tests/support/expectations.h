// What the lines of a trace expect, and something else in the place of each: whether a run would notice.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace mtsim::test {

struct Expectation {
  std::size_t line, begin, end;  ///< the line from 1, the place in the whole text
  std::string opposite;          ///< something that cannot come in its stead
};

/// Every word that a line of `text` expects under all rule sets (`expect=`).
inline std::vector<Expectation> expectations(const std::string& text) {
  std::vector<Expectation> out;
  const std::string mark = " expect=";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
    at += mark.size();
    const auto line = 1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    const std::size_t start = text.rfind('\n', at) + 1, operation = text.find(' ', start) + 1;
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
