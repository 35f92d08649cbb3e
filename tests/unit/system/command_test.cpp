// Runs through the command, as a user sees them: how they end, and what they leave.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/run_refusal.h"

using namespace mtsim::test;

namespace {

const std::string base = "extends: " MTSIM_SOURCE_DIR "/configs/base.yaml\n";
const std::string endless = base + "workload: {operations: 1000000000}\n";

CommandResult interrupted(const std::vector<std::string>& arguments) {
  Command command(arguments);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  command.signal(SIGINT);
  return command.finish(std::chrono::seconds(30));
}

}  // namespace

TEST_CASE("A program that waits for what cannot come ends with its places and exit code 1") {
  std::string text = read_file("traces/stale_key.mtrace");
  const std::string gone = "b.t0 dereg_mr dst";
  text.replace(text.find(gone), gone.size(), "b.t0 destroy_qp qp");
  const std::string qp = "a.t0 create_qp qp pd=pd";
  text.replace(text.find(qp), qp.size(), qp + " timeout=0");  // nobody asks whether the answer will come
  const TempFolder folder;
  const CommandResult result = run_command({"run", "configs/examples/recorded.yaml", folder.write("t.mtrace", text)});
  CHECK(result.code == 1);
  CHECK(result.err ==
        "nothing moves any more, and these have not ended:\n"
        "  a.t0 at line 26: poll cq wr=2\n"
        "  a.nic: QP 0x11 (rts) has 1 requests outstanding: 1 sent or being sent, 0 in the NIC, 0 READs\n"
        "    write wr=2 of 4.10 KB: taken up, not answered\n"
        "  b.nic: 1 packets were dropped: their QP was gone or not ready\n");
}

TEST_CASE("An interrupted run prints what it has, marked, and ends with 130") {
  const TempFolder folder;
  const CommandResult result = interrupted({"run", folder.write("my.yaml", endless), "--json", folder.path("out.json")});
  CHECK(result.code == 130);
  CHECK(result.err.empty());
  CHECK(result.out.find("INCOMPLETE") != std::string::npos);
  const auto json = nlohmann::json::parse(read_file(folder.path("out.json")));
  CHECK(json["partial"] == true);
  CHECK(json["operations"]["write"]["completed"] > 0);
}

TEST_CASE("Interrupting the command alone reaches the variants that it runs") {
  const TempFolder folder;
  const std::string variants = "variants:\n  one: {nic: {walks: 8}}\n  two: {nic: {walks: 9}}\n";
  const CommandResult result = interrupted({"run", folder.write("my.yaml", endless + variants), "--json", folder.path("out.json")});
  CHECK(result.code == 130);
  CHECK(result.err.empty());
  const auto json = nlohmann::json::parse(read_file(folder.path("out.json")));
  CHECK(json["variants"]["one"]["partial"] == true);
  CHECK(json["variants"]["two"]["partial"] == true);
}

TEST_CASE("Variants give the reports that their configurations give alone") {
  const TempFolder folder;
  const std::string small = base + "workload: {operations: 300}\n";
  const std::string both =
      folder.write("both.yaml", small + "variants:\n  few: {nic: {walks: 2}}\n  many: {nic: {mtt_cache: {lines: 0}}}\n");
  const CommandResult together = run_command({"run", both, "--no-machine", "--json", "-"});
  REQUIRE(together.code == 0);
  const auto variants = nlohmann::json::parse(together.out)["variants"];
  REQUIRE(variants.size() == 2);
  for (const auto& [name, overlay] : {std::pair{"few", "nic: {walks: 2}\n"}, std::pair{"many", "nic: {mtt_cache: {lines: 0}}\n"}}) {
    INFO(name);
    const CommandResult alone = run_command({"run", folder.write("one.yaml", small + overlay), "--no-machine", "--json", "-"});
    REQUIRE(alone.code == 0);
    auto expected = nlohmann::json::parse(alone.out);
    auto got = variants[name];
    CHECK(got["summary"]["operations"] == 300);
    // What stands once for all variants is not repeated in each.
    for (const auto& [key, value] : got.items()) {
      INFO(key);
      CHECK(value == expected[key]);
    }
  }
}

TEST_CASE("A path that cannot be written is told before the run and leaves nothing") {
  const TempFolder folder;
  const std::string config = folder.write("my.yaml", endless);
  CHECK(refusal(folder, {"run", config, "--json", folder.path("absent/out.json")}) ==
        "cannot write 'absent/out.json': No such file or directory\n");
  CHECK(refusal(folder, {"run", config, "--csv", folder.path("").substr(0, folder.path("").size() - 1)}).find("Is a directory\n") !=
        std::string::npos);
  CHECK(refusal(folder, {"run", config, "--json", folder.path("out.json"), "--csv", folder.path("absent/out.csv")}) ==
        "cannot write 'absent/out.csv': No such file or directory\n");
  CHECK(folder.names() == std::vector<std::string>{"my.yaml"});
}

TEST_CASE("Results on stdout leave the summary to stderr") {
  const CommandResult plain = run_command({"run", "configs/examples/recorded.yaml", "traces/write.mtrace"});
  REQUIRE(plain.code == 0);
  const CommandResult json = run_command({"run", "configs/examples/recorded.yaml", "traces/write.mtrace", "--json", "-"});
  CHECK(json.code == 0);
  CHECK(json.err == plain.out);
  CHECK(nlohmann::json::parse(json.out)["operations"]["write"]["completed"] == 1);
  const CommandResult csv = run_command({"run", "configs/examples/recorded.yaml", "traces/write.mtrace", "--csv", "-"});
  CHECK(csv.err == plain.out);
  const TempFolder folder;
  CHECK(refusal(folder, {"run", "configs/base.yaml", "--json", "-", "--csv", "-"}) == "--json and --csv cannot both go to stdout\n");
}

