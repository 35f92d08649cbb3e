// Does each wrong trace give the message that a person needs?
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "program/trace_reader.h"
#include "unit/program/trace_support.h"

using namespace mtsim;
using namespace mtsim::program;

namespace {

using Texts = std::vector<std::string>;

/// The messages for one line after five that make a buffer, a PD, a CQ, an MR and a QP.
Texts seventh(const std::string& line) {
  return test::messages(
      "mtrace 1\na.t0 mmap buf len=64K\na.t0 alloc_pd pd\na.t0 create_cq cq\na.t0 reg_mr mr pd=pd addr=buf len=64K access=lw\n"
      "a.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq\n" +
      line + "\n");
}

}  // namespace

TEST_CASE("A misspelt word names the nearest known one") {
  CHECK(seventh("a.t0 post_sned qp wr=1 write") == Texts{"t.mtrace:7:6: unknown operation 'post_sned'; did you mean 'post_send'?"});
  CHECK(seventh("a.t0 post_send qp wr=1 wriet to=mr") == Texts{"t.mtrace:7:24: unknown opcode 'wriet'; did you mean 'write'?"});
  CHECK(seventh("a.t0 reg_mr m2 pd=pd adr=buf len=4K access=lw") ==
        Texts{"t.mtrace:7:22: unknown key 'adr' of reg_mr; did you mean 'addr'?"});
  CHECK(seventh("a.t0 post_send qp wr=1 write to=mr flags=signalled") ==
        Texts{"t.mtrace:7:42: 'signalled' is not a flag of a work request: signaled, inline, fence, solicited or more; did you mean "
              "'signaled'?"});
  CHECK(seventh("a.t0 poll cq expect=SUCESS") == Texts{"t.mtrace:7:21: 'SUCESS' is not a completion status; did you mean 'SUCCESS'?"});
  CHECK(seventh("a.t0 dereg_mr mr expect=EINVALL") ==
        Texts{"t.mtrace:7:25: 'EINVALL' is neither ok nor the name of an error; did you mean 'EINVAL'?"});
  CHECK(seventh("a.t0 create_qp q pd=pd type=xrc scq=cq rcq=cq") ==
        Texts{"t.mtrace:7:29: 'xrc' is not a type of QP: rc, uc or ud; did you mean 'rc'?"});
  CHECK(seventh("a.t0 mmap b2 len=4K page=2MB") == Texts{"t.mtrace:7:26: '2MB' is not a page size: 4K, 2M, 1G or thp; did you mean '2M'?"});
}

TEST_CASE("Keys must belong to the operation, stand once, and none may lack") {
  CHECK(seventh("a.t0 post_send qp wr=1 cas sge=mr:8 to=mr") ==
        Texts{"t.mtrace:7:6: post_send cas lacks cmp=, swp=; its form is post_send QP wr=ID cas [sge=SGE] to=ADDR[:KEY] cmp=N swp=N"});
  CHECK(seventh("a.t0 post_send qp wr=1 read to=mr imm=3") ==
        Texts{"t.mtrace:7:35: post_send read takes no imm=; its form is post_send QP wr=ID read [sge=SGE,...] to=ADDR[:KEY]"});
  CHECK(seventh("a.t0 reg_mr m2 pd=pd addr=buf access=lw") ==
        Texts{"t.mtrace:7:6: reg_mr lacks len=; its form is reg_mr MR pd=PD addr=ADDR len=N access=FLAGS [iova=N]"});
  CHECK(seventh("a.t0 reg_mr m2 pd=pd addr=buf len=4K len=8K access=lw") == Texts{"t.mtrace:7:38: len= stands twice on the line"});
  CHECK(seventh("a.t0 poll cq expect.ib=any expect.ib=SUCCESS") == Texts{"t.mtrace:7:28: expect.ib= stands twice on the line"});
  CHECK(seventh("a.t0 post_send qp wr=1") == Texts{"t.mtrace:7:6: post_send needs an opcode: send, send_imm, send_inv, write, write_imm, "
                                                   "read, cas, faa, bind_mw, local_inv or reg_mr"});
  CHECK(seventh("a.t0 poll cq n=2 wr=3") == Texts{"t.mtrace:7:16: a poll has one of n=, wr= and idle="});
  CHECK(seventh("a.t0 munmap buf off=4K") == Texts{"t.mtrace:7:21: off= and len= stand together or not at all"});
  CHECK(seventh("a.t0 compute 1 2") == Texts{"t.mtrace:7:16: unexpected word '2'; the form is compute NS"});
  CHECK(seventh("a.t0 compute") == Texts{"t.mtrace:7:6: compute lacks what it is about; its form is compute NS"});
  CHECK(seventh("a.t0 mmap b2 len=") == Texts{"t.mtrace:7:14: len= has no value"});
  CHECK(seventh("a.t0 mmap b2 len=4K kind=dm") ==
        Texts{"t.mtrace:7:21: kind= is reserved: this version carries out no other kinds of memory"});
  CHECK(seventh("a.t0 query_qp qp") == Texts{"t.mtrace:7:6: query_qp lacks expect=; its form is query_qp QP expect=STATE"});
}

