#include "results/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace mtsim::results {
namespace fs = std::filesystem;

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) throw UserError("the name of an output file is empty; '-' writes to stdout");
  if (path_ == "-") {
    // A duplicate, so that closing it reports errors and leaves stdout open for others.
    std::fflush(stdout);
    const int fd = dup(STDOUT_FILENO);
    if (fd < 0) fail(errno);
    file_.reset(fdopen(fd, "w"));
    if (!file_) fail(errno);
    return;
  }
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path_, error);
  if (error) fail(error.value());
  target_ = target.string();
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) fail(EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    file_.reset(std::fopen(target_.c_str(), "we"));
    if (!file_) fail(errno);
    return;
  }
  if (fs::exists(status) && access(target_.c_str(), W_OK) != 0) fail(errno);
  const fs::path temporary = target.parent_path() / fmt::format(".{}.{}.tmp", target.filename().string(), getpid());
  file_.reset(std::fopen(temporary.c_str(), "we"));
  if (!file_) fail(errno);
  temporary_ = temporary.string();
}

OutputFile::~OutputFile() {
  file_.reset();
  remove_temporary();
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail(errno);
}

void OutputFile::commit() {
  if (std::fflush(file_.get()) != 0) fail(errno);
  // Some file systems report a full disk only when the file is closed.
  if (std::fclose(file_.release()) != 0) fail(errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void OutputFile::fail(int error) const {
  throw UserError(fmt::format("cannot write {}: {}", path_ == "-" ? "to stdout" : "'" + path_ + "'", std::strerror(error)));
}

void OutputFile::remove_temporary() {
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace mtsim::results
