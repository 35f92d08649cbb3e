// Do the sources under model/ include only what stands below them, and do the pure folders stay free of SystemC?
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Include {
  std::string file, folder, target;  ///< target as written
  bool angled;
  std::string to() const { return target.substr(0, target.find('/')); }
};

std::vector<Include> all_includes() {
  const fs::path root = fs::path(MTSIM_SOURCE_DIR) / "model";
  std::vector<Include> out;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    const std::string file = fs::relative(entry.path(), root).generic_string();
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      const std::size_t word = line.find_first_not_of(" \t");
      if (word == std::string::npos || line.compare(word, 8, "#include") != 0) continue;
      const std::size_t open = line.find_first_of("<\"", word);
      REQUIRE(open != std::string::npos);
      const std::size_t close = line.find_first_of(">\"", open + 1);
      REQUIRE(close != std::string::npos);
      out.push_back({file, file.substr(0, file.find('/')), line.substr(open + 1, close - open - 1), line[open] == '<'});
    }
  }
  return out;
}

/// Which folders each may include besides its own. The parts of a host, of the NIC and the network meet through ports/ alone.
const std::map<std::string, std::set<std::string>>& allowed() {
  static const std::set<std::string> pure{"base", "verbs", "translate"};
  static const std::set<std::string> part{"base", "verbs", "program", "results", "translate", "engine", "ports"};
  static const std::map<std::string, std::set<std::string>> rules{
      {"base", {}},
      {"verbs", {"base"}},
      {"program", {"base", "verbs"}},
      {"results", {"base", "verbs", "program"}},
      {"validation", {"base", "results"}},
      {"translate", {"base", "verbs"}},
      {"engine", pure},
      {"ports", {"base", "verbs", "translate", "engine"}},
      {"host", part},
      {"kernel", part},
      {"user", part},
      {"pcie", part},
      {"nic", part},
      {"fabric", part},
      {"system",
       {"base", "verbs", "program", "results", "validation", "translate", "engine", "ports", "host", "kernel", "user", "pcie", "nic",
        "fabric"}},
  };
  return rules;
}

/// Includes that break the rule knowingly, each with its reason.
const std::set<std::pair<std::string, std::string>>& exceptions() {
  static const std::set<std::pair<std::string, std::string>> list{
      // The kernel owns the VMAs and page tables of its processes: state without time, kept in host/ beside the frame pool under it.
      {"kernel", "host/address_space.h"},
  };
  return list;
}

std::vector<std::string> list(const std::vector<Include>& includes) {
  std::vector<std::string> out;
  for (const Include& i : includes) out.push_back(i.file + " includes " + i.target);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("every folder of the model has its place in the order", "[layering]") {
  std::set<std::string> folders;
  for (const Include& i : all_includes()) folders.insert(i.folder);
  for (const std::string& folder : folders) {
    INFO(folder);
    CHECK(allowed().count(folder) == 1);
  }
  CHECK(folders.size() == allowed().size());
}

TEST_CASE("folders include ports and what stands below them, never sideways", "[layering]") {
  std::vector<Include> wrong;
  for (const Include& i : all_includes()) {
    if (i.angled || i.to() == i.folder) continue;
    const bool fits = allowed().count(i.folder) != 0 && allowed().at(i.folder).count(i.to()) != 0;
    if (!fits && exceptions().count({i.folder, i.target}) == 0) wrong.push_back(i);
  }
  CHECK(list(wrong) == std::vector<std::string>{});
}

TEST_CASE("every exception is in use", "[layering]") {
  const auto includes = all_includes();
  for (const auto& [folder, target] : exceptions()) {
    INFO(folder << " includes " << target);
    CHECK(std::any_of(includes.begin(), includes.end(), [&](const Include& i) { return i.folder == folder && i.target == target; }));
  }
}

TEST_CASE("verbs, programs, results, translation and base know no SystemC", "[layering]") {
  const std::set<std::string> pure{"base", "verbs", "program", "results", "translate"};
  std::vector<Include> wrong;
  for (const Include& i : all_includes())
    if (pure.count(i.folder) != 0 && i.target.find("systemc") != std::string::npos) wrong.push_back(i);
  CHECK(list(wrong) == std::vector<std::string>{});
}

TEST_CASE("an include of the model is written from the model's root", "[layering]") {
  std::vector<Include> wrong;
  for (const Include& i : all_includes())
    if (!i.angled && !fs::exists(fs::path(MTSIM_SOURCE_DIR) / "model" / i.target)) wrong.push_back(i);
  CHECK(list(wrong) == std::vector<std::string>{});
}