TEST_CASE("Values out of range say what is allowed") {
  CHECK(seventh("a.t0 reg_mr m2 pd=pd addr=buf len=4k access=lw") ==
        Texts{"t.mtrace:7:35: '4k' is not a number: 'k' follows the digits; units are K, M, G and T, with or without iB or B"});
  CHECK(seventh("a.t0 compute 4K") == Texts{"t.mtrace:7:14: '4K': a unit stands only at lengths, offsets, alignments and limits"});
  CHECK(seventh("a.t0 mmap b2 len=99999999999999999999") ==
        Texts{"t.mtrace:7:18: '99999999999999999999' is out of range: 0 to 18446744073709551615"});
  CHECK(seventh("a.t0 mmap b2 len=-1") == Texts{"t.mtrace:7:18: '-1' is not a number (decimal, or hexadecimal with 0x)"});
  CHECK(seventh("a.t0 poll cq n=0") == Texts{"t.mtrace:7:16: '0' is out of range: 1 to 4294967295"});
  CHECK(seventh("a.t0 create_qp q pd=pd type=rc scq=cq rcq=cq retry=8") == Texts{"t.mtrace:7:52: '8' is out of range: 0 to 7"});
  CHECK(seventh("a.t0 create_qp q pd=pd type=rc scq=cq rcq=cq mtu=1500") ==
        Texts{"t.mtrace:7:50: '1500' is not an MTU: 256, 512, 1024, 2048 or 4096 bytes, or their codes 1 to 5"});
  CHECK(seventh("a.t0 reg_mr m2 pd=pd addr=buf len=4K access=lw,rx") ==
        Texts{"t.mtrace:7:48: 'rx' is not an access flag: 0, or a list of lw, rr, rw, ra, mw, zb, od, ht, ro, fg or fp"});
  CHECK(seventh("a.t0 modify_qp qp state=sqd") == Texts{"t.mtrace:7:25: 'sqd' cannot be asked for: reset, init, rtr, rts or err"});
  CHECK(seventh("a.t0 post_recv qp wr=1 flags=signaled") == Texts{"t.mtrace:7:30: 'signaled': a receive has no flag but more"});
}

TEST_CASE("Names must be made somewhere in the trace, as what they are used for") {
  CHECK(seventh("a.t0 dereg_mr mr0") == Texts{"t.mtrace:7:15: no line of host a makes an MR called 'mr0'; did you mean 'mr'?"});
  CHECK(seventh("a.t0 dereg_mr buf") == Texts{"t.mtrace:7:15: 'buf' of host a is never an MR"});
  CHECK(seventh("a.t0 post_srq srq wr=1") == Texts{"t.mtrace:7:15: no line of host a makes an SRQ called 'srq'"});
  CHECK(seventh("a.t0 post_send qp wr=1 write to=c.mr") == Texts{"t.mtrace:7:33: no host is called 'c'; the trace has a"});
  CHECK(seventh("b.t0 compute 1\na.t0 post_send qp wr=1 write to=b.mr") ==
        Texts{"t.mtrace:8:35: no line of host b makes a buffer, an MR or a window called 'mr'"});
  CHECK(seventh("b.t0 dereg_mr a.mr") == Texts{"t.mtrace:7:15: 'a.mr' is another host's: only its memory and its QPs can be named"});
  CHECK(seventh("a.t0 connect qp to=qp") == Texts{"t.mtrace:7:20: 'qp' must name a host too: HOST.QP"});
  CHECK(seventh("a.t0 create_cq 9lives") == Texts{"t.mtrace:7:16: '9lives' is not a name: letters, digits and _, not a digit first"});
}

TEST_CASE("A key may be left out only where the address has one") {
  CHECK(seventh("a.t0 post_send qp wr=1 write sge=buf+0:8 to=mr") ==
        Texts{"t.mtrace:7:34: 'buf' is a buffer of host a and has no key: write ADDR:KEY, in sge= ADDR:LEN:KEY"});
  CHECK(seventh("a.t0 post_send qp wr=1 write sge=mr:8 to=0x1000") == Texts{"t.mtrace:7:42: '0x1000' needs a key: ADDR:KEY"});
  CHECK(seventh("a.t0 post_send qp wr=1 write sge=mr to=mr") == Texts{"t.mtrace:7:34: 'mr' needs a length: ADDR:LEN[:KEY]"});
}

TEST_CASE("Requests of a host rise") {
  CHECK(seventh("a.t0 post_recv qp wr=4\na.t1 post_recv qp wr=4") ==
        Texts{"t.mtrace:8:22: wr=4 does not rise: line 7 of the same host has wr=4"});
}

