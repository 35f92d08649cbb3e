#include "base/error.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mtsim {
namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const auto& line : lines) {
    if (!out.empty()) out += '\n';
    out += line;
  }
  return out;
}

/// Letters to insert, remove, change or swap with their neighbour to get from one word to the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

UserError::UserError(std::string message) : std::runtime_error(message), messages_{std::move(message)} {}
UserError::UserError(std::vector<std::string> messages) : std::runtime_error(joined(messages)), messages_(std::move(messages)) {}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  // A third of the letters may be wrong: more than that is another word, not a slip.
  std::size_t limit = std::max<std::size_t>(1, word.size() / 3);
  for (const auto& candidate : known) {
    const std::size_t lengths = std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size());
    if (lengths > limit) continue;  // as far apart as that at least: a long word is not worth comparing
    const std::size_t distance = edit_distance(word, candidate);
    if (distance <= limit && (best.empty() || distance < limit)) {
      best = candidate;
      limit = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string guess = nearest(word, known);
  return guess.empty() ? "" : "; did you mean '" + guess + "'?";
}

}  // namespace mtsim
