#include "system/schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/schema.h"
#include "base/sections.h"
#include "program/workload.h"
#include "system/component_keys.h"
#include "system/settings.h"
#include "validation/schema.h"

namespace mtsim::system {
namespace {

using schema::Json;
/// Keys that a reader asked for: sections hold objects, single values their default. Sorted.
using Keys = nlohmann::json;

Keys asked_of(const Config& config) { return Keys::parse(config.effective_json()); }

Keys of_kind(const std::string& kind) {
  const Config config = Config::empty();
  program::Workloads::make(kind, config);
  return asked_of(config).value("workload", Keys::object());
}

Json ref(const std::string& definition) { return {{"$ref", "#/definitions/" + definition}}; }

Json object_of(const std::string& description, Json properties) {
  Json out;
  out["description"] = description;
  out["type"] = "object";
  out["properties"] = std::move(properties);
  out["additionalProperties"] = false;
  return out;
}

/// A map from free names to `value`.
Json named(const std::string& description, const Json& value) {
  Json out;
  out["description"] = description;
  out["type"] = "object";
  out["propertyNames"] = {{"pattern", "^[^.]+$"}};
  out["additionalProperties"] = value;
  return out;
}

class Composer {
 public:
  Composer() {
    for (const Section* section : Sections::all()) {
      meanings_.emplace(section->path, section->meaning);
      for (const Parameter& p : section->parameters) parameters_.emplace(section->path + "." + p.name, &p);
    }
    for (ComponentKey& key : component_keys()) components_.emplace(key.path, std::move(key));
  }

  Json compose() {
    const Config config = Config::empty();
    read_settings(config);
    read_host(config, "");
    const std::string any_host = "any";
    read_host(config, any_host);
    Keys common = asked_of(config);
    Keys of_host = common["hosts"][any_host];
    common.erase("hosts");
    add_declared(common, of_host);
    common["workload"]["kind"] = "";

    Json definitions;
    for (const auto& [key, value] : common.items())
      if (value.is_object()) definitions[key] = section(key, value);
    definitions["kinds"] = kinds(common["workload"]);
    definitions["extends"] = extends();

    Json host;
    host["extends"] = ref("extends");
    for (const auto& [key, value] : of_host.items()) {
      // One definition serves both places.
      if (value != common[key]) throw std::logic_error("a host takes other keys in '" + key + "' than the common settings");
      host[key] = ref(key);
    }
    definitions["hosts"] =
        named("What single hosts have that others have not, by name.", object_of("Laid over the common settings.", std::move(host)));

    Json settings;
    settings["extends"] = ref("extends");
    for (const auto& [key, value] : common.items()) settings[key] = value.is_object() ? ref(key) : single(key, value);
    settings["hosts"] = ref("hosts");

    Json overlay = settings;
    overlay["workload"] = {{"allOf", {ref("workload"), ref("kinds")}}};
    Json variants = named("Systems to run side by side, by name.", object_of("Laid over the common settings.", std::move(overlay)));
    variants["minProperties"] = 1;
    settings["variants"] = std::move(variants);
    settings["validation"] = validation::section_schema();

    Json out;
    out["$schema"] = "http://json-schema.org/draft-07/schema#";
    out["$id"] = "urn:mtsim:configuration:" MTSIM_VERSION;
    out["title"] = "Configuration of mtsim " MTSIM_VERSION;
    out.update(object_of("A system to simulate, or an overlay of one.", std::move(settings)));
    // With variants the kind that is written here need not be the one that any of them has.
    out["if"] = {{"not", {{"required", {"variants"}}}}};
    out["then"] = {{"properties", {{"workload", ref("kinds")}}}};
    out["definitions"] = std::move(definitions);
    return out;
  }

 private:
  /// What nobody asked for yet is read where another value asks for it: the parameters of one kind of workload, say.
  void add_declared(Keys& common, Keys& of_host) const {
    for (const auto& [path, parameter] : parameters_) {
      std::string pointer = "/" + path;
      std::replace(pointer.begin(), pointer.end(), '.', '/');
      const Keys::json_pointer place(pointer);
      common[place] = parameter->standard;
      if (of_host.contains(path.substr(0, path.find('.')))) of_host[place] = parameter->standard;
    }
  }

  Json section(const std::string& path, const Keys& keys) const {
    Json properties;
    for (const auto& [key, value] : keys.items()) {
      const std::string full = path + "." + key;
      properties[key] = value.is_object() ? section(full, value) : single(full, value);
    }
    const auto meaning = meanings_.find(path);
    return object_of(meaning == meanings_.end() ? "" : meaning->second, std::move(properties));
  }

  /// `standard` is what the reader takes where nothing is written.
  Json single(const std::string& path, const std::string& standard) const {
    const auto parameter = parameters_.find(path);
    const auto component = components_.find(path);
    if (component == components_.end()) {
      if (parameter != parameters_.end()) return schema::of_parameter(*parameter->second);
      throw std::logic_error("'" + path + "' is read, but neither a declared parameter nor the name of a component");
    }
    const ComponentKey& key = component->second;
    if (parameter == parameters_.end()) return schema::of_names(key.known, key.meaning, standard);
    Parameter with_names = *parameter->second;
    with_names.choices = key.names();
    return schema::of_names(key.known, schema::of_parameter(with_names)["description"], standard);
  }

  /// Where a workload's kind is written beside its other keys, those of other kinds are refused. `all`: the keys of every kind.
  static Json kinds(const Keys& all) {
    auto rules = Json::array();
    for (const std::string& kind : workload_key().names()) {
      Json foreign;
      const Keys own = of_kind(kind);
      for (const auto& [key, value] : all.items())
        if (key != "kind" && !own.contains(key)) foreign[key] = false;
      if (foreign.is_null()) continue;
      Json rule;
      rule["if"] = {{"required", {"kind"}}, {"properties", {{"kind", {{"const", kind}}}}}};
      rule["then"] = {{"properties", foreign}};
      rules.push_back(rule);
    }
    return {{"allOf", rules}};
  }

  static Json extends() {
    const Json file = {{"type", "string"}, {"minLength", 1}};
    Json out;
    out["description"] =
        "A file or a list of files that this one is laid over, each relative to this file, or after mtsim: the name of a shipped one. "
        "Later "
        "files win over earlier ones, and what stands here wins over all.";
    out["anyOf"] = {file, {{"type", "array"}, {"items", file}}};
    return out;
  }

  std::map<std::string, std::string> meanings_;
  std::map<std::string, const Parameter*> parameters_;
  std::map<std::string, ComponentKey> components_;
};

}  // namespace

std::string configuration_schema() { return Composer().compose().dump(1) + "\n"; }

}  // namespace mtsim::system
