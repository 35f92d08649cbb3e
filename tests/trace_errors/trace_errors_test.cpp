// Does each wrong trace get the message that a person needs, before anything has run?
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/run_refusal.h"

using namespace mtsim::test;

namespace {

const std::string replay = "configs/examples/recorded.yaml";

/// What `mtsim run` says of a trace with this content.
std::string content(const std::string& text, const std::string& name = "t.mtrace") {
  const TempFolder folder;
  return refusal(folder, {"run", replay, folder.write(name, text)});
}

/// The same for lines that follow six good ones.
std::string seventh(const std::string& lines) {
  return content(
      "mtrace 1\na.t0 mmap buf len=64K\na.t0 alloc_pd pd\na.t0 create_cq cq\na.t0 reg_mr mr pd=pd addr=buf len=64K access=lw\n"
      "a.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq\n" +
      lines);
}

}  // namespace

TEST_CASE("A file that is no trace says what a trace begins with") {
  CHECK(content("") == "t.mtrace:1:1: the file is empty; a trace begins with 'mtrace 1'\n");
  CHECK(content("a.t0 mmap buf len=64K\n") == "t.mtrace:1:1: 'a.t0' stands where a trace begins: its first line must be 'mtrace 1'\n");
  CHECK(content("mtrace 2\na.t0 mmap buf len=64K\n") ==
        "t.mtrace:1:8: version '2' of the format is not known: the first line must be 'mtrace 1'\n");
}

TEST_CASE("A trace that cannot be read is told by name") {
  const TempFolder folder;
  CHECK(refusal(folder, {"run", replay, folder.path("absent.mtrace")}) == "absent.mtrace: cannot be opened: No such file or directory\n");
  const std::string whole = read_file("traces/recorded/ib_write_bw-4k-q4.mtrace.zst");
  CHECK(content(whole.substr(0, 300), "cut.mtrace.zst") ==
        "cut.mtrace.zst: is damaged or cut short after line 0: it ends inside the compressed data\n");
}

TEST_CASE("Unknown operations, keys and words are told with the nearest known one") {
  CHECK(seventh("a.t0 post_sned qp wr=1 write to=0x0:0x0\n") == "t.mtrace:7:6: unknown operation 'post_sned'; did you mean 'post_send'?\n");
  CHECK(seventh("a.t0 post_send qp wr=1 write too=0x0:0x0\n") == "t.mtrace:7:30: unknown key 'too' of post_send; did you mean 'to'?\n");
  CHECK(seventh("a.t0 poll cq expect=SUCESS\n") == "t.mtrace:7:21: 'SUCESS' is not a completion status; did you mean 'SUCCESS'?\n");
  CHECK(seventh("a.t0 dereg_mr mr expect=EINVL\n") ==
        "t.mtrace:7:25: 'EINVL' is neither ok nor the name of an error; did you mean 'EINVAL'?\n");
}

TEST_CASE("A name that nothing makes is told with what there is") {
  CHECK(seventh("a.t0 post_send qq wr=1 write to=0x0:0x0\n") ==
        "t.mtrace:7:16: no line of host a makes a QP called 'qq'; did you mean 'qp'?\n");
  CHECK(seventh("a.t0 post_send qp wr=1 write to=b.dst\n") == "t.mtrace:7:33: no host is called 'b'; the trace has a\n");
}

TEST_CASE("Numbers, missing keys and keys given twice are told with their places") {
  CHECK(content("mtrace 1\na.t0 mmap buf len=64Q\n") ==
        "t.mtrace:2:19: '64Q' is not a number: 'Q' follows the digits; units are K, M, G and T, with or without iB or B\n");
  CHECK(content("mtrace 1\na.t0 mmap buf\n") ==
        "t.mtrace:2:6: mmap lacks len=; its form is mmap BUF len=N [page=4K|2M|1G|thp] [prot=rw|r|none] [share=private|shared] "
        "[backing=anon|file|io] [populate=0|1] [align=N] [at=K]\n");
  CHECK(content("mtrace 1\na.t0 mmap buf len=4K len=8K\n") == "t.mtrace:2:22: len= stands twice on the line\n");
  CHECK(content("mtrace 1\na mmap buf len=4K\n") == "t.mtrace:2:1: 'a' is not an actor: HOST.THREAD, such as a.t0\n");
}

