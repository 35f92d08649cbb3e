// Output files that appear whole or not at all.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace mtsim::results {

/// A file under a temporary name in its folder, renamed by commit(). Destroyed before that, it leaves nothing behind. `-` is stdout;
/// devices and pipes are written in place, for there is nothing to rename them to.
class OutputFile {
 public:
  /// Throws UserError when `path` cannot be written, so a command that opens its outputs first fails before a long run, not after it.
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws UserError when the disk is full or fails.
  void write(std::string_view text);
  /// Makes the file appear under its name. Throws UserError when the disk is full or fails.
  void commit();

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  [[noreturn]] void fail(int error) const;
  void remove_temporary();

  std::string path_;       ///< as the user gave it
  std::string target_;     ///< where the file goes: symbolic links followed
  std::string temporary_;  ///< empty when written in place
  std::unique_ptr<std::FILE, Close> file_;
};

/// Writes `text` to `path` in one go.
void write_file(const std::string& path, std::string_view text);

}  // namespace mtsim::results
