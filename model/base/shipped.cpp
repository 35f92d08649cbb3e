#include "base/shipped.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace mtsim::config {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view mark = "mtsim:";

fs::path folder() {
  if (const char* named = std::getenv("MTSIM_CONFIGS"); named != nullptr && *named != '\0') return named;
  // Relative to the program, so that an installation can be moved.
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path() / "share/mtsim/configs";
}

}  // namespace

bool is_shipped(const std::string& name) { return name.starts_with(mark); }

std::string shipped_path(const std::string& name) { return (folder() / name.substr(mark.size())).lexically_normal().string(); }

}  // namespace mtsim::config