TEST_CASE("Requests and barriers that do not fit together are told before the run") {
  CHECK(seventh("a.t0 post_send qp wr=2 write to=0x0:0x0\na.t0 post_send qp wr=1 write to=0x0:0x0\n") ==
        "t.mtrace:8:22: wr=1 does not rise: line 7 of the same host has wr=2\n");
  CHECK(seventh("a.t0 barrier x n=2\n") == "t.mtrace:7:18: barrier 'x' has n=2, but only 1 of the actors ever come to it\n");
}

TEST_CASE("A NIC that the host has not is told with those that it has") {
  CHECK(seventh("a.t0 alloc_pd other dev=nic1\n") ==
        "t.mtrace:7:25: host a has no NIC 'nic1'; with host.nics=1 it has nic0; did you mean 'nic0'?\n");
  const TempFolder folder;
  const auto with_two = [&](const std::string& text) {
    return refusal(folder, {"run", replay, folder.write("t.mtrace", text), "--set", "host.nics=2"});
  };
  CHECK(with_two("mtrace 1\na.t0 alloc_pd pd dev=mlx5_0\nb.t0 alloc_pd pd dev=nic01\na.t0 alloc_pd other dev=mlx5_0\n") ==
        "t.mtrace:2:22: host a has no NIC 'mlx5_0'; with host.nics=2 it has nic0, nic1\n"
        "t.mtrace:3:22: host b has no NIC 'nic01'; with host.nics=2 it has nic0, nic1; did you mean 'nic0'?\n");
  // All that is posted stays on the first NIC; lines of other threads may make the PD later in the file.
  CHECK(with_two("mtrace 1\na.t0 create_cq cq\na.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq\na.t1 alloc_pd pd dev=nic1\n") ==
        "t.mtrace:3:22: 'create_qp on another NIC than nic0' is not modelled yet\n");
  CHECK(with_two("mtrace 1\na.t0 alloc_pd pd dev=nic1\na.t0 create_srq srq pd=pd\n") ==
        "t.mtrace:3:24: 'create_srq on another NIC than nic0' is not modelled yet\n");
}

TEST_CASE("Several mistakes are told at once") {
  CHECK(seventh("a.t0 post_sned qp\na.t0 pol cq\na.t0 dereg_mr mmr\n") ==
        "t.mtrace:7:6: unknown operation 'post_sned'; did you mean 'post_send'?\n"
        "t.mtrace:8:6: unknown operation 'pol'; did you mean 'poll'?\n"
        "t.mtrace:9:15: no line of host a makes an MR called 'mmr'; did you mean 'mr'?\n");
}

TEST_CASE("Mistakes of the configuration are told although a trace is given") {
  const TempFolder folder;
  CHECK(refusal(folder, {"run", replay, folder.write("t.mtrace", "mtrace 1\na.t0 mmap buf len=4K\n"), "--set", "nic.walks=0"}) ==
        "--set nic.walks=0: nic.walks: 0 is below the minimum 1\n");
}

TEST_CASE("Forks that could not be, or not be told apart, are told before the run") {
  CHECK(seventh("a.t0 fork kid\na.t1 fork kid\n") ==
        "t.mtrace:8:11: 'kid' was forked at line 7 already: each copy of host a has a name of its own\n");
  CHECK(seventh("a.kid_t0 fork kid\n") == "t.mtrace:7:15: a.kid_t0 runs in 'kid' itself or in a copy of it: nobody is there to fork it\n");
  CHECK(seventh("a.one_t0 fork two\na.two_t0 fork one\n") ==
        "t.mtrace:7:15: a.one_t0 runs in 'two' itself or in a copy of it: nobody is there to fork it\n"
        "t.mtrace:8:15: a.two_t0 runs in 'one' itself or in a copy of it: nobody is there to fork it\n");
  CHECK(seventh("a.t0 fork\n") == "t.mtrace:7:6: fork lacks what it is about; its form is fork CHILD\n");
  CHECK(seventh("a.t0 fork 9lives\n") == "t.mtrace:7:11: '9lives' is not a name: letters, digits and _, not a digit first\n");
  CHECK(seventh("a.t0 fork kid kid\n") == "t.mtrace:7:15: unexpected word 'kid'; the form is fork CHILD\n");
  CHECK(seventh("a.t0 frok kid\n") == "t.mtrace:7:6: unknown operation 'frok'; did you mean 'fork'?\n");
  // Another host's copy may have the same name.
  CHECK(seventh("a.t0 fork kid\nb.t0 fork kid\nb.t0 fork kid\n") ==
        "t.mtrace:9:11: 'kid' was forked at line 8 already: each copy of host b has a name of its own\n");
}
