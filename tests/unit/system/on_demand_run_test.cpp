// Where a run meets a page on demand that the NIC does not have, does it end there and say what it was? No completion may come of it.
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "support/run_command.h"

using namespace mtsim::test;

namespace {

/// Host a with `local` and host b with `remote` registered as said, connected; then `lines`.
std::string trace(const std::string& local, const std::string& remote, const std::string& lines) {
  std::string text = "mtrace 1\n";
  for (const std::string host : {"a", "b"})
    text += host + ".t0 mmap buf len=64K\n" + host + ".t0 alloc_pd pd\n" + host + ".t0 create_cq cq\n" + host +
            ".t0 create_qp qp pd=pd type=rc scq=cq rcq=cq access=lw,rr,rw,ra\n" + (host == "a" ? local : remote);
  for (const std::string host : {"a", "b"}) text += host + ".t0 barrier ready n=2\n";
  return text + "a.t0 connect qp to=b.qp\na.t0 barrier up n=2\nb.t0 barrier up n=2\n" + lines;
}

std::string touched(const std::string& host) { return host + ".t0 touch buf\n"; }
std::string region(const std::string& host, const std::string& access) {
  return host + ".t0 reg_mr mr pd=pd addr=buf len=64K access=" + access + "\n";
}

void check_ends(const std::string& text, const std::vector<std::string>& said) {
  const TempFolder folder;
  const CommandResult result = run_command({"run", "configs/examples/recorded.yaml", folder.write("t.mtrace", text)});
  INFO(text << result.out << result.err);
  CHECK(result.code == 1);
  for (const std::string& part : said) CHECK(result.err.find(part) != std::string::npos);
  CHECK(result.out.find("Completions:") == std::string::npos);
  CHECK(result.out.find("not as the program expected") == std::string::npos);
}

}  // namespace

TEST_CASE("A request whose own memory is absent") {
  check_ends(trace(region("a", "lw,od"), touched("b") + region("b", "lw,rw"),
                   "a.t0 post_send qp wr=7 write sge=mr+4K:4K to=b.mr flags=signaled\na.t0 poll cq\n"),
             {"a: ", "the write wr=7 of its QP 0x", "ODP page not present", "at address 0x7", "of key 0x", "`advise_mr prefetch flush=1`",
              "a.t0 at line"});
}

TEST_CASE("A READ whose answer has nowhere to go") {
  check_ends(trace(region("a", "lw,od"), touched("b") + region("b", "lw,rr"),
                   "a.t0 post_send qp wr=8 read sge=mr+4K:4K to=b.mr flags=signaled\na.t0 poll cq\n"),
             {"a: ", "the read wr=8 of its QP 0x", "ODP page not present", "`advise_mr prefetch_write flush=1`"});
}

TEST_CASE("A peer's WRITE, READ and atomic to memory that is absent") {
  const std::string local = touched("a") + region("a", "lw");
  check_ends(trace(local, region("b", "lw,rw,od"), "a.t0 post_send qp wr=3 write sge=mr:4K to=b.mr flags=signaled\na.t0 poll cq\n"),
             {"b: ", "a write (wr=3) of a's QP 0x", "ODP page not present", "prefetch_write"});
  check_ends(trace(local, region("b", "lw,rr,od"), "a.t0 post_send qp wr=4 read sge=mr:4K to=b.mr flags=signaled\na.t0 poll cq\n"),
             {"b: ", "a read (wr=4) of a's QP 0x", "`advise_mr prefetch flush=1`"});
  check_ends(trace(local, region("b", "lw,ra,od"), "a.t0 post_send qp wr=5 faa sge=mr:8 to=b.mr add=1 flags=signaled\na.t0 poll cq\n"),
             {"b: ", "a faa (wr=5) of a's QP 0x"});
}

TEST_CASE("A receive into memory that is absent") {
  check_ends(trace(touched("a") + region("a", "lw"), region("b", "lw,od"),
                   "b.t0 post_recv qp wr=9 sge=mr:4K\na.t0 post_send qp wr=1 send sge=mr:4K flags=signaled\na.t0 poll cq\n"),
             {"b: ", "the receive wr=9 of its QP 0x", "prefetch_write"});
}

