// Does what the writer writes read back as the same operations?
#include <catch2/catch.hpp>
#include <sstream>

#include "program/trace_reader.h"
#include "program/trace_writer.h"
#include "unit/program/trace_support.h"

using namespace mtsim;
using namespace mtsim::program;

namespace {

std::string written(const Trace& trace) {
  std::ostringstream out;
  TraceWriter writer(out, trace.names());
  for (const Meta& meta : trace.meta()) writer.meta(meta);
  for (std::uint32_t host = 0; host < trace.names().hosts().size(); ++host) writer.host(trace.names().hosts()[host], trace.cpus(host));
  // In the order of the file: request numbers of a host rise over its actors.
  struct Next {
    std::unique_ptr<Cursor> cursor;
    Op op;
    bool more;
  };
  std::vector<Next> actors;
  for (ActorId a = 0; a < trace.names().actors().size(); ++a) {
    actors.push_back({trace.cursor(a), {}, false});
    actors.back().more = actors.back().cursor->next(actors.back().op);
  }
  for (;;) {
    Next* first = nullptr;
    for (Next& n : actors)
      if (n.more && (!first || n.op.line < first->op.line)) first = &n;
    if (!first) return out.str();
    writer.write(first->op);
    first->more = first->cursor->next(first->op);
  }
}

void check_round_trip(const Trace& trace) {
  const test::TemporaryDirectory directory;
  const auto again = open_trace(directory.file("again.mtrace", written(trace)));
  REQUIRE(again->size() == trace.size());
  REQUIRE(again->meta() == trace.meta());
  for (ActorId actor = 0; actor < trace.names().actors().size(); ++actor) {
    const auto one = trace.cursor(actor), other = again->cursor(actor);
    for (Op a, b; one->next(a);) {
      REQUIRE(other->next(b));
      const std::string difference = test::difference(a, trace.names(), b, again->names());
      INFO("line " << a.line << " differs in " << difference);
      REQUIRE(difference.empty());
    }
  }
}

}  // namespace

TEST_CASE("Every operation of the grammar reads back the same") {
  const test::TemporaryDirectory directory;
  const auto trace = open_trace(directory.file("all.mtrace", test::whole_grammar()));
  check_round_trip(*trace);
  const std::string once = written(*trace);
  CHECK(written(*open_trace(directory.file("once.mtrace", once))) == once);
}

TEST_CASE("Every line of the recorded traces reads back the same") {
  for (const std::string& path : test::recorded_traces()) {
    INFO(path);
    check_round_trip(*open_trace(path));
  }
}

TEST_CASE("The text is canonical") {
  const test::TemporaryDirectory directory;
  const auto text = [&](const std::string& lines) {
    const std::string all = written(*open_trace(directory.file("t.mtrace", "mtrace 1\n" + lines)));
    return all.substr(all.rfind("a.t0"));
  };
  const std::string before =
      "a.t0 mmap buf len=65536\na.t0 alloc_pd pd\na.t0 create_cq cq\na.t0 reg_mr mr pd=pd addr=buf len=64K access=lw\n"
      "a.t0 create_qp qp scq=cq type=rc rcq=cq pd=pd\n";
  CHECK(text("a.t0\tmmap  buf page=4K len=0x10000 # a comment\n") == "a.t0 mmap buf len=64K\n");
  CHECK(text("a.t0 mmap buf len=1536MiB prot=rw at=1025\n") == "a.t0 mmap buf len=1536M at=1025\n");
  CHECK(text(before + "a.t0 post_send qp wr=1 to=a.mr-4096 write flags=more,signaled sge=a.mr+0:64\n") ==
        "a.t0 post_send qp wr=1 write sge=mr:64 to=mr-4K flags=signaled,more\n");
  CHECK(text(before + "a.t0 create_qp q2 mtu=5 sq=128 sig_all=0 retry=3 pd=pd type=uc scq=cq rcq=cq\n") ==
        "a.t0 create_qp q2 pd=pd type=uc scq=cq rcq=cq retry=3 mtu=4096\n");
  CHECK(text("a.t0 compute 7\n") == "a.t0 compute 7\n");
}