TEST_CASE("The recorded runs of perftest that only write and read replay as they went") {
  for (const char* name : {"ib_write_bw-64", "ib_write_bw-4k-list", "ib_write_bw-64k", "ib_write_bw-64k-mrperqp", "ib_write_bw-64k-huge",
                           "ib_write_bw-1m", "ib_write_bw-all", "ib_write_lat-8", "ib_read_bw-4k", "ib_read_bw-1m-q2", "ib_read_lat-64"}) {
    INFO(name);
    const CommandResult result =
        run_command({"run", "configs/examples/recorded.yaml", std::string("traces/recorded/") + name + ".mtrace", "--json", "-"});
    CHECK(result.code == 0);
    const auto json = nlohmann::json::parse(result.out);
    CHECK(json["summary"]["unexpected"] == 0);
    CHECK(json["summary"]["operations"] > 0);
  }
}

TEST_CASE("A program whose peer never gets ready tries until simulated time is over") {
  const TempFolder folder;
  const std::string trace = folder.write("t.mtrace",
                                         "mtrace 1\n"
                                         "a.t0 alloc_pd pd\n"
                                         "a.t0 create_cq cq\n"
                                         "a.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq\n"
                                         "b.t0 alloc_pd pd\n"
                                         "b.t0 create_cq cq\n"
                                         "b.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq rnr_timer=31\n"
                                         "a.t0 barrier ready n=2\n"
                                         "b.t0 barrier ready n=2\n"
                                         "a.t0 connect qp to=b.qp\n"
                                         "a.t0 post_send qp wr=1 send flags=signaled\n"
                                         "a.t0 poll cq wr=1\n");
  const CommandResult result = run_command({"run", "configs/examples/recorded.yaml", trace, "--set", "run.limit=2s"});
  CHECK(result.code == 1);
  CHECK(result.err ==
        "simulated time is over (run.limit), and these have not ended:\n"
        "  a.t0 at line 12: poll cq wr=1\n"
        "  a.nic: QP 0x11 (rts) has 1 requests outstanding: 0 sent or being sent, 0 in the NIC, 0 READs; its peer was not ready to "
        "receive, and it tries again and again\n"
        "    send wr=1 of 0 B: its WQE is not fetched\n");
}

TEST_CASE("A program that sends to a QP that is gone learns of it when its patience ends") {
  std::string text = read_file("traces/stale_key.mtrace");
  const std::string gone = "b.t0 dereg_mr dst", expected = "expect=REM_ACCESS_ERR", qp = "a.t0 create_qp qp pd=pd";
  text.replace(text.find(gone), gone.size(), "b.t0 destroy_qp qp");
  text.replace(text.find(qp), qp.size(), qp + " timeout=5 retry=3");
  text.replace(text.find(expected), expected.size(), "expect=RETRY_EXC_ERR");
  const TempFolder folder;
  const CommandResult result =
      run_command({"run", "configs/examples/recorded.yaml", folder.write("t.mtrace", text), "--json", folder.path("out.json")});
  CHECK(result.code == 0);
  const auto json = nlohmann::json::parse(read_file(folder.path("out.json")));
  // Four times 131.072 us: the first attempt and three more.
  CHECK(json["summary"]["simulated_ns"] > 524'288.0);
}

TEST_CASE("What a trace uses beyond this build is named once each, before the run") {
  const TempFolder folder;
  const std::string trace = folder.write("t.mtrace",
                                         "mtrace 1\n"
                                         "a.t0 mmap buf len=4K\n"
                                         "a.t0 alloc_pd pd\n"
                                         "a.t0 alloc_mr mr pd=pd max=1\n"
                                         "a.t0 create_cq cq\n"
                                         "a.t0 poll cq idle=1 expect=any\n"
                                         "a.t0 alloc_mr mr2 pd=pd max=1\n");
  CHECK(refusal(folder, {"run", "configs/examples/recorded.yaml", trace}) == "t.mtrace:4:6: 'alloc_mr' is not modelled yet\n");
}

TEST_CASE("Work requests with the key of an implicit region are refused before the run, where a trace shows it") {
  const TempFolder folder;
  const std::string start =
      "mtrace 1\n"
      "a.t0 mmap buf len=4K\n"
      "a.t0 alloc_pd pd\n"
      "a.t0 create_cq cq\n"
      "a.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq access=rw\n"
      "a.t0 create_qp to pd=pd type=rc scq=cq rcq=cq access=rw\n"
      "a.t0 connect qp to=a.to\n"
      "a.t0 reg_mr mr pd=pd addr=0 len=all access=lw,rw,od\n"
      "a.t0 post_recv qp wr=1\n";
  const std::string what = "'work request with the key of an implicit MR' is not modelled yet\n";
  CHECK(refusal(folder, {"run", "configs/examples/recorded.yaml",
                         folder.write("t.mtrace", start + "a.t0 post_send qp wr=2 write sge=buf:1K:mr to=0x10:0x1\n")}) ==
        "t.mtrace:10:34: " + what);
  CHECK(refusal(folder, {"run", "configs/examples/recorded.yaml",
                         folder.write("t.mtrace", start + "a.t0 post_send qp wr=2 write sge=0x10:1:0x1 to=mr+64\n")}) ==
        "t.mtrace:10:48: " + what);
}
