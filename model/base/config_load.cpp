#include "base/config_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "base/config_parse.h"
#include "base/error.h"
#include "base/shipped.h"

namespace mtsim::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{1} << 20;

/// The text of a file, or what is wrong with it.
std::string read_text(const std::string& path, std::string& wrong) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    wrong = "is a directory, not a file";
    return {};
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    wrong = std::string("cannot be read: ") + std::strerror(errno);
    return {};
  }
  // One byte more than allowed is asked for, so that a pipe or a device without end is refused as well.
  std::string text(most_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) wrong = "cannot be read to its end";
  if (text.size() > most_bytes) wrong = "is too large for a configuration: more than 1 MiB";
  return text;
}

class Loader {
 public:
  /// One file with what it extends. `named_at` is the place of the `extends` that names it.
  std::optional<Node> file(const std::string& name, const Place* named_at) {
    const std::string path = is_shipped(name) ? shipped_path(name) : name;
    const auto fail = [&](const std::string& wrong) {
      if (named_at != nullptr) fatal_.push_back({*named_at, fmt::format("extends: {} {}", path, wrong)});
      else fatal_.push_back({Place{path}, wrong});
      return std::nullopt;
    };
    std::error_code ignored;
    const fs::path canonical = fs::weakly_canonical(path, ignored);
    if (std::find(open_.begin(), open_.end(), canonical) != open_.end()) return fail("extends itself, directly or through others");
    if (budget_.files == 0) return fail("is one file too many: a configuration may extend 200 in all");
    --budget_.files;

    std::string wrong;
    const std::string text = read_text(path, wrong);
    if (!wrong.empty()) return fail(wrong);
    Node tree;
    try {
      tree = parse(text, path, budget_, problems_);
    } catch (const UserError& e) {
      fatal_lines_.insert(fatal_lines_.end(), e.messages().begin(), e.messages().end());
      return std::nullopt;
    }
    if (!tree.is_map()) return fail(fmt::format("must hold a map of sections such as 'nic:', but is {}", tree.described()));

    open_.push_back(canonical);
    if (Node::Member* variants = tree.member("variants"))
      for (Node::Member& variant : variants->value.members) expand_with_hosts(variant.value, path);
    expand_with_hosts(tree, path);
    open_.pop_back();
    return tree;
  }

  std::vector<Problem> finish() {
    if (!fatal_.empty() || !fatal_lines_.empty()) {
      fatal_.insert(fatal_.end(), problems_.begin(), problems_.end());
      std::vector<std::string> lines = sorted_lines(fatal_);
      lines.insert(lines.end(), fatal_lines_.begin(), fatal_lines_.end());
      throw UserError(lines);
    }
    return problems_;
  }

 private:
  /// Carries out the `extends` of a map that was written in `path`.
  void expand(Node& map, const std::string& path) {
    const Node::Member* extends = map.member("extends");
    if (extends == nullptr) return;
    const Node names = extends->value;
    std::erase_if(map.members, [](const Node::Member& m) { return m.key == "extends"; });

    Node merged;
    merged.kind = Node::Kind::map;
    merged.place = map.place;
    const std::vector<Node> list = names.kind == Node::Kind::list ? names.items : std::vector<Node>{names};
    for (const Node& name : list) {
      if (name.kind != Node::Kind::scalar || name.text.empty()) {
        problems_.push_back({name.place, fmt::format("extends: wants a file or a list of files, but is {}", name.described())});
        continue;
      }
      const fs::path found = is_shipped(name.text) ? fs::path(name.text) : fs::path(path).parent_path() / name.text;
      if (const auto tree = file(found.lexically_normal().string(), &name.place)) merge(merged, *tree);
    }
    merge(merged, map);
    map = std::move(merged);
  }

  /// The same for the hosts described in the map, then for itself.
  void expand_with_hosts(Node& map, const std::string& path) {
    if (Node::Member* hosts = map.member("hosts"))
      for (Node::Member& host : hosts->value.members) expand(host.value, path);
    expand(map, path);
  }

