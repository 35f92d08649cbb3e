#include "base/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/config_load.h"
#include "base/error.h"
#include "base/fingerprint.h"

namespace mtsim {
namespace {

using config::Node;

nlohmann::json to_json(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return nullptr;
    case Node::Kind::scalar:
      return node.text;
    case Node::Kind::list: {
      auto out = nlohmann::json::array();
      for (const Node& item : node.items) out.push_back(to_json(item));
      return out;
    }
    case Node::Kind::map:
      break;
  }
  auto out = nlohmann::json::object();
  for (const Node::Member& m : node.members) out[m.key] = to_json(m.value);
  return out;
}

/// Text that is not UTF-8 (possible on a command line) is replaced rather than refused: it has been complained about elsewhere.
std::string dumped(const nlohmann::json& json) { return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

}  // namespace

Config::Config(std::string source, Node tree, std::shared_ptr<config::Ledger> ledger)
    : source_(std::move(source)), tree_(std::move(tree)), ledger_(std::move(ledger)) {}

Config Config::with_sets(const std::string& source, Node tree, const std::vector<std::string>& sets,
                         const std::vector<config::Problem>& problems) {
  auto all = problems;
  for (const std::string& set : sets) config::apply_set(tree, set, all);
  Config made(source, std::move(tree), std::make_shared<config::Ledger>());
  for (auto& problem : all) made.ledger_->complain(std::move(problem));
  return made;
}

Config Config::load(const std::string& path, const std::vector<std::string>& sets) {
  auto loaded = config::load(path);
  Config made = with_sets(path, loaded.tree, sets, loaded.problems);
  made.variants_ = std::move(loaded.variants);
  made.validation_ = std::move(loaded.validation);
  if (made.validation_.place.source.empty()) made.validation_.place = {path};
  made.sets_ = sets;
  made.load_problems_ = std::move(loaded.problems);
  return made;
}

Config Config::empty() {
  Node tree;
  tree.kind = Node::Kind::map;
  return Config("", std::move(tree), std::make_shared<config::Ledger>());
}

std::vector<std::pair<std::string, Config>> Config::variants() const {
  std::vector<std::pair<std::string, Config>> out;
  for (const Node::Member& variant : variants_.members) {
    Node tree = tree_;
    config::merge(tree, variant.value);
    out.emplace_back(variant.key, with_sets(source_, std::move(tree), sets_, load_problems_));
  }
  return out;
}

std::string Config::below_host(const std::string& path) const { return "hosts." + host_ + "." + path; }

std::string Config::written_path(const std::string& path) const {
  return !host_.empty() && overlay_.find(path) != nullptr ? below_host(path) : path;
}

void Config::know_value(const std::string& path) const {
  ledger_->know_value(path);
  if (!host_.empty()) ledger_->know_value(below_host(path));
}

void Config::record(const std::string& path, const std::string& text) const {
  ledger_->record(host_.empty() ? path : below_host(path), text);
}

const Node* Config::scalar(const std::string& path, const std::string& wanted) const {
  const Node::Member* found = tree_.find(path);
  if (found == nullptr) return nullptr;
  if (found->value.kind == Node::Kind::scalar) return &found->value;
  ledger_->complain(
      {found->value.place, fmt::format("{}: wants a single value ({}), but is {}", written_path(path), wanted, found->value.described())});
  return nullptr;
}

void Config::read_section(const Section& section, const std::string& path, void* object) const {
  ledger_->know_section(path);
  if (!host_.empty()) ledger_->know_section(below_host(path));
  for (const Parameter& p : section.parameters) {
    const std::string full = config::join(path, p.name);
    know_value(full);
    const Node* value = scalar(full, p.allowed());
    const std::string text = value != nullptr ? value->text : p.standard;
    const std::string wrong = p.set(object, text);
    record(full, text);
    if (wrong.empty()) continue;
    if (value != nullptr) {
      ledger_->complain({value->place, fmt::format("{}: {}", written_path(full), wrong)});
    } else if (!p.standard.empty()) {
      throw std::logic_error(fmt::format("the declared default of {}: {}", full, wrong));
    } else if (!has(full)) {
      fail(full, fmt::format("missing, and there is no default ({})", p.allowed()));
    }
  }
}

std::string Config::word(const std::string& path, const std::string& standard, const std::vector<std::string>& allowed) const {
  know_value(path);
  const std::string words = fmt::format("one of: {}", fmt::join(allowed, ", "));
  const Node* value = scalar(path, words);
  if (value != nullptr && std::find(allowed.begin(), allowed.end(), value->text) != allowed.end()) {
    record(path, value->text);
    return value->text;
  }
  if (value != nullptr)
    ledger_->complain({value->place, fmt::format("{}: {} is not {}{}", written_path(path), config::in_quotes(value->text), words,
                                                 did_you_mean(value->text, allowed))});
  else if (standard.empty() && !has(path)) fail(path, fmt::format("missing, and there is no default ({})", words));

  const std::string section = config::parent_of(path);
  if ((has(path) || standard.empty()) && !section.empty()) {
    ledger_->excuse(section);
    if (!host_.empty()) ledger_->excuse(below_host(section));
  }
  record(path, standard);
  return standard;
}

std::vector<std::string> Config::host_names() const {
  ledger_->know_section("hosts");
  std::vector<std::string> names;
  if (const Node::Member* hosts = tree_.member("hosts"))
    for (const Node::Member& m : hosts->value.members) names.push_back(m.key);
  return names;
}

Config Config::for_host(const std::string& host) const {
  Config view(source_, tree_, ledger_);
  view.host_ = host;
  ledger_->know_section("hosts." + host);
  std::erase_if(view.tree_.members, [](const Node::Member& m) { return m.key == "hosts"; });
  const Node::Member* own = tree_.find("hosts." + host);
  if (own != nullptr && own->value.is_map()) {
    view.overlay_ = own->value;
    config::merge(view.tree_, view.overlay_);
  }
  return view;
}

bool Config::has(const std::string& path) const { return tree_.find(path) != nullptr; }

void Config::fail(const std::string& path, const std::string& message) const {
  config::Place place{source_};
  for (std::string at = path; !at.empty(); at = config::parent_of(at))
    if (const Node::Member* found = tree_.find(at)) {
      // A value is shown where it stands; a section by its key, as its contents start on a later line.
      place = found->value.is_map() || at != path ? found->place : found->value.place;
      break;
    }
  ledger_->complain({place, fmt::format("{}: {}", written_path(path), message)});
}

void Config::finish() const {
  const auto lines = ledger_->verdict(tree_);
  if (!lines.empty()) throw UserError(lines);
}

std::string Config::effective() const { return dumped(to_json(tree_)); }

std::string Config::hash() const { return fingerprint(effective()); }

std::string Config::effective_json() const {
  auto out = nlohmann::json::object();
  for (const auto& [path, text] : ledger_->values()) {
    nlohmann::json* at = &out;
    for (std::size_t from = 0; from != std::string::npos;) {
      const auto dot = path.find('.', from);
      at = &(*at)[path.substr(from, dot == std::string::npos ? dot : dot - from)];
      from = dot == std::string::npos ? dot : dot + 1;
    }
    *at = text;
  }
  return dumped(out);
}

}  // namespace mtsim
