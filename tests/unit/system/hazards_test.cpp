// Do completions tell of data that are wrong without an error, and only of those? Each case is a trace; its polls say what they expect.
#include <catch2/catch.hpp>
#include <fstream>

#include "support/system_run.h"
#include "support/temp_folder.h"

using namespace mtsim;
using namespace mtsim::test;

namespace {

/// Two hosts with a QP each, a buffer, and an MR `mr` of it; b's can do everything. `before`: lines between b's mmap and its registration;
/// `change`: what b does to its memory afterwards, while nothing is under way; `then`: what a does, and b after `b_then`.
struct Case {
  std::string change;
  std::string then;
  std::string before{};
  std::string b_then{};
  std::string access = "lw,rr,rw,ra";
  std::string type = "rc";
};

constexpr const char* wr_write = "a.t0 post_send qp wr=1 write sge=mr+0:4K to=b.mr+0 flags=signaled\n";
constexpr const char* wr_read = "a.t0 post_send qp wr=1 read sge=mr+0:4K to=b.mr+0 flags=signaled\n";

std::string poll(const char* hazard) { return std::string("a.t0 poll cq wr=1 expect=SUCCESS hazard=") + hazard + "\n"; }

std::string trace_of(const Case& c) {
  return "mtrace 1\n"
         "a.t0 mmap buf len=64K\n"
         "a.t0 touch buf\n"
         "a.t0 alloc_pd pd\n"
         "a.t0 create_cq cq\n"
         "a.t0 create_qp qp pd=pd type=" +
         c.type +
         " scq=cq rcq=cq access=lw,rr,rw,ra\n"
         "a.t0 reg_mr mr pd=pd addr=buf len=64K access=lw\n"
         "b.t0 mmap buf len=64K\n" +
         c.before +
         "b.t0 alloc_pd pd\n"
         "b.t0 create_cq cq\n"
         "b.t0 create_qp qp pd=pd type=" +
         c.type +
         " scq=cq rcq=cq access=lw,rr,rw,ra\n"
         "b.t0 reg_mr mr pd=pd addr=buf len=64K access=" +
         c.access + "\n" + c.change +
         "a.t0 barrier ready n=2\n"
         "b.t0 barrier ready n=2\n"
         "a.t0 connect qp to=b.qp\n" +
         "a.t0 barrier set n=2\n"
         "b.t0 barrier set n=2\n" +
         c.b_then + "a.t0 barrier go n=2\nb.t0 barrier go n=2\n" + c.then;
}

results::Report run(const Case& c, std::vector<std::string> sets = {}) {
  const TempFolder folder;
  const std::string path = folder.path("case.mtrace");
  std::ofstream(path) << trace_of(c);
  const SystemRun out = run_system(sets, path);
  INFO(trace_of(c));
  CHECK(out.stuck == std::vector<std::string>{});
  for (const results::Unexpected& u : out.report.unexpected) {
    UNSCOPED_INFO("line " << u.line << ": " << u.operation << ": expected " << u.expected << ", got " << u.got);
    CHECK(false);
  }
  return out.report;
}

/// Over all hosts.
results::HazardStats sum(const results::Report& r) {
  results::HazardStats out;
  for (const results::HazardStats& h : r.hazards)
    for (const auto& [to, from] : {std::pair(&out.stale, &h.stale), std::pair(&out.foreign, &h.foreign)}) {
      to->requests += from->requests;
      to->receives += from->receives;
      to->transfers += from->transfers;
    }
  return out;
}

void check_stale(const results::Report& r, std::uint64_t requests, std::uint64_t receives, std::uint64_t transfers) {
  const results::HazardStats s = sum(r);
  CHECK(s.stale.requests == requests);
  CHECK(s.stale.receives == receives);
  CHECK(s.stale.transfers == transfers);
  CHECK_FALSE(s.foreign.any());
}

constexpr const char* touched = "b.t0 touch buf\n";
constexpr const char* remapped = "b.t0 munmap buf\nb.t0 mmap again len=64K\n";
const std::vector<std::string> old_kernel{"kernel.copy_on_fork=false"};

}  // namespace

