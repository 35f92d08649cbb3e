#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "results/csv.h"
#include "results/output_file.h"
#include "results/progress.h"
#include "sample.h"

namespace mtsim::results {
namespace {

namespace fs = std::filesystem;

/// A folder of its own, gone at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "mtsim_output_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const char* name) const { return path_ / name; }
  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(path_), fs::directory_iterator{}); }

 private:
  fs::path path_;
};

std::string content(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string failure(const std::string& path) {
  try {
    write_file(path, std::string(100'000, 'x'));
  } catch (const UserError& e) { return e.what(); }
  return "written";
}

TEST_CASE("a file appears when it is committed, and alone") {
  const Folder folder;
  {
    OutputFile file((folder / "x.json").string());
    file.write("new");
    CHECK_FALSE(fs::exists(folder / "x.json"));
    file.commit();
  }
  CHECK(content(folder / "x.json") == "new");
  CHECK(folder.files() == 1);
}

TEST_CASE("a file that is not committed leaves the old one") {
  const Folder folder;
  write_file((folder / "x.json").string(), "old");
  {
    OutputFile file((folder / "x.json").string());
    file.write("half");
  }
  CHECK(content(folder / "x.json") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("a symbolic link stays one") {
  const Folder folder;
  write_file((folder / "real").string(), "old");
  fs::create_symlink(folder / "real", folder / "link");
  write_file((folder / "link").string(), "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(content(folder / "real") == "new");
}

TEST_CASE("unwritable paths are the user's error") {
  const Folder folder;
  CHECK(failure((folder / "none/x.json").string()) ==
        "cannot write '" + (folder / "none/x.json").string() + "': No such file or directory");
  fs::create_directory(folder / "dir");
  CHECK(failure((folder / "dir").string()) == "cannot write '" + (folder / "dir").string() + "': Is a directory");
  CHECK(failure("") == "the name of an output file is empty; '-' writes to stdout");
  CHECK(folder.files() == 1);
}

TEST_CASE("a full disk is the user's error, and a device stays a device") {
  CHECK(failure("/dev/full") == "cannot write '/dev/full': No space left on device");
  write_file("/dev/null", "x");
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("the CSV is one figure a line") {
  Report r = sample::report();
  r.resources[0].note = "one, and \"only\"";
  const std::string text = to_csv(std::vector<Variant>{{"pool", r}});
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  CHECK(line == "variant,section,metric,unit,value");
  const auto holds = [&](const std::string& wanted) { return text.find("\n" + wanted + "\n") != std::string::npos; };
  CHECK(holds("pool,run,seed,count,7"));
  CHECK(holds("pool,summary,simulated,ns,120000"));
  CHECK(holds("pool,summary,completions.SUCCESS,count,2"));
  CHECK(holds("pool,operations,write.bytes,bytes,8192"));
  CHECK(holds("pool,latency,write.max,ns,2301.001"));
  CHECK(holds("pool,latency,write.mean.doorbell,ns,200"));
  CHECK(holds("pool,caches,a.nic.mtt_cache.hits,count,6"));
  CHECK(holds("pool,cpu,a.registration.pin,ns,69000"));
  CHECK(holds("pool,faults,unexpected.0.operation,text,poll cq wr=3"));
  CHECK(holds("pool,resources,a.kernel.umr_qp.note,text,\"one, and \"\"only\"\"\""));
  CHECK(text.find("clock: 1GHz") == std::string::npos);
}

TEST_CASE("progress tells what is known") {
  CHECK(progress_text(us(1'200), 35'000, 100'000, 0.5) ==
        "1.20 ms simulated, 35,000 of 100,000 operations (35.0 %), 70.0 K/s, 929 ms left");
  CHECK(progress_text(us(1), 10, 0, 0.5) == "1.00 us simulated, 10 operations, 20/s");
  CHECK(progress_text(Time(0), 0, 0, 0) == "0 ns simulated, 0 operations");
}

TEST_CASE("no progress where nobody asked for it") {
  std::ostringstream out;
  {
    ProgressLine line(out, false, 10);
    line.update(us(1), 1);
  }
  CHECK(out.str().empty());
  CHECK_FALSE(progress_wanted(true));
}

}  // namespace
}  // namespace mtsim::results
