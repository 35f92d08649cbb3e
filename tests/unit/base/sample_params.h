// Small parameter structs and throw-away files for the tests of the configuration.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/error.h"

namespace mtsim::test {

struct LinkSample {
  std::uint32_t lanes{};
  Time latency{};
  Bytes max_payload{};
  BitRate rate{};
  bool relaxed{};
  static void declare(Declaration<LinkSample>& d) {
    d.section("pcie", "A link for tests.");
    d.field("lanes", &LinkSample::lanes).standard("16").range("1", "32").means("Lanes of the link.").source("test");
    d.field("latency", &LinkSample::latency).standard("200ns").range("1ns", "2us").means("Time from end to end.").source("test");
    d.field("max_payload", &LinkSample::max_payload).standard("256B").range("128B", "4KiB").means("Bytes of a packet.").source("test");
    d.field("rate", &LinkSample::rate).standard("8Gb/s").range("1Gb/s", "").means("Rate of a lane.").source("test");
    d.field("relaxed", &LinkSample::relaxed).standard("false").means("Whether writes may pass one another.");
  }
};

enum class Replacement { lru, random };

struct CacheSample {
  std::uint32_t entries{}, ways{};
  Replacement replacement{};
  static void declare(Declaration<CacheSample>& d) {
    d.section("nic.mtt_cache", "A cache for tests.");
    d.field("entries", &CacheSample::entries).standard("2048").range("1", "").means("Lines held.").source("test");
    d.field("ways", &CacheSample::ways).standard("4").range("1", "16").means("Lines of a set.").source("test");
    d.choice("replacement", &CacheSample::replacement, {{"lru", Replacement::lru}, {"random", Replacement::random}})
        .standard("lru")
        .means("Which line of a set gives way.")
        .source("test");
  }
};

struct NicSample {
  std::uint32_t walks{};
  std::string label;
  static void declare(Declaration<NicSample>& d) {
    d.section("nic", "A NIC for tests.");
    d.field("walks", &NicSample::walks).standard("8").range("1", "64").means("Walks in flight.").source("test");
    d.field("label", &NicSample::label).standard("").means("A name for reports.");
  }
};

struct RequiredSample {
  Time start{};
  static void declare(Declaration<RequiredSample>& d) {
    d.section("job", "A section with a parameter that has no default.");
    d.field("start", &RequiredSample::start).standard("").means("When it starts.");
  }
};

/// A directory of files that goes with the object.
class Files {
 public:
  Files() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mtsim-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    root_ = pattern;
  }
  ~Files() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  /// Writes a file and returns its whole path.
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = root_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  /// `lines` without the directory's name, so that tests can state exact texts.
  std::vector<std::string> shown(std::vector<std::string> lines) const {
    for (std::string& line : lines)
      for (auto at = line.find(root_ + "/"); at != std::string::npos; at = line.find(root_ + "/")) line.erase(at, root_.size() + 1);
    return lines;
  }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

/// The complaints that `action` throws, without the directory's name.
template <class Action>
std::vector<std::string> complaints(const Files& files, Action action) {
  try {
    action();
  } catch (const UserError& e) { return files.shown(e.messages()); }
  return {};
}

}  // namespace mtsim::test