TEST_CASE("What is written to memory that was unmapped, or mapped anew, is lost without an error", "[hazards]") {
  for (const char* change : {"b.t0 munmap buf\n", remapped, "b.t0 munmap buf\nb.t0 mmap again len=64K\nb.t0 touch again\n"})
    for (const char* iommu : {"host.iommu.mode=off", "host.iommu.mode=translate"}) {
      INFO(iommu);
      const results::Report r = run({change, wr_write + poll("stale")}, {iommu});
      check_stale(r, 1, 0, 1);
      REQUIRE(r.hazard_events.size() == 1);
      CHECK(r.hazard_events[0].kind == "stale");
      CHECK(r.hazard_events[0].host == "b");
      CHECK(r.hazard_events[0].writes);
      CHECK(r.hazard_events[0].operation.starts_with("a write wr=1 on QP"));
      CHECK(r.hazard_events[0].why ==
            (std::string(change) == "b.t0 munmap buf\n" ? results::HazardReason::unmapped : results::HazardReason::other_page));
    }
}

TEST_CASE("Only the part of a registration that lost its memory is stale", "[hazards]") {
  const Case half{"b.t0 munmap buf off=32K len=32K\n", "a.t0 post_send qp wr=1 write sge=mr+0:32K to=b.mr+0 flags=signaled\n" +
                                                           poll("none") +
                                                           "a.t0 post_send qp wr=2 write sge=mr+0:8K to=b.mr+28K flags=signaled\n"
                                                           "a.t0 poll cq wr=2 hazard=stale\n"};
  const results::Report r = run(half);
  check_stale(r, 1, 0, 1);
  REQUIRE(r.hazard_events.size() == 1);
  CHECK(r.hazard_events[0].address % (64 << 10) == 32 << 10);
}

TEST_CASE("A READ of memory that was mapped anew is stale if the program has other data there", "[hazards]") {
  check_stale(run({remapped, wr_read + poll("stale"), touched}), 1, 0, 1);
  check_stale(run({std::string(remapped) + "b.t0 touch again\n", wr_read + poll("stale")}), 1, 0, 1);
  // Nobody has written: zeros here and there.
  check_stale(run({remapped, wr_read + poll("none")}), 0, 0, 0);
  check_stale(run({std::string(remapped) + "b.t0 touch again write=0\n", wr_read + poll("none")}), 0, 0, 0);
  // What the first WRITE put into the old pages, the READ brings back.
  const std::string after_write =
      wr_write + poll("stale") + "a.t0 post_send qp wr=2 read sge=mr+8K:4K to=b.mr+0 flags=signaled\n" + "a.t0 poll cq wr=2 hazard=stale\n";
  check_stale(run({remapped, after_write}), 2, 0, 2);
}

TEST_CASE("madvise dontneed leaves the pages to the NIC alone", "[hazards]") {
  const std::string dropped = "b.t0 madvise buf advice=dontneed\n";
  check_stale(run({dropped, wr_write + poll("stale")}), 1, 0, 1);
  check_stale(run({dropped + touched, wr_write + poll("stale")}), 1, 0, 1);
  check_stale(run({dropped, wr_read + poll("stale"), touched}), 1, 0, 1);
  check_stale(run({dropped, wr_read + poll("none")}), 0, 0, 0);
  // Those of a shared mapping stay in its file and come back.
  Case shared{dropped, wr_write + poll("none")};
  shared.change =
      "b.t0 mmap file len=64K share=shared\nb.t0 touch file\nb.t0 reg_mr shared pd=pd addr=file len=64K access=lw,rr,rw\n"
      "b.t0 madvise file advice=dontneed\n";
  shared.then = "a.t0 post_send qp wr=1 write sge=mr+0:4K to=b.shared+0 flags=signaled\n" + poll("none");
  check_stale(run(shared), 0, 0, 0);
}