TEST_CASE("A WRITE to pages that a plain prefetch has brought in for reading") {
  check_ends(trace(touched("a") + region("a", "lw"), region("b", "lw,rw,od") + "b.t0 advise_mr prefetch pd=pd sge=mr:64K flush=1\n",
                   "a.t0 post_send qp wr=1 write sge=mr:4K to=b.mr flags=signaled\na.t0 poll cq\n"),
             {"b: ", "ODP page present for reading only", "prefetch_write"});
}

TEST_CASE("A key of an implicit region that is made further down in the trace") {
  check_ends(
      "mtrace 1\n"
      "a.t0 mmap buf len=64K\na.t0 touch buf\na.t0 alloc_pd pd\na.t0 create_cq cq\n"
      "a.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq\na.t0 reg_mr mr pd=pd addr=buf len=64K access=lw\n"
      "a.t0 barrier ready n=2\na.t0 connect qp to=b.qp\n"
      "a.t0 post_send qp wr=6 write sge=mr:4K to=b.mr+4K flags=signaled\na.t0 poll cq\n"
      "b.t0 alloc_pd pd\nb.t0 create_cq cq\nb.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq access=lw,rw\n"
      "b.t0 reg_mr mr pd=pd addr=0 len=all access=lw,rw,od\nb.t0 barrier ready n=2\n",
      {"b: ", "a write (wr=6) of a's QP 0x", "uses key 0x", "at address 0x1000", "implicit on-demand region", "An explicit region"});
}

TEST_CASE("Rights are judged before pages: a refusal stays one") {
  const TempFolder folder;
  const CommandResult result =
      run_command({"run", "configs/examples/recorded.yaml",
                   folder.write("t.mtrace", trace(touched("a") + region("a", "lw"), region("b", "lw,rr,od"),
                                                  "a.t0 post_send qp wr=1 write sge=mr:4K to=b.mr flags=signaled\na.t0 poll cq "
                                                  "expect=REM_ACCESS_ERR\n"))});
  CHECK(result.code == 0);
  CHECK(result.err.empty());
}

TEST_CASE("Threads that register, prefetch, change memory and deregister at random all come to their end") {
  const TempFolder folder;
  for (unsigned seed = 1; seed <= 24; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    std::string text = "mtrace 1\nhost a cpus=" + std::to_string(1 + below(4)) + "\na.t0 mmap buf len=4M\na.t0 alloc_pd pd\n";
    const std::vector<std::string> threads{"a.t0", "a.t1", "a.t2", "a.t3"};
    for (const std::string& thread : threads) text += thread + " barrier start n=4\n";
    for (const std::string& thread : threads) {
      const std::string mr = "m" + thread.substr(3);
      bool alive = false;
      for (int line = 0; line < 60; ++line) {
        const std::string off = std::to_string(below(1000) * 4) + "K", length = std::to_string((1 + below(23)) * 4) + "K";
        const std::string part = " off=" + off + " len=" + length;
        std::string operation;
        switch (alive ? below(8) : 8) {
          case 0:
          case 1:
          case 2:
            operation = "advise_mr " + std::vector<std::string>{"prefetch", "prefetch_write", "prefetch_no_fault"}[below(3)] +
                        " pd=pd sge=buf+" + off + ":" + length + ":" + mr + " flush=" + std::to_string(below(2));
            break;
          case 3:
            operation = "madvise buf advice=dontneed" + (below(2) == 0 ? "" : part);  // the whole: children become empty
            break;
          case 4:
            operation = (below(2) == 0 ? "swapout buf" : "migrate buf") + part;
            break;
          case 5:
            operation = "touch buf" + part;
            break;
          case 6:
            operation = std::string("mprotect buf prot=") + (below(2) == 0 ? "rw" : "r") + part;
            break;
          case 7:
            operation = "dereg_mr " + mr;
            alive = false;
            break;
          default:
            operation = "reg_mr " + mr + " pd=pd access=lw,od " + (below(4) != 0 ? "addr=0 len=all" : "addr=buf len=4M");
            alive = true;
        }
        text += thread + " " + operation + " expect=any\n";
      }
    }
    std::vector<std::string> arguments{"run", "configs/examples/recorded.yaml", folder.write("t.mtrace", text), "--set",
                                       "host.memory.swap=1GiB"};
    if (seed % 2 == 0) arguments.insert(arguments.end(), {"--set", "host.iommu.mode=translate"});
    const CommandResult result = run_command(arguments);
    INFO(text << result.err);
    CHECK(result.code == 0);
    CHECK(result.err.empty());
  }
}