TEST_CASE("A barrier that cannot open is an error") {
  CHECK(seventh("a.t0 barrier up n=2") == Texts{"t.mtrace:7:19: barrier 'up' has n=2, but only 1 of the actors ever come to it"});
  CHECK(seventh("a.t0 barrier up n=2\na.t1 barrier up n=3") ==
        Texts{"t.mtrace:8:19: n=3 at barrier 'up': it is n=2 at line 7, and all must agree"});
  CHECK(seventh("a.t0 barrier up n=2\na.t1 barrier up n=2\na.t0 barrier up n=2") ==
        Texts{"t.mtrace:7:19: barrier 'up' has n=2 and 3 lines: the last to come would wait for ever"});
}

TEST_CASE("The parts of a line stand in their order") {
  CHECK(seventh("a.t0") == Texts{"t.mtrace:7:1: no operation follows 'a.t0'"});
  CHECK(seventh("t0 compute 1") == Texts{"t.mtrace:7:1: 't0' is not an actor: HOST.THREAD, such as a.t0"});
  CHECK(seventh("@12x a.t0 compute 1") == Texts{"t.mtrace:7:2: '12x' is not a number: 'x' follows the digits"});
  CHECK(seventh("@5") == Texts{"t.mtrace:7:1: the line ends after its time: an actor and an operation are missing"});
  CHECK(seventh("host b") == Texts{"t.mtrace:7:1: host stands after the first operation: it belongs to the header"});
}

TEST_CASE("All errors are told at once, in the order of the file") {
  CHECK(seventh("a.t0 mmap b2 len=x page=3M\na.t0 dereg_mr nothing\na.t0 reg_mrr m2 pd=pd\na.t0 dereg_mr m2") ==
        Texts{"t.mtrace:7:18: 'x' is not a number (decimal, or hexadecimal with 0x)",
              "t.mtrace:7:25: '3M' is not a page size: 4K, 2M, 1G or thp; did you mean '2M'?",
              "t.mtrace:8:15: no line of host a makes an MR called 'nothing'",
              "t.mtrace:9:6: unknown operation 'reg_mrr'; did you mean 'reg_mr'?"});
}

TEST_CASE("Of many errors the first twenty are told and the rest counted") {
  std::string lines;
  for (int i = 0; i < 30; ++i) lines += "a.t0 compute x\n";
  const Texts messages = seventh(lines);
  REQUIRE(messages.size() == 21);
  CHECK(messages[0] == "t.mtrace:7:14: 'x' is not a number (decimal, or hexadecimal with 0x)");
  CHECK(messages[20] == "t.mtrace: ... and 10 more");
}

TEST_CASE("What is no trace is said to be none") {
  CHECK(test::messages("") == Texts{"t.mtrace:1:1: the file is empty; a trace begins with 'mtrace 1'"});
  CHECK(test::messages("\nmtrace 1\n") == Texts{"t.mtrace:1:1: '' stands where a trace begins: its first line must be 'mtrace 1'"});
  CHECK(test::messages("a.t0 compute 1\n") == Texts{"t.mtrace:1:1: 'a.t0' stands where a trace begins: its first line must be 'mtrace 1'"});
  CHECK(test::messages("mtrace 2\n") == Texts{"t.mtrace:1:8: version '2' of the format is not known: the first line must be 'mtrace 1'"});
  CHECK(test::messages("\x7f"
                       "ELF\x02\n") ==
        Texts{"t.mtrace:1:1: '\\x7fELF\\x02' stands where a trace begins: its first line must be 'mtrace 1'"});
  CHECK(test::messages("mtrace 1\nmeta a=b\n") == Texts{"t.mtrace:2:6: 'a=b' is not a key with a value in quotes: meta KEY=\"VALUE\""});
  CHECK(test::messages("mtrace 1\nmeta a=\"b\n") == Texts{"t.mtrace:2:6: the value of a= has no closing quote"});
  CHECK(test::messages("mtrace 1\nmeta a=\"\xff\"\n") == Texts{"t.mtrace:2:6: the value of a= is not UTF-8 text: '\\xff'"});
  CHECK(test::messages("mtrace 1\nhost a\nhost a\n") == Texts{"t.mtrace:3:1: host 'a' is declared twice"});
  CHECK(test::messages("mtrace 1\nhost a cpu=2\n") == Texts{"t.mtrace:2:8: unknown key 'cpu' of host; did you mean 'cpus'?"});
  CHECK(test::messages("mtrace 1\nhost a cpus=0\n") == Texts{"t.mtrace:2:13: '0' is not a number of CPUs: 1 to 4294967295"});
  CHECK(test::messages(std::string("mtrace 1\n# \0\n", 13)) == Texts{"t.mtrace:2:3: a NUL byte in the comment: this is not text"});
}

TEST_CASE("Files that cannot be read say why") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path().string();
  CHECK_THROWS_WITH(open_trace(path + "/none.mtrace"), path + "/none.mtrace: cannot be opened: No such file or directory");
  CHECK_THROWS_WITH(open_trace(path), path + ": is a directory, not a trace");
}
