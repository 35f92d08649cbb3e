// The tree that a configuration is read into: YAML's maps, lists and scalars, each with the place it was written at.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mtsim::config {

/// Where something was written. Line and column count from 1; line 0 means that the whole of `source` is meant (`--set a.b=1`).
struct Place {
  std::string source;
  std::size_t line = 0, column = 0;

  /// `base.yaml:12:9`, or the source alone.
  std::string text() const;
};

/// Something wrong with the configuration. `text` begins with the YAML path where there is one.
struct Problem {
  Place place;
  std::string text;
};

/// The problems as lines, by file, line and column, those of the command line last, each once.
std::vector<std::string> sorted_lines(std::vector<Problem> problems);

struct Node {
  enum class Kind { null, scalar, list, map };
  struct Member;

  Kind kind = Kind::null;
  std::string text;             ///< of a scalar
  std::vector<Node> items;      ///< of a list
  std::vector<Member> members;  ///< of a map, in the order written
  Place place;

  bool is_map() const { return kind == Kind::map; }
  const Member* member(std::string_view key) const;
  Member* member(std::string_view key);
  /// The member at a dotted path (`nic.mtt_cache.ways`), or null.
  const Member* find(std::string_view path) const;
  /// "a list", "a section", "empty" or "the value 'x'", for errors.
  std::string described() const;
};

struct Node::Member {
  std::string key;
  Place place;  ///< of the key
  Node value;
};

/// Lays `overlay` over `base`: maps member by member, anything else is replaced.
void merge(Node& base, const Node& overlay);

/// `nic.mtt_cache` and `ways` to `nic.mtt_cache.ways`; an empty parent is the top level.
std::string join(const std::string& parent, const std::string& key);
/// `nic.mtt_cache.ways` to `nic.mtt_cache`; empty for a top-level key.
std::string parent_of(const std::string& path);

/// `'text'` on one line and of bounded length, whatever the text holds.
std::string in_quotes(std::string_view text);

}  // namespace mtsim::config
