// Is whoever watches told of every change of what names stand for? Other processes keep a table of their own from that.
#include <catch2/catch.hpp>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "program/trace_reader.h"
#include "unit/program/actor_listing.h"
#include "unit/program/trace_support.h"

using namespace mtsim;
using namespace mtsim::test;

namespace {

/// Writes down names with what they stand for: `mr alive 0x401`.
class Changes final : public program::Observer {
 public:
  explicit Changes(const program::Names& names) : names_(names) {}
  void called(Kind, int) override {}
  void lacked_object(Kind) override {}
  void left_unposted(std::uint64_t) override {}
  void completed(verbs::Opcode, verbs::Status) override {}
  void unexpected(const program::Surprise&) override {}
  void object_changed(NameId name, const program::Object& object) override {
    constexpr const char* lives[] = {"unmade", "alive", "gone", "failed"};
    seen.push_back(fmt::format("{} {} {:#x}", names_.object_name(name), lives[std::size_t(object.life)], object.rkey.raw));
  }

  std::vector<std::string> seen;

 private:
  const program::Names& names_;
};

std::vector<std::string> changes(const std::string& lines, const std::string& failing = {}, std::uint64_t refused = 0) {
  const program::test::TemporaryDirectory folder;
  const auto trace = program::open_trace(folder.file("t.mtrace", "mtrace 1\n" + lines));
  Later later;
  FakeMeeting meeting(later);
  FakeDevice device(later, false);
  if (!failing.empty()) device.errors[failing] = ENOMEM;
  if (refused != 0) device.refused[refused] = EINVAL;
  Changes observer(trace->names());
  program::Actors actors(*trace, {&device}, meeting, observer, program::ReplayTime::asap);
  actors.start();
  later.run();
  REQUIRE(actors.done());
  return observer.seen;
}

using Lines = std::vector<std::string>;

const std::string furnished =
    "a.t0 mmap buf len=64K\n"
    "a.t0 alloc_pd pd\n"
    "a.t0 create_cq cq depth=64\n"
    "a.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq\n"
    "a.t0 reg_mr mr pd=pd addr=buf len=64K access=lw,mw\n";
const Lines made{"buf alive 0x0", "pd alive 0x0", "cq alive 0x0", "qp alive 0x0", "mr alive 0x401"};

Lines after_made(Lines more) {
  more.insert(more.begin(), made.begin(), made.end());
  return more;
}

}  // namespace

TEST_CASE("who watches is told what is made and what goes") {
  CHECK(changes(furnished + "a.t0 touch buf\n"
                            "a.t0 modify_qp qp state=reset\n"
                            "a.t0 dereg_mr mr\n"
                            "a.t0 munmap buf off=0 len=4K\n"
                            "a.t0 munmap buf\n"
                            "a.t0 destroy_qp qp\n"
                            "a.t0 destroy_cq cq\n"
                            "a.t0 dealloc_pd pd\n") ==
        after_made({"mr gone 0x401", "buf gone 0x0", "qp gone 0x0", "cq gone 0x0", "pd gone 0x0"}));
}

TEST_CASE("who watches is told what could not be made") {
  CHECK(changes("a.t0 mmap buf len=64K\na.t0 alloc_pd pd\na.t0 reg_mr mr pd=pd addr=buf len=64K access=lw expect=ENOMEM\n", "reg_mr") ==
        Lines{"buf alive 0x0", "pd alive 0x0", "mr failed 0x0"});
}

TEST_CASE("who watches is told the key of each bind, and when it is taken back") {
  const std::string window = furnished + "a.t0 alloc_mw w pd=pd type=2\n";
  const std::string bind = "a.t0 post_send qp wr=1 bind_mw mw=w mr=mr addr=mr len=4K access=rw\n";
  CHECK(changes(window + bind + "a.t0 dealloc_mw w\n") == after_made({"w alive 0x5fe", "w alive 0x5ff", "w gone 0x5ff"}));
  CHECK(changes(window + bind, {}, 1) == after_made({"w alive 0x5fe", "w alive 0x5ff", "w alive 0x5fe"}));
}
