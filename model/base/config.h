// The configuration as the program reads it: sections into parameter structs, words, hosts and variants. Errors are collected while
// reading, and finish() reports them all.
//
//   const Config config = Config::load("configs/base.yaml", {"pcie.lanes=8"});
//   const auto fabric = config.read<FabricParams>();
//   for (const auto& name : config.host_names()) {
//     const Config host = config.for_host(name);
//     nics.push_back(make_nic(host.read<NicParams>(), host.word("nic.translation", "flat", architectures)));
//   }
//   config.finish();
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/config_ledger.h"
#include "base/config_node.h"
#include "base/parameter.h"

namespace mtsim {

class Config {
 public:
  /// Reads `path` and what it extends, then carries out `sets` (`a.b.c=value`, in order).
  /// Throws UserError when a file cannot be read or is not YAML; anything else waits for finish().
  static Config load(const std::string& path, const std::vector<std::string>& sets = {});

  /// One in which nothing is written. Readers show by it what they would take: see effective_json().
  static Config empty();

  /// Each of `variants:` laid over the common settings, then `sets` again; in the order of the file, each with errors of its own.
  /// Empty when the file has none.
  std::vector<std::pair<std::string, Config>> variants() const;
  /// The section `validation`, which describes no system and is read by `mtsim validate` alone; its place is that of the file where there
  /// is none.
  const config::Node& validation() const { return validation_; }

  /// The section at `path` (that of its declaration unless given) as a struct: what is written there, checked, or the defaults.
  /// Other keys of the section may be read by others. A value that is wrong is complained about and left at its default.
  template <class Params>
  Params read(const std::string& path = section_of<Params>().path) const {
    Params params{};
    read_section(section_of<Params>(), path, &params);
    return params;
  }

  /// The word at `path`, one of `allowed`; `standard` when nothing is written, or something wrong. An empty `standard` makes the word
  /// required. After a wrong word the unknown keys beside it are not complained about: it decides which are known.
  std::string word(const std::string& path, const std::string& standard, const std::vector<std::string>& allowed) const;

  /// The names under `hosts:`, in the order of the file.
  std::vector<std::string> host_names() const;
  /// The settings of one host: the common ones with `hosts.HOST` laid over them. A host without settings of its own has the common
  /// ones. The view shares its errors with this configuration, whose finish() reports them.
  Config for_host(const std::string& host) const;

  /// Whether a key or section is written.
  bool has(const std::string& path) const;
  /// Adds a complaint at the place of `path`, or of the nearest section around it that is written.
  void fail(const std::string& path, const std::string& message) const;
  /// Throws UserError with every error so far and every key that nobody has read. Call it on the whole, not on a host's view, when
  /// everything is read.
  void finish() const;

  /// The settings as written, as JSON text with sorted keys and without line breaks; quantities stay text.
  std::string effective() const;
  /// A mark of effective(), 16 hexadecimal digits.
  std::string hash() const;
  /// The settings as read so far, defaults included, in the same form; those of a host under `hosts`.
  std::string effective_json() const;

 private:
  Config(std::string source, config::Node tree, std::shared_ptr<config::Ledger> ledger);
  static Config with_sets(const std::string& source, config::Node tree, const std::vector<std::string>& sets,
                          const std::vector<config::Problem>& problems);

  void read_section(const Section& section, const std::string& path, void* object) const;
  /// The scalar at `path`; null, with a complaint unless it is absent, when there is none.
  const config::Node* scalar(const std::string& path, const std::string& wanted) const;
  /// The path as it is written: below `hosts.HOST` when that is where the value comes from.
  std::string written_path(const std::string& path) const;
  std::string below_host(const std::string& path) const;
  void know_value(const std::string& path) const;
  void record(const std::string& path, const std::string& text) const;

  std::string source_;
  config::Node tree_;
  config::Node variants_;
  config::Node validation_;
  std::vector<std::string> sets_;
  std::vector<config::Problem> load_problems_;
  std::string host_;      ///< of a host's view, otherwise empty
  config::Node overlay_;  ///< what `hosts.HOST` holds, in a host's view
  std::shared_ptr<config::Ledger> ledger_;
};

}  // namespace mtsim