TEST_CASE("A write after a fork parts the program from the pages that the NIC has", "[hazards]") {
  const std::string forked = "b.t0 fork kid\nb.kid_t0 compute 1000\n";
  SECTION("the parent's, without protection") {
    check_stale(run({forked + touched, wr_write + poll("stale"), touched}, old_kernel), 1, 0, 1);
    check_stale(run({forked + touched, wr_read + poll("stale"), touched}, old_kernel), 1, 0, 1);
  }
  SECTION("as long as nobody writes all see the same pages") {
    check_stale(run({forked, wr_write + poll("none"), touched}, old_kernel), 0, 0, 0);
    check_stale(run({forked + "b.t0 touch buf write=0\n", wr_read + poll("none"), touched}, old_kernel), 0, 0, 0);
  }
  SECTION("a child that writes first gets the copies") {
    check_stale(
        run({"b.t0 fork kid\nb.kid_t0 touch buf\nb.t0 sleep 1000000\nb.t0 touch buf\n", wr_write + poll("none"), touched}, old_kernel), 0,
        0, 0);
  }
  SECTION("only bytes that have been written differ from what the NIC reads") {
    const std::string one_byte = forked + "b.t0 touch buf off=100 len=1\n";
    check_stale(run({one_byte, "a.t0 post_send qp wr=1 read sge=mr+0:100 to=b.mr+0 flags=signaled\n" + poll("none"), touched}, old_kernel),
                0, 0, 0);
    check_stale(run({one_byte, "a.t0 post_send qp wr=1 read sge=mr+0:1 to=b.mr+100 flags=signaled\n" + poll("stale"), touched}, old_kernel),
                1, 0, 1);
  }
  SECTION("a copy that nobody has written to is read right, and written wrong") {
    // Pinning it for reading makes the page the parent's own.
    const std::string unshared = forked + "b.t0 reg_mr second pd=pd addr=buf len=64K access=rr\n";
    check_stale(run({unshared, wr_read + poll("none"), touched}, old_kernel), 0, 0, 0);
    check_stale(run({unshared, wr_write + poll("stale"), touched}, old_kernel), 1, 0, 1);
    check_stale(run({unshared + touched, wr_read + poll("stale"), touched}, old_kernel), 1, 0, 1);
  }
  SECTION("protected by MADV_DONTFORK, by ibv_fork_init, or by the kernel") {
    const std::string kept = "b.t0 madvise buf advice=dontfork\n";
    check_stale(run({kept + forked + touched, wr_write + poll("none"), touched}, old_kernel), 0, 0, 0);
    check_stale(run({forked + touched, wr_write + poll("none"), "b.t0 fork_init\nb.t0 touch buf\n"}, old_kernel), 0, 0, 0);
    check_stale(run({forked + touched, wr_write + poll("none"), touched}), 0, 0, 0);
    check_stale(run({forked + touched, wr_read + poll("none"), touched}), 0, 0, 0);
  }
}

TEST_CASE("What a request gathers, and where a response goes, can be stale as well", "[hazards]") {
  const std::string remap = "a.t0 munmap buf\na.t0 mmap again len=64K\n";
  check_stale(run({"", remap + wr_write + poll("stale")}), 1, 0, 1);
  check_stale(run({"", remap + wr_read + poll("stale")}), 1, 0, 1);
  // A list of pieces, of which one is.
  check_stale(run({"",
                   "a.t0 munmap buf off=4K len=4K\n"
                   "a.t0 post_send qp wr=1 write sge=mr+0:64,mr+4K:64,mr+8K:64 to=b.mr+0 flags=signaled\n" +
                       poll("stale")}),
              1, 0, 1);
  // Inline data are the CPU's to read.
  check_stale(run({"", remap + "a.t0 post_send qp wr=1 write sge=again+0:32 to=b.mr+0 flags=signaled,inline\n" + poll("none")}), 0, 0, 0);
}

