// Are workloads made from a configuration, with errors at their places, and does one written out as a trace read back the same?
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/config.h"
#include "base/error.h"
#include "program/trace_reader.h"
#include "program/trace_writer.h"
#include "program/workload_kinds.h"
#include "unit/program/actor_listing.h"

using namespace mtsim;
using namespace mtsim::test;

namespace {

/// A file that is gone when the test is.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text) : path_(std::filesystem::temp_directory_path() / name) {
    std::ofstream(path_) << text;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::unique_ptr<Workload> from_yaml(const std::string& text) {
  const TemporaryFile file("mtsim_workload_test.yaml", text);
  const Config config = Config::load(file.path());
  auto workload = Workloads::make(config.word("workload.kind", "", Workloads::names()), config);
  config.finish();
  return workload;
}

std::string complaint(const std::string& text) {
  try {
    from_yaml(text);
  } catch (const UserError& e) {
    const std::string what = e.what();
    return what.substr(what.find(".yaml:") + 6);
  }
  return "";
}

}  // namespace

TEST_CASE("a workload takes its kind and parameters from the configuration") {
  const auto uniform = from_yaml("workload: {kind: uniform, threads: 4, opcode: read, block: 64B, footprint: 1GiB, regions: 2, seed: 9}\n");
  CHECK(uniform->title() == "uniform");
  CHECK(uniform->shape().threads == 4);
  CHECK(uniform->shape().opcode == verbs::Opcode::read);
  CHECK(uniform->names().hosts() == std::vector<std::string>{"client0", "server"});
  CHECK(from_yaml("workload: {kind: per_op, pool: 1MiB, depth: 4}\n")->title() == "per_op");
  CHECK(from_yaml("workload: {kind: pool}\n")->title() == "pool");
  CHECK(from_yaml("workload: {kind: sequential}\n")->title() == "sequential");
  CHECK(from_yaml("workload: {kind: connections, connections: 8, choice: turn}\n")->title() == "connections");
  CHECK(from_yaml("workload: {kind: ladder, largest: 1MiB, live: 4, touched: false}\n")->title() == "ladder");
  CHECK(from_yaml("workload: {kind: registration_cache, memory: 64KiB, block: 4B, merge: true}\n")->title() == "registration_cache");
}

TEST_CASE("what a configuration gets wrong about a workload has its place") {
  CHECK(complaint("workload:\n  kind: pool\n  window: 4\n  signal_every: 8\n") ==
        "4:17: workload.signal_every: 8 is above the window of 4: no request of a full window would complete visibly");
  CHECK(complaint("workload:\n  kind: uniform\n  block: 8KiB\n  footprint: 4KiB\n") ==
        "4:14: workload.footprint: 4096 bytes in 1 MRs leave no room for a block of 8192 bytes in each");
  CHECK(complaint("workload:\n  kind: uniform\n  block: 8KiB\n  stride: 4KiB\n") ==
        "4:11: workload.stride: 4096 bytes are less than the block of 8192");
  CHECK(complaint("workload:\n  kind: sequential\n  block: 64B\n  stride: 1MiB\n  footprint: 512KiB\n") ==
        "5:14: workload.footprint: 524288 bytes in 1 MRs leave no room for a block of 1048576 bytes in each");
  CHECK(complaint("workload:\n  kind: ladder\n  threads: 100\n  live: 1000000\n") ==
        "4:9: workload.live: 1000000 MRs in each of 100 threads are too many: more than 16777216 in all");
  CHECK(complaint("workload:\n  kind: ladder\n  live: 1000000\n  smallest: 2GiB\n") ==
        "3:9: workload.live: 1000000 MRs of the last rung in each of 1 threads are more memory than any host has");
  CHECK(complaint("workload:\n  kind: registration_cache\n  memory: 1GiB\n  block: 4B\n  stride: 64B\n  sweeps: 10\n") ==
        "6:11: workload.sweeps: 10 sweeps over 16777216 blocks are more than 100000000 look-ups");
  CHECK(complaint("workload:\n  kind: registration_cache\n  memory: 1KiB\n  lookup: 1500ps\n  block: 4B\n") ==
        "4:11: workload.lookup: must be whole nanoseconds, as a trace says them");
  CHECK(complaint("workload:\n  kind: registration_cache\n  memory: 1KiB\n  block: 4KiB\n") ==
        "3:11: workload.memory: 1024 bytes are too few: a block has 4096 bytes");
}

TEST_CASE("a workload written out as a trace reads back and runs the same") {
  auto shape = defaults<Shape>();
  shape.threads = shape.qps = 2;
  shape.window = 4;
  shape.operations = 30;
  shape.block = Bytes(64);
  shape.inline_limit = Bytes(64);
  shape.page = verbs::PageKind::huge_2m;
  std::vector<std::unique_ptr<Workload>> workloads;
  workloads.push_back(make_pool(shape, defaults<PoolParams>()));
  workloads.push_back(make_per_op(shape, defaults<PoolParams>(), {3}));
  workloads.push_back(make_uniform(shape, {MiB(1), 3}, {1}));
  shape.opcode = verbs::Opcode::read;
  workloads.push_back(make_sequential(shape, {MiB(1), 2}));
  workloads.push_back(make_chunked(shape, {MiB(7), MiB(1), 3, 2, ChunkedParams::Touch::all}));
  for (const auto& workload : workloads) {
    CAPTURE(workload->title());
    std::ostringstream text;
    TraceWriter writer(text, workload->names());
    Op op;
    for (const auto all = workload->all(); all->next(op);) writer.write(op);
    const TemporaryFile file("mtsim_workload_test.mtrace", text.str());
    const auto trace = open_trace(file.path());
    CHECK(trace->size() == workload->size());

    FakeRun made(*workload, true), read(*trace, true);
    made.run();
    read.run();
    CHECK(read.surprises() == std::vector<std::string>{});
    CHECK(read.actors().done());
    for (std::size_t host = 0; host < 2; ++host) CHECK(made.device(host).calls == read.device(host).calls);
  }
}
