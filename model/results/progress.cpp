#include "results/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ostream>

#include "results/human.h"

namespace mtsim::results {

std::string progress_text(Time simulated, std::uint64_t done, std::uint64_t whole, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0.0;
  std::string out = fmt::format("{} simulated, {}", human::time(simulated), human::count(done));
  if (whole > 0) out += fmt::format(" of {}", human::count(whole));
  out += " operations";
  if (whole > 0) out += fmt::format(" ({})", human::percent(static_cast<double>(std::min(done, whole)) / static_cast<double>(whole)));
  if (rate > 0) out += fmt::format(", {}", human::rate(rate));
  if (rate > 0 && whole > done) out += fmt::format(", {} left", human::time_ns(static_cast<double>(whole - done) / rate * 1e9));
  return out;
}

bool progress_wanted(bool quiet) { return !quiet && isatty(STDERR_FILENO) == 1; }

ProgressLine::ProgressLine(std::ostream& out, bool wanted, std::uint64_t whole, std::string label)
    : out_(out), wanted_(wanted), whole_(whole), label_(std::move(label)), start_(WallClock::now()) {
  // The first line comes late: a run that ends at once should show none.
  next_ = start_ + std::chrono::milliseconds(500);
}

ProgressLine::~ProgressLine() {
  if (shown_ > 0) out_ << '\r' << std::string(shown_, ' ') << '\r' << std::flush;
}

void ProgressLine::update(Time simulated, std::uint64_t done) {
  if (!wanted_) return;
  const WallClock::time_point now = WallClock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  std::string line = label_.empty() ? "" : label_ + ": ";
  line += progress_text(simulated, done, whole_, std::chrono::duration<double>(now - start_).count());
  // Blanks wipe what a longer line before left behind.
  const std::size_t blanks = shown_ > line.size() ? shown_ - line.size() : 0;
  out_ << '\r' << line << std::string(blanks, ' ') << std::flush;
  shown_ = line.size();
}

}  // namespace mtsim::results
