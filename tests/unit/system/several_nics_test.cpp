// A host with several NICs: are its modules, its report and its phases those of all of them, and does one NIC stay as it was?
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <systemc>

#include "results/derived.h"
#include "support/run_command.h"
#include "support/system_run.h"

using namespace mtsim;
using namespace mtsim::test;

namespace {

std::vector<std::string> chunked(const std::vector<std::string>& more) {
  std::vector<std::string> sets{"workload.kind=chunked", "workload.region=16MiB", "nic.table_space=1GiB"};
  sets.insert(sets.end(), more.begin(), more.end());
  return sets;
}

const results::ResourceStats* resource(const results::Report& report, const std::string& name) {
  const auto found = std::find_if(report.resources.begin(), report.resources.end(), [&](const auto& r) { return r.name == name; });
  return found == report.resources.end() ? nullptr : &*found;
}

const results::PhaseStats& phase(const results::Report& report, const std::string& name) {
  for (const results::PhaseStats& p : report.phases)
    if (p.name == name) return p;
  throw std::runtime_error("no phase " + name);
}

}  // namespace

TEST_CASE("Further NICs and their links are modules of the host, named after their numbers") {
  const FreshSystemC context;
  const Config config = Config::load(MTSIM_SOURCE_DIR "/configs/base.yaml", chunked({"hosts.client0.host.nics=3", "workload.nics=3"}));
  const system::Plan plan = system::make_plan(config, std::nullopt, std::nullopt);
  const system::Simulation simulation(plan);
  for (const std::string module : {"nic", "pcie", "nic1", "pcie1", "nic1.firmware", "nic2", "pcie2", "nic2.walker"}) {
    CAPTURE(module);
    CHECK(sc_core::sc_find_object(("client0." + module).c_str()) != nullptr);
  }
  CHECK(sc_core::sc_find_object("client0.nic3") == nullptr);
  CHECK(sc_core::sc_find_object("server.nic1") == nullptr);
}

TEST_CASE("Each NIC has rows of its own, and the registrations are those of all") {
  const results::Report one = run_system(chunked({"workload.chunk=4MiB"})).report;
  const SystemRun run = run_system(chunked({"workload.chunk=4MiB", "host.nics=2", "workload.nics=2"}));
  const results::Report& two = run.report;
  CHECK(run.stuck == std::vector<std::string>{});
  CHECK(two.unexpected_total == 0);
  CHECK(results::contradictions(two) == std::vector<std::string>{});
  CHECK(resource(one, "client0.nic1.firmware.umr") == nullptr);
  for (const std::string row : {"nic.firmware.umr", "pcie.up", "pcie.down"}) {
    const std::string further = row.starts_with("nic") ? "nic1" + row.substr(3) : "pcie1" + row.substr(4);
    CAPTURE(row, further);
    REQUIRE(resource(one, "client0." + row) != nullptr);
    REQUIRE(resource(two, "client0." + row) != nullptr);
    REQUIRE(resource(two, "client0." + further) != nullptr);
    // The first NIC does what it does alone, the second the same but for what belongs to the region of the set-up.
    CHECK(resource(two, "client0." + row)->busy == resource(one, "client0." + row)->busy);
    const auto busy = [&](const std::string& name) { return static_cast<double>(resource(two, "client0." + name)->busy.raw); };
    CHECK(busy(further) == Approx(busy(row)).epsilon(0.05));
  }
  REQUIRE(resource(two, "client0.kernel.nic1.umr_queue_pair") != nullptr);
  CHECK(resource(two, "client0.kernel.nic1.umr_queue_pair")->requests == resource(two, "client0.kernel.umr_queue_pair")->requests);
  CHECK(one.registration.reg_mr.calls == 4);
  CHECK(two.registration.reg_mr.calls == 8);
  CHECK(two.registration.reg_mr.pages == one.registration.reg_mr.pages * 2);
  // A page that is pinned for both counts twice; one page more is that of each host's set-up.
  CHECK(one.registration.pinned_most.raw == (16u << 20) + 2 * 4096);
  CHECK(two.registration.pinned_most.raw == (32u << 20) + 2 * 4096);
}

