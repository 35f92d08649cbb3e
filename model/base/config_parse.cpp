#include "base/config_parse.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "base/error.h"

namespace mtsim::config {
namespace {

constexpr std::size_t most_levels = 32;

/// Builds the tree from the parser's events, so that every node keeps its place and an alias is never expanded.
class Builder : public YAML::EventHandler {
 public:
  Builder(std::string source, Budget& budget, std::vector<Problem>& problems)
      : source_(std::move(source)), budget_(budget), problems_(problems) {}

  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(make(Node::Kind::null, mark)); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    problem(mark, "aliases (*name) are not supported; write the value out, or put what is shared into a file for 'extends'");
    add(std::nullopt);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    check_tag(mark, tag);
    Node node = make(Node::Kind::scalar, mark);
    node.text = value;
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(Node::Kind::list, mark, tag);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(Node::Kind::map, mark, tag);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Key {
    std::string name;
    Place place;
    bool usable;
  };
  struct Level {
    Node node;
    std::optional<Key> key;             ///< of the member whose value comes next
    std::map<std::string, Place> seen;  ///< the keys of a map so far
  };

  Place place(const YAML::Mark& mark) const {
    return {source_, static_cast<std::size_t>(mark.line + 1), static_cast<std::size_t>(mark.column + 1)};
  }
  void problem(const YAML::Mark& mark, std::string text) { problems_.push_back({place(mark), std::move(text)}); }

  void check_tag(const YAML::Mark& mark, const std::string& tag) {
    // The parser reports `?` for a plain and `!` for a quoted scalar.
    if (!tag.empty() && tag != "?" && tag != "!") problem(mark, fmt::format("tags ({}) are not supported", in_quotes(tag)));
  }

  Node make(Node::Kind kind, const YAML::Mark& mark) {
    if (budget_.nodes == 0) throw UserError(place(mark).text() + ": the configuration is too large: more than 20,000 values");
    --budget_.nodes;
    Node node;
    node.kind = kind;
    node.place = place(mark);
    return node;
  }

  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag) {
    if (levels_.size() == most_levels) throw UserError(fmt::format("{}: nested deeper than {} levels", place(mark).text(), most_levels));
    check_tag(mark, tag);
    levels_.push_back({make(kind, mark), std::nullopt, {}});
  }

  void close() {
    Node node = std::move(levels_.back().node);
    levels_.pop_back();
    add(std::move(node));
  }

  /// A finished node, or nothing for one that cannot be used.
  void add(std::optional<Node> node) {
    if (levels_.empty()) {
      if (node) root_ = std::move(*node);
      return;
    }
    Level& level = levels_.back();
    if (level.node.kind == Node::Kind::list) {
      if (node) level.node.items.push_back(std::move(*node));
    } else if (!level.key) {
      level.key = key_from(level, node);
    } else {
      if (node && level.key->usable) level.node.members.push_back({level.key->name, level.key->place, std::move(*node)});
      level.key.reset();
    }
  }

  Key key_from(Level& level, const std::optional<Node>& node) {
    if (!node) return {{}, {}, false};
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
    const bool word =
        node->kind == Node::Kind::scalar && !node->text.empty() && std::none_of(node->text.begin(), node->text.end(), is_control);
    if (!word) {
      problems_.push_back({node->place, fmt::format("a key must be a word, not {}", node->described())});
      return {{}, {}, false};
    }
    if (node->text.find('.') != std::string::npos) {
      problems_.push_back({node->place, fmt::format("{}: a key holds no dots; nest the sections instead", node->text)});
      return {{}, {}, false};
    }
    const auto [first, fresh] = level.seen.emplace(node->text, node->place);
    if (!fresh)
      problems_.push_back({node->place, fmt::format("{}: given twice; first at line {}", path_to(node->text), first->second.line)});
    return {node->text, node->place, fresh};
  }

  std::string path_to(const std::string& key) const {
    std::string path;
    for (const Level& level : levels_)
      if (level.key) path = join(path, level.key->name);
    return join(path, key);
  }

  std::string source_;
  Budget& budget_;
  std::vector<Problem>& problems_;
  std::vector<Level> levels_;
  Node root_;
};

/// A hint for the commonest slip, which the parser reports as something else a little later.
std::string tab_hint(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number)
    if (line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string::npos)
      return fmt::format("; line {} is indented with a tab, where YAML wants spaces", number);
  return {};
}

}  // namespace

Node parse(const std::string& text, const std::string& source, Budget& budget, std::vector<Problem>& problems) {
  const auto control = std::find_if(text.begin(), text.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t'; });
  if (control != text.end())
    throw UserError(fmt::format("{}:{}: not a text file: it holds the byte 0x{:02x}", source, std::count(text.begin(), control, '\n') + 1,
                                static_cast<unsigned char>(*control)));
  std::istringstream in(text);
  Builder builder(source, budget, problems);
  try {
    YAML::Parser parser(in);
    parser.HandleNextDocument(builder);
    Node tree = builder.take();
    Builder second(source, budget, problems);
    if (parser.HandleNextDocument(second)) throw UserError(source + ": more than one YAML document; only one is allowed in a file");
    return tree;
  } catch (const YAML::Exception& e) {
    const Place place = e.mark.is_null()
                            ? Place{source}
                            : Place{source, static_cast<std::size_t>(e.mark.line + 1), static_cast<std::size_t>(e.mark.column + 1)};
    throw UserError(fmt::format("{}: not valid YAML: {}{}", place.text(), e.msg, tab_hint(text)));
  }
}

}  // namespace mtsim::config
