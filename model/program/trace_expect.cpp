#include "program/trace_expect.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace mtsim::program {
namespace {

using Words32 = std::vector<std::int32_t>;

/// The names of all errors that this system has, for the nearest one to a misspelt word.
std::vector<std::string> errno_words() {
  constexpr int more_than_any = 200;
  std::vector<std::string> out;
  for (int error = 0; error < more_than_any; ++error)
    if (const auto name = verbs::errno_name(error); verbs::parse_errno(name) == error) out.emplace_back(name);
  return out;
}

bool one_word(ValueReader& values, std::string_view text, Kind kind, Words32& out) {
  int found = -1;
  switch (kind) {
    case Kind::poll:
      found = status_words().find(text);
      if (found < 0)
        return values.fail(
            text, [&] { return fmt::format("{} is not a completion status{}", quote(text), did_you_mean(text, status_words().list())); });
      break;
    case Kind::query_qp:
      if (!values.word(text, qp_state_words(), "a state of a QP", found)) return false;
      break;
    case Kind::event:
      found = event_words().find(text);
      if (found < 0)
        return values.fail(
            text, [&] { return fmt::format("{} is not an asynchronous event{}", quote(text), did_you_mean(text, event_words().list())); });
      break;
    default:
      found = verbs::parse_errno(text).value_or(-1);
      if (found < 0)
        return values.fail(text, [&] {
          return fmt::format("{} is neither ok nor the name of an error{}", quote(text), did_you_mean(text, errno_words()));
        });
  }
  out.push_back(found);
  return true;
}

/// A|B, or any.
bool alternatives(ValueReader& values, std::string_view text, Kind kind, Words32& out, bool& any) {
  any = text == "any";
  if (any) return true;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t bar = std::min(text.find('|', start), text.size());
    if (!one_word(values, text.substr(start, bar - start), kind, out)) return false;
    start = bar + 1;
  }
  return true;
}

/// WR:A|B,WR:C
bool by_request(ValueReader& values, std::string_view text, Expectation& expect) {
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    std::string_view words = text.substr(start, comma - start);
    const std::string_view item = words;
    const std::string_view wr = take_until(words, ':');
    if (wr.size() == item.size()) return values.fail(item, [&] { return fmt::format("{} needs a request: WR:STATUS", quote(item)); });
    auto& [request, allowed] = expect.by_wr.emplace_back();
    bool any = false;
    if (!values.number(wr, request) || !alternatives(values, words, Kind::poll, allowed, any)) return false;
    if (any)
      for (unsigned status = 0; status < verbs::status_count; ++status) allowed.push_back(static_cast<std::int32_t>(status));
    start = comma + 1;
  }
  return true;
}

}  // namespace

bool read_expectation(ValueReader& values, std::string_view text, Kind kind, Op& op) {
  Expectation& expect = op.expect;
  expect.given = true;
  expect.any = false;
  expect.words.clear();
  expect.by_wr.clear();
  if (kind == Kind::poll && text.find(':') != std::string_view::npos) return by_request(values, text, expect);
  if (!alternatives(values, text, kind, expect.words, expect.any)) return false;
  if (kind == Kind::event) op.word = text;
  if (kind == Kind::query_qp && !expect.any) op.state = static_cast<verbs::QpState>(expect.words.front());
  return true;
}

}  // namespace mtsim::program