  Budget budget_;
  std::vector<fs::path> open_;  ///< the files being read, each named by the one before
  std::vector<Problem> problems_;
  std::vector<Problem> fatal_;
  std::vector<std::string> fatal_lines_;
};

/// Takes the variants out of `tree`, keeping those that are maps.
Node take_variants(Node& tree, std::vector<Problem>& problems) {
  const Node::Member* found = tree.member("variants");
  if (found == nullptr) return {};
  Node variants = found->value;
  const Place place = found->place;
  std::erase_if(tree.members, [](const Node::Member& m) { return m.key == "variants"; });
  if (!variants.is_map() || variants.members.empty()) {
    problems.push_back({place, fmt::format("variants: wants a map from names to overlays, but is {}",
                                           variants.is_map() ? "empty" : variants.described())});
    return {};
  }
  for (Node::Member& variant : variants.members) {
    const std::string path = join("variants", variant.key);
    if (!variant.value.is_map())
      problems.push_back(
          {variant.place, fmt::format("{}: wants a map of settings ({{}} for none), but is {}", path, variant.value.described())});
    if (const Node::Member* nested = variant.value.member("variants")) {
      problems.push_back({nested->place, fmt::format("{}.variants: a variant cannot hold variants", path)});
      std::erase_if(variant.value.members, [](const Node::Member& m) { return m.key == "variants"; });
    }
  }
  std::erase_if(variants.members, [](const Node::Member& m) { return !m.value.is_map(); });
  return variants;
}

/// Takes `validation` out of `tree`: it is no part of the system that is described.
Node take_validation(Node& tree) {
  const Node::Member* found = tree.member("validation");
  if (found == nullptr) return {};
  Node validation = found->value;
  // An empty section is shown by its key.
  if (validation.kind == Node::Kind::null) validation.place = found->place;
  std::erase_if(tree.members, [](const Node::Member& m) { return m.key == "validation"; });
  return validation;
}

}  // namespace

Loaded load(const std::string& path) {
  Loader loader;
  auto tree = loader.file(path, nullptr);
  Loaded loaded;
  loaded.problems = loader.finish();
  loaded.tree = std::move(*tree);
  loaded.variants = take_variants(loaded.tree, loaded.problems);
  loaded.validation = take_validation(loaded.tree);
  return loaded;
}

void apply_set(Node& tree, const std::string& set, std::vector<Problem>& problems) {
  const Place place{"--set " + set};
  const auto equals = set.find('=');
  const std::string path = set.substr(0, equals);
  const bool whole = !path.empty() && std::count(path.begin(), path.end(), '.') < 32 && path.front() != '.' && path.back() != '.' &&
                     path.find("..") == std::string::npos;
  if (equals == std::string::npos || !whole) {
    problems.push_back({place, "wants PATH=VALUE, such as nic.mtt_cache.ways=4"});
    return;
  }
  const std::string top = path.substr(0, path.find('.'));
  if (top == "extends" || top == "variants" || top == "validation") {
    problems.push_back({place, top + ": cannot be set from the command line"});
    return;
  }

  Node value;
  const std::string text = set.substr(equals + 1);
  if (text.starts_with('[')) {
    try {
      Budget budget;
      value = parse(text, place.source, budget, problems);
    } catch (const UserError& e) {
      problems.push_back({place, fmt::format("{}: {} is not a list", path, in_quotes(text))});
      return;
    }
  } else if (!text.empty()) {
    value.kind = Node::Kind::scalar;
    value.text = text;
  }
  value.place = place;

  // Built from the innermost key outwards: a map of one member at each level.
  for (std::string rest = path; !rest.empty(); rest = parent_of(rest)) {
    const std::string parent = parent_of(rest);
    Node map;
    map.kind = Node::Kind::map;
    map.place = place;
    map.members.push_back({parent.empty() ? rest : rest.substr(parent.size() + 1), place, std::move(value)});
    value = std::move(map);
  }
  merge(tree, value);
}

}  // namespace mtsim::config
