#include "plans.h"

#include <algorithm>

#include "base/error.h"

namespace mtsim::tool {

std::vector<system::Plan> make_plans(const Inputs& inputs) {
  const auto trace = inputs.trace.empty() ? std::nullopt : std::optional(inputs.trace);
  std::optional<program::ReplayTime> time;
  if (!inputs.time.empty()) time = inputs.time == "asap" ? program::ReplayTime::asap : program::ReplayTime::recorded;
  return make_plans(Config::load(inputs.config, inputs.sets), trace, time);
}

std::vector<system::Plan> make_plans(const Config& config, const std::optional<std::string>& trace,
                                     std::optional<program::ReplayTime> time) {
  auto variants = config.variants();
  if (variants.empty()) variants.emplace_back("", config);

  std::vector<system::Plan> plans;
  std::vector<std::string> mistakes;
  for (const auto& [name, variant] : variants) {
    try {
      plans.push_back(system::make_plan(variant, trace, time));
      plans.back().variant = name;
    } catch (const UserError& error) {
      for (const std::string& message : error.messages())
        if (std::find(mistakes.begin(), mistakes.end(), message) == mistakes.end()) mistakes.push_back(message);
    }
  }
  if (!mistakes.empty()) throw UserError(mistakes);
  return plans;
}

}  // namespace mtsim::tool
