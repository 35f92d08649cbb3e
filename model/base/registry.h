// Components register by name from their own .cpp and nothing else is edited. The table is a function-local static, so registration
// order does not matter; it is listed sorted.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mtsim {

template <class Interface, class... Args>
class Registry {
 public:
  using Make = std::function<std::unique_ptr<Interface>(Args...)>;
  struct Entry {
    std::string meaning;
    Make make;
  };

  static const std::map<std::string, Entry>& entries() { return table(); }
  static std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const auto& [name, entry] : table()) out.push_back(name);
    return out;
  }
  /// Null for an unknown name: the caller knows the place in the configuration and reports it with `names()`.
  static std::unique_ptr<Interface> make(const std::string& name, Args... args) {
    const auto found = table().find(name);
    return found == table().end() ? nullptr : found->second.make(std::forward<Args>(args)...);
  }

  /// Put one at namespace scope in the component's .cpp.
  struct Entrant {
    Entrant(std::string name, std::string meaning, Make make) { table()[std::move(name)] = {std::move(meaning), std::move(make)}; }
  };

 private:
  static std::map<std::string, Entry>& table() {
    static std::map<std::string, Entry> entries;
    return entries;
  }
};

}  // namespace mtsim
