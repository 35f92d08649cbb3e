// Reads one map of a row: each key once, and in the end those that nobody asked for are complained about.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/config_node.h"

namespace mtsim::validation {

using config::Node;
using config::Problem;

class MapReader {
 public:
  /// `path` is the map's YAML path, for complaints; all outlive the reader. Anything but a map is complained about and read as an empty
  /// one.
  MapReader(const Node& map, std::string path, std::vector<Problem>& problems);

  /// The value of `key`; null where it is absent, which is a complaint if it is `required`.
  const Node* find(const std::string& key, bool required = false);
  std::string text(const std::string& key, bool required = false);
  std::optional<double> number(const std::string& key, bool required = false);
  /// `15 %` or `-15%` as a share.
  std::optional<double> share(const std::string& key, bool required = false);
  bool flag(const std::string& key, bool standard);
  /// One of `words`, or empty after a complaint.
  std::string word(const std::string& key, const std::vector<std::string>& words, bool required = false);

  void fail(const config::Place& at, const std::string& key, const std::string& message);
  void fail(const Node& at, const std::string& key, const std::string& message) { fail(at.place, key, message); }
  std::string path(const std::string& key) const { return config::join(path_, key); }
  /// Complains of every key that was not asked for.
  void finish();

 private:
  const Node* scalar(const std::string& key, bool required, const char* wanted);
  const Node& map_;
  std::string path_;
  std::vector<Problem>& problems_;
  std::vector<std::string> asked_;
};

/// The number that the whole of `text` is, or nothing.
std::optional<double> number_of(const std::string& text);
/// The same of a percentage, as a share: `15%`, `15 %`.
std::optional<double> share_of(const std::string& text);

}  // namespace mtsim::validation