TEST_CASE("A message into memory that is gone is told at both ends", "[hazards]") {
  Case c{remapped,
         "a.t0 post_send qp wr=1 send sge=mr+0:4K flags=signaled\n" + poll("stale") + "b.t0 poll cq wr=7 expect=SUCCESS hazard=stale\n"};
  c.b_then = "b.t0 post_recv qp wr=7 sge=mr+0:4K\n";
  check_stale(run(c), 1, 1, 1);
  c.change = "";
  c.then = "a.t0 post_send qp wr=1 send sge=mr+0:4K flags=signaled\n" + poll("none") + "b.t0 poll cq wr=7 hazard=none\n";
  check_stale(run(c), 0, 0, 0);
  c.change = remapped;
  c.then =
      "a.t0 post_send qp wr=1 write_imm sge=mr+0:4K to=b.mr+0 imm=3 flags=signaled\n" + poll("stale") + "b.t0 poll cq wr=7 hazard=stale\n";
  check_stale(run(c), 1, 1, 1);
}

TEST_CASE("An atomic on a word that the program does not see is stale", "[hazards]") {
  check_stale(run({remapped, "a.t0 post_send qp wr=1 faa sge=mr+0:8 to=b.mr+0 add=1 flags=signaled\n" + poll("stale")}), 1, 0, 1);
  check_stale(run({"", "a.t0 post_send qp wr=1 faa sge=mr+0:8 to=b.mr+0 add=1 flags=signaled\n" + poll("none")}), 0, 0, 0);
}

TEST_CASE("Hazards count that no completion tells of", "[hazards]") {
  // A request that asks for none.
  const std::string unsignaled =
      "a.t0 post_send qp wr=1 write sge=mr+0:4K to=b.mr+0\n"
      "a.t0 post_send qp wr=2 write sge=mr+0:4K to=b.mr+0 flags=signaled\na.t0 poll cq wr=2 hazard=stale\n";
  check_stale(run({remapped, unsignaled}), 2, 0, 2);
  // A connection on which nobody answers.
  Case unreliable{remapped, wr_write + poll("none") + "a.t0 sleep 100000\n"};
  unreliable.type = "uc";
  check_stale(run(unreliable), 0, 0, 1);
  // A request that fails in the end: its second page is beyond the MR.
  const std::string fails =
      "a.t0 post_send qp wr=1 read sge=mr+0:4K,mr+60K:8K:mr to=b.mr+0 flags=signaled\n"
      "a.t0 poll cq wr=1 expect=LOC_PROT_ERR hazard=none\n";
  check_stale(run({remapped, fails, touched}), 0, 0, 3);
}

TEST_CASE("On demand the NIC follows the program", "[hazards]") {
  const std::string again = "b.t0 madvise buf advice=dontneed\nb.t0 touch buf\nb.t0 advise_mr prefetch_write pd=pd sge=mr+0:64K flush=1\n";
  Case c{again, wr_write + poll("none"), touched, "", "lw,rr,rw,od"};
  check_stale(run(c), 0, 0, 0);
  c.then = wr_read + poll("none");
  check_stale(run(c), 0, 0, 0);
}

TEST_CASE("Pages that are swapped out or moved before they are registered, or that are pinned, cause no hazard", "[hazards]") {
  for (const char* moved : {"b.t0 swapout buf\n", "b.t0 migrate buf\n"}) {
    check_stale(run({moved, wr_write + poll("none"), touched}, {"replay.hazards=on"}), 0, 0, 0);
    check_stale(run({"", wr_read + poll("none"), touched + std::string(moved)}, {"replay.hazards=on"}), 0, 0, 0);
  }
}

