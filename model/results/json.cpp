#include "results/json.h"

#include "base/error.h"
#include "results/fields.h"
#include "results/json_reader.h"
#include "results/json_writer.h"

namespace mtsim::results {
namespace {

using json::Json;

void write_report(Json& object, const Report& report, JsonOptions options) {
  json::Writer out(object);
  report_fields(out, report);
  if (report.machine && options.machine) out.group("machine", [&](auto& in) { machine_fields(in, *report.machine); });
}

Report read_report(const Json& object) {
  Report report;
  json::Reader in(object);
  report_fields(in, report);
  if (object.contains("machine")) in.group("machine", [&](auto& m) { machine_fields(m, report.machine.emplace()); });
  return report;
}

Json heading(const std::string& version) {
  Json document = Json::object();
  document["schema"] = schema_version;
  document["version"] = version;
  return document;
}

std::string printed(const Json& document) {
  std::string out;
  json::print(document, 0, out);
  out += '\n';
  return out;
}

}  // namespace

std::string to_json(const Report& report, JsonOptions options) {
  Json document = heading(report.version);
  write_report(document, report, options);
  return printed(document);
}

std::string to_json(std::span<const Variant> variants, JsonOptions options) {
  Json document = heading(variants.empty() ? "" : variants.front().report.version);
  Json& all = document["variants"] = Json::object();
  for (const Variant& v : variants) write_report(all[v.name] = Json::object(), v.report, options);
  return printed(document);
}

std::vector<Variant> parse_json(std::string_view text, const std::string& source) {
  try {
    const Json document = Json::parse(text);
    if (const auto schema = document.at("schema").get<unsigned>(); schema != schema_version)
      throw UserError(fmt::format("{}: results of schema {}; this version reads schema {}", source, schema, schema_version));
    const auto version = document.at("version").get<std::string>();
    std::vector<Variant> out;
    const auto read = [&](const std::string& name, const Json& object) {
      out.push_back({name, read_report(object)});
      out.back().report.version = version;
    };
    if (!document.contains("variants")) {
      read("", document);
    } else {
      for (const auto& [name, object] : document.at("variants").items()) read(name, object);
    }
    return out;
  } catch (const nlohmann::json::exception& e) {
    throw UserError(fmt::format("{}: not a result file: {}", source, e.what()));
  } catch (const std::invalid_argument& e) { throw UserError(fmt::format("{}: not a result file: {}", source, e.what())); }
}

}  // namespace mtsim::results
