#include "validation/schema.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "validation/unit.h"

namespace mtsim::validation {
namespace {

using Json = nlohmann::ordered_json;

Json described(const char* meaning, Json type) {
  Json out;
  out["description"] = meaning;
  for (const auto& [key, value] : type.items()) out[key] = value;
  return out;
}

Json object_of(const char* meaning, Json properties, std::initializer_list<const char*> required) {
  Json out;
  out["description"] = meaning;
  out["type"] = "object";
  out["properties"] = std::move(properties);
  out["required"] = Json::array();
  for (const char* key : required) out["required"].push_back(key);
  out["additionalProperties"] = false;
  return out;
}

const Json text = {{"type", {"string", "number"}}};
const Json number = {{"type", "number"}};
const Json flag = {{"type", "boolean"}};
const Json share = {{"type", "string"}, {"pattern", R"(^-?[0-9.]+ *%$)"}};
const Json measure = {{"anyOf", {{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}}}}};

Json tolerance() {
  return described("How far off is still right: a share (10%), a number in the unit of the series (0.1), or a factor (x1.5).",
                   {{"type", {"string", "number"}}, {"pattern", R"(^([0-9.]+ *%|x?[0-9.]+)$)"}});
}

Json line() {
  Json p;
  p["at"] = described("Where each point lies on the line, by variant.", {{"type", "object"}, {"additionalProperties", number}});
  p["per"] = described("What one more of that is called: page.", text);
  p["slope"] = described("Published slope, in the unit of the series.", number);
  p["intercept"] = described("Published figure at 0.", number);
  p["least_r2"] = described("What R^2 must reach.", number);
  p["tolerance"] = tolerance();
  return object_of("The straight line through the points, by least squares.", std::move(p), {"at", "per"});
}

Json steps() {
  Json p;
  p["from"] = described("A point's variant.", text);
  p["to"] = described("Another's.", text);
  p["change"] = described("At least this much up, or (-15%) down.", share);
  return described("What must happen between two points.",
                   {{"type", "array"}, {"items", object_of("One step.", std::move(p), {"from", "to", "change"})}});
}

Json series() {
  Json p;
  p["measure"] = described("A named figure (reg_mr_mean), a path within the report's JSON, or a list of which the sum counts.", measure);
  p["unit"] = described("Of the published figures.", {{"enum", unit_names()}});
  p["per"] = described("The figure is divided by this number, or by this figure of the same report.",
                       {{"anyOf", {number, measure["anyOf"][0], measure["anyOf"][1]}}});
  p["minus"] = described("The variant whose figure is taken off first.", text);
  p["tolerance"] = tolerance();
  p["fitted"] = described("Whether a parameter was fitted on these points.", flag);
  p["judged"] = described("false: shown, but no miss whatever it is.", flag);
  p["published"] =
      described("The published figure of each variant; LOW..HIGH is a band.",
                {{"type", "object"},
                 {"minProperties", 1},
                 {"additionalProperties", {{"type", {"number", "string"}}, {"pattern", R"(^-?[0-9.e+-]+(\.\.-?[0-9.e+-]+)?$)"}}}});
  p["line"] = line();
  p["order"] = described("Points published further apart than this must come in the published order.", share);
  p["steps"] = steps();
  return object_of("One figure over several variants.", std::move(p), {"measure", "unit", "published"});
}

}  // namespace

Json section_schema() {
  Json p;
  p["row"] = described("Name of the row: R1.", text);
  p["group"] = described("Rows that are run together: registration.", text);
  p["title"] = described("What was measured.", text);
  p["source"] = described("Who measured it, and where it is published.", text);
  p["notes"] = described("What a reader of the figures should know.", text);
  p["fitted"] = described("Whether parameters were fitted on these figures.", flag);
  p["tolerance"] = tolerance();
  p["series"] = described("The figures, by name.", {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", series()}});
  return object_of("Published measurements that mtsim validate compares the variants with.", std::move(p),
                   {"row", "group", "title", "source", "series"});
}

}  // namespace mtsim::validation
