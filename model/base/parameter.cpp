#include "base/parameter.h"

#include <fmt/format.h>

#include "base/config_node.h"
#include "base/error.h"

namespace mtsim {

std::string Parameter::set(void* object, const std::string& text) const {
  std::string complaint;
  if (const std::string wrong = assign(object, text); !wrong.empty())
    complaint = choices.empty() ? fmt::format("{} {}", config::in_quotes(text), wrong)
                                : fmt::format("{} is not {}{}", config::in_quotes(text), allowed(), did_you_mean(text, choices));
  else if (!low.empty() && compare(text, low) < 0) complaint = fmt::format("{} is below the minimum {}", text, low);
  else if (!high.empty() && compare(text, high) > 0) complaint = fmt::format("{} is above the maximum {}", text, high);
  if (!complaint.empty()) assign(object, standard);
  return complaint;
}

std::string Parameter::allowed() const {
  if (!choices.empty()) return fmt::format("one of: {}", fmt::join(choices, ", "));
  if (!low.empty() && !high.empty()) return fmt::format("{}, {} to {}", unit, low, high);
  if (!low.empty()) return fmt::format("{}, at least {}", unit, low);
  if (!high.empty()) return fmt::format("{}, at most {}", unit, high);
  return unit;
}

}  // namespace mtsim