TEST_CASE("A second NIC that nobody uses changes nothing but its own rows") {
  const auto with = [](const char* nics) {
    return run_system({"workload.operations=200", "nic.table_space=1GiB", std::string("host.nics=") + nics}).report;
  };
  results::Report one = with("1"), two = with("2");
  CHECK(one.window() == two.window());
  CHECK(one.simulated == two.simulated);
  REQUIRE(one.operations.size() == two.operations.size());
  CHECK(one.operations[0].latency.latency().sum().raw == two.operations[0].latency.latency().sum().raw);
  for (const results::ResourceStats& r : one.resources) {
    CAPTURE(r.name);
    REQUIRE(resource(two, r.name) != nullptr);
    CHECK(resource(two, r.name)->busy == r.busy);
    CHECK(resource(two, r.name)->requests == r.requests);
  }
}

TEST_CASE("Phases tell touch, registration and deregistration apart") {
  const auto run = [](const std::string& touch, const std::string& threads) {
    return run_system(chunked({"workload.chunk=2MiB", "workload.rounds=3", "workload.touch=" + touch, "workload.threads=" + threads}))
        .report;
  };
  const results::Report none = run("none", "4"), one = run("one", "4"), all = run("all", "4");
  CHECK(none.phases.size() == 2);
  REQUIRE(all.phases.size() == 3);
  for (const results::Report* r : {&none, &one, &all}) {
    Time sum;
    for (const results::PhaseStats& p : r->phases) {
      CHECK(p.times == 3);
      CHECK(p.time > Time(0));
      CHECK(p.bytes.raw == (p.name == "touch" ? 0u : 3u * (16u << 20)));
      sum += p.time;
    }
    // Mapping and unmapping lie between them.
    CHECK(sum < r->window());
  }
  CHECK(results::bytes_per_s(phase(all, "registration")) ==
        Approx(3.0 * (16 << 20) * 1e12 / static_cast<double>(phase(all, "registration").time.raw)));
  // Who touches beforehand takes it out of the registration, and more threads are sooner done with it.
  CHECK(phase(none, "registration").time > phase(all, "registration").time * 2);
  const auto registration = [](const results::Report& r) { return static_cast<double>(phase(r, "registration").time.raw); };
  CHECK(registration(one) == Approx(registration(all)).epsilon(0.02));
  CHECK(phase(all, "touch").time < phase(one, "touch").time);
  // Chunks that threads register beside each other are sooner done than one after the other.
  CHECK(phase(all, "registration").time < phase(run("all", "1"), "registration").time);
}

TEST_CASE("A trace names the NIC of each PD, and a table that is full on one is not on the other") {
  const TempFolder folder;
  const std::string json = folder.path("out.json");
  std::string trace = "mtrace 1\na.t0 mmap buf len=16M\na.t0 alloc_pd pd0\na.t0 alloc_pd pd1 dev=nic1\n";
  for (int i = 0; i < 4; ++i)
    trace += "a.t0 reg_mr mr" + std::to_string(i) + " pd=pd0 addr=buf len=4M access=lw" + (i < 3 ? "" : " expect=ENOMEM") + "\n";
  trace += "a.t0 reg_mr other pd=pd1 addr=buf len=4M access=lw\na.t0 dereg_mr mr0\na.t0 reg_mr again pd=pd0 addr=buf len=4M access=lw\n";
  const CommandResult result =
      run_command({"run", "configs/examples/recorded.yaml", folder.write("t.mtrace", trace), "--json", json, "--set", "host.nics=2",
                   "--set", "nic.table_entries=3500", "--set", "driver.keys=counter", "--set", "driver.table_writer=command"});
  INFO(result.err << result.out);
  CHECK(result.code == 0);
  const auto report = nlohmann::json::parse(read_file(json));
  CHECK(report["registration"]["reg_mr"]["failed"]["ENOMEM"] == 1);
  CHECK(report["registration"]["reg_mr"]["calls"] == 6);
  CHECK(report["counters"]["a.nic1.commands"]["value"] == 1);
}

TEST_CASE("A timeline draws further NICs beside the first") {
  const TempFolder folder;
  const std::string timeline = folder.path("t.json");
  const CommandResult result = run_command({"run", "configs/base.yaml", "--timeline", timeline, "--set", "workload.kind=chunked", "--set",
                                            "workload.region=1MiB", "--set", "host.nics=2", "--set", "workload.nics=2"});
  INFO(result.err);
  REQUIRE(result.code == 0);
  const auto events = nlohmann::json::parse(read_file(timeline));
  const auto drawn = [&](const std::string& process) {
    for (const auto& event : events["traceEvents"])
      if (event["name"] == "process_name" && event["args"]["name"] == process) return true;
    return false;
  };
  CHECK(drawn("client0"));
  CHECK(drawn("client0.nic1"));
}
