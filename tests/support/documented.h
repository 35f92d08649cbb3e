// Code that a page of the documentation shows is the code of a test: the part between `// docs: begin` and `// docs: end`, there indented
// by four blanks.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace mtsim::test {

struct Documented {
  bool on_page = false;
  std::size_t code_lines = 0;  ///< that are neither empty nor comments nor includes

  Documented(const std::string& source, const std::string& page) {
    const std::filesystem::path root(MTSIM_SOURCE_DIR);
    std::ifstream in(root / source);
    std::string shown;
    bool within = false;
    for (std::string line; std::getline(in, line);) {
      if (line == "// docs: end") within = false;
      if (within) {
        if (!line.empty()) shown.append(4, ' ').append(line);
        shown += '\n';
        const bool code =
            !line.empty() && line.rfind("//", 0) != 0 && line.rfind("#include", 0) != 0 && line.find("namespace") == line.npos;
        code_lines += code;
      }
      if (line == "// docs: begin") within = true;
    }
    std::ifstream other(root / page);
    std::stringstream text;
    text << other.rdbuf();
    on_page = !shown.empty() && text.str().find(shown) != std::string::npos;
  }
};

}  // namespace mtsim::test
