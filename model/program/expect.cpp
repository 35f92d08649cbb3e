#include "program/expect.h"

#include <algorithm>
#include <string_view>

#include "program/trace_words.h"

namespace mtsim::program {

namespace {

bool listed(const std::vector<std::int32_t>& words, std::int32_t word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The statuses that hold for one request; null where nothing was said about it.
const std::vector<std::int32_t>* words_for(const Expectation& e, std::uint64_t wr) {
  if (!e.given) return nullptr;
  for (const auto& [of, words] : e.by_wr)
    if (of == wr) return &words;
  return e.words.empty() ? nullptr : &e.words;
}

template <class Show>
std::string alternatives(const std::vector<std::int32_t>& words, Show show) {
  std::string text;
  for (const std::int32_t word : words) {
    if (!text.empty()) text += '|';
    text += show(word);
  }
  return text;
}

}  // namespace

bool names_error(const Expectation& e, int error) { return e.any || listed(e.words, error); }

bool allows_status(const Expectation& e, std::uint64_t wr, verbs::Status status) {
  if (e.given && e.any) return true;
  const auto* words = words_for(e, wr);
  return words ? listed(*words, static_cast<std::int32_t>(status)) : status == verbs::Status::SUCCESS;
}

std::string expected_errors(const Expectation& e) {
  if (!e.given) return "ok";
  if (e.any) return "anything";
  return alternatives(e.words, [](std::int32_t error) { return verbs::errno_name(error); });
}

std::string expected_states(const Expectation& e) {
  if (e.any) return "anything";
  return alternatives(e.words, [](std::int32_t state) { return verbs::name(static_cast<verbs::QpState>(state)); });
}

std::string expected_events(const Expectation& e) {
  if (e.any) return "anything";
  return alternatives(e.words, [](std::int32_t event) { return event_words()[static_cast<std::size_t>(event)]; });
}

std::string expected_statuses(const Expectation& e, std::uint64_t wr) {
  if (e.given && e.any) return "anything";
  const auto* words = words_for(e, wr);
  if (!words) return std::string(verbs::name(verbs::Status::SUCCESS));
  return alternatives(*words, [](std::int32_t status) { return verbs::name(static_cast<verbs::Status>(status)); });
}

}  // namespace mtsim::program