TEST_CASE("Through a window it is the memory of its MR that counts", "[hazards]") {
  Case c{"b.t0 alloc_mw mw pd=pd type=1\n",
         "a.t0 post_send qp wr=1 write sge=mr+0:4K to=b.mw+0 flags=signaled\n" + poll("none") +
             "a.t0 post_send qp wr=2 write sge=mr+0:4K to=b.mw+8K flags=signaled\na.t0 poll cq wr=2 hazard=stale\n"};
  c.b_then = "b.t0 bind_mw mw qp=qp mr=mr addr=mr+8K len=32K access=rr,rw wr=5\nb.t0 poll cq\nb.t0 munmap buf off=16K len=4K\n";
  c.access = "lw,mw";
  check_stale(run(c), 1, 0, 1);
}

TEST_CASE("A key that has come to stand for another MR is told", "[hazards]") {
  const std::string recycled =
      "b.t0 mmap other len=64K\nb.t0 touch other\nb.t0 dereg_mr old\n"
      "b.t0 reg_mr new pd=pd addr=other len=64K access=lw,rr,rw iova=0x10000\n";
  Case c{"b.t0 reg_mr old pd=pd addr=buf len=64K access=lw,rr,rw iova=0x10000\n" + recycled, ""};
  for (const char* opcode : {"write", "read"}) {
    c.then = std::string("a.t0 post_send qp wr=1 ") + opcode + " sge=mr+0:4K to=b.old+0 flags=signaled\n" + poll("foreign") +
             "a.t0 post_send qp wr=2 " + opcode + " sge=mr+0:4K to=b.new+0 flags=signaled\na.t0 poll cq wr=2 hazard=none\n";
    const results::Report r = run(c);
    CHECK(sum(r).foreign.requests == 1);
    CHECK(sum(r).foreign.transfers == 1);
    CHECK_FALSE(sum(r).stale.any());
    REQUIRE(r.hazard_events.size() == 1);
    CHECK(r.hazard_events[0].why == results::HazardReason::other_key);
  }
  // Where keys advance the old one stands for nothing.
  c.then = "a.t0 post_send qp wr=1 write sge=mr+0:4K to=b.old+0 flags=signaled\na.t0 poll cq wr=1 expect=REM_ACCESS_ERR hazard=none\n";
  check_stale(run(c, {"driver.keys=sequential"}), 0, 0, 0);
}

TEST_CASE("A registration that changes in place is still what its key means", "[hazards]") {
  const std::string moved = "b.t0 mmap other len=64K\nb.t0 rereg_mr mr trans addr=other len=64K\n";
  check_stale(run({moved, wr_write + poll("none")}), 0, 0, 0);
  check_stale(run({moved + "b.t0 munmap buf\n", wr_write + poll("none")}), 0, 0, 0);
  check_stale(run({moved + "b.t0 munmap other\nb.t0 mmap third len=64K\n", wr_write + poll("stale")}), 1, 0, 1);
  check_stale(run({"b.t0 rereg_mr mr access=lw,rr,rw\n" + std::string(remapped), wr_write + poll("stale")}), 1, 0, 1);
}

TEST_CASE("Data are followed where the program can make them wrong, and as the configuration says", "[hazards]") {
  const std::string plain = "a.t0 post_send qp wr=1 write sge=mr+0:4K to=b.mr+0 flags=signaled\na.t0 poll cq wr=1\n";
  check_stale(run({remapped, plain}), 1, 0, 1);
  check_stale(run({remapped, plain}, {"replay.hazards=off"}), 0, 0, 0);
  check_stale(run({"", plain}, {"replay.hazards=on"}), 0, 0, 0);
}

TEST_CASE("A poll that expects another hazard than there is, is told", "[hazards]") {
  for (const auto& [change, expected, got] : {std::tuple(remapped, "none", "stale"), std::tuple("", "foreign", "none")}) {
    const TempFolder folder;
    const std::string path = folder.path("case.mtrace");
    std::ofstream(path) << trace_of({change, wr_write + poll(expected)});
    const results::Report r = run_system({}, path).report;
    REQUIRE(r.unexpected.size() == 1);
    CHECK(r.unexpected[0].expected == std::string("hazard=") + expected);
    CHECK(r.unexpected[0].got == std::string("hazard=") + got);
  }
}
