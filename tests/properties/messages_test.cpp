// What holds of every run of programs that send, receive, write, read and change words of each other at random, over own and shared receive
// queues, on any hardware: nothing is lost, nothing comes twice, and the reports are at one with themselves.
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "results/derived.h"
#include "support/run_command.h"
#include "support/system_run.h"

using namespace mtsim;
using namespace mtsim::test;

namespace {

struct Counted {
  std::map<std::string, std::uint64_t> requests, bytes;  ///< by opcode
  std::uint64_t messages = 0, message_bytes = 0;         ///< that take receives
  std::uint64_t receives = 0;
};

struct RandomProgram {
  std::string text;
  Counted counted;
};

/// Host `a` talks to `b` and back over `qps` connections, each host with one thread. Receives come in good time or late; polls take
/// whatever comes; all requests of a QP's last batch are signalled, so that a thread knows when it is done.
RandomProgram random_program(unsigned seed) {
  std::mt19937 random(seed);
  const auto up_to = [&](unsigned n) { return static_cast<unsigned>(random() % (n + 1)); };
  RandomProgram out;
  const unsigned qps = 1 + up_to(2), requests = 20 + up_to(60);
  const bool shared[2] = {up_to(1) == 0, up_to(1) == 0};
  const unsigned mtu = 1 + up_to(4);
  out.text = "mtrace 1\n";
  unsigned numbers[2] = {0, 0};
  const auto line = [&](unsigned host, std::string rest) {
    // Requests are numbered as they are written down.
    if (const std::size_t at = rest.find('@'); at != std::string::npos) rest.replace(at, 1, std::to_string(++numbers[host]));
    out.text += std::string(host == 0 ? "a" : "b") + ".t0 " + rest + '\n';
  };
  for (unsigned h = 0; h < 2; ++h) {
    line(h, "mmap buf len=1M page=" + std::string(up_to(1) == 0 ? "4K" : "2M"));
    line(h, "alloc_pd pd");
    line(h, "create_cq sends depth=1024");
    line(h, "create_cq receives depth=1024");
    line(h, "reg_mr mr pd=pd addr=buf len=1M access=lw,rr,rw,ra");
    if (shared[h]) line(h, "create_srq srq pd=pd depth=512 sge=2");
    for (unsigned q = 0; q < qps; ++q)
      line(h, "create_qp q" + std::to_string(q) +
                  " pd=pd type=rc scq=sends rcq=receives access=rr,rw,ra sq=256 rq=256 rnr_timer=" + std::to_string(1 + up_to(10)) +
                  " rd_atomic=" + std::to_string(1 + up_to(3)) + " mtu=" + std::to_string(mtu) + (shared[h] ? " srq=srq" : ""));
  }
  std::vector<std::string> posts[2], gets[2];
  for (unsigned h = 0; h < 2; ++h) {
    const std::string peer = h == 0 ? "b" : "a";
    unsigned signaled = 0;
    for (unsigned i = 0; i < requests; ++i) {
      static const char* const opcodes[]{"send", "write", "read", "write_imm", "faa", "send", "cas", "send_imm"};
      const std::string opcode = opcodes[up_to(7)];
      const bool atomic = opcode == "faa" || opcode == "cas";
      const unsigned length = atomic ? 8 : up_to(2) == 0 ? up_to(20'000) : up_to(200);
      const unsigned qp = up_to(qps - 1);
      const bool takes = opcode.starts_with("send") || opcode == "write_imm";
      std::string request =
          "post_send q" + std::to_string(qp) + " wr=@ " + opcode + " sge=mr+" + std::to_string(up_to(4000)) + ':' + std::to_string(length);
      if (!opcode.starts_with("send")) request += " to=" + peer + ".mr+" + std::to_string(8 * up_to(50'000));
      if (opcode.ends_with("_imm")) request += " imm=5";
      if (opcode == "faa") request += " add=1";
      if (opcode == "cas") request += " cmp=0 swp=1";
      const bool last = i + qps >= requests;
      if (last || up_to(2) == 0) {
        request += " flags=signaled";
        ++signaled;
      }
      posts[h].push_back(request);
      ++out.counted.requests[opcode];
      out.counted.bytes[opcode] += length;
      if (takes) {
        ++out.counted.messages;
        out.counted.message_bytes += length;
        const std::string get = shared[1 - h] ? "post_srq srq" : "post_recv q" + std::to_string(qp);
        gets[1 - h].push_back(get + " wr=@ sge=mr+64K:8K,mr+128K:12K");
        ++out.counted.receives;
      }
    }
    posts[h].push_back("poll sends n=" + std::to_string(signaled));
  }
  // Some receives before the connection, the others among the sends or after them.
  for (unsigned h = 0; h < 2; ++h)
    if (!shared[h])
      for (unsigned q = 0; q < qps; ++q) line(h, "modify_qp q" + std::to_string(q) + " state=init");
  std::size_t ahead[2];
  for (unsigned h = 0; h < 2; ++h) {
    const auto all = static_cast<unsigned>(gets[h].size());
    ahead[h] = up_to(2) == 0 ? up_to(all) : std::min(all, up_to(2));
  }
  for (unsigned h = 0; h < 2; ++h)
    for (std::size_t i = 0; i < ahead[h]; ++i) line(h, gets[h][i]);
  for (unsigned h = 0; h < 2; ++h) line(h, "barrier ready n=2");
  for (unsigned q = 0; q < qps; ++q) line(0, "connect q" + std::to_string(q) + " to=b.q" + std::to_string(q));
  for (unsigned h = 0; h < 2; ++h) line(h, "barrier connected n=2");
  for (unsigned h = 0; h < 2; ++h) {
    // All posts but the poll at the end; the thread that polls has posted its receives by then, or both would wait for each other.
    for (std::size_t i = 0; i + 1 < posts[h].size(); ++i) {
      line(h, posts[h][i]);
      if (ahead[h] < gets[h].size() && up_to(3) == 0) line(h, gets[h][ahead[h]++]);
    }
    while (ahead[h] < gets[h].size()) {
      if (up_to(4) == 0) line(h, "sleep " + std::to_string(up_to(50'000)));
      line(h, gets[h][ahead[h]++]);
    }
    line(h, posts[h].back());
    if (!gets[h].empty()) line(h, "poll receives n=" + std::to_string(gets[h].size()));
  }
  return out;
}

std::vector<std::string> random_hardware(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::string> out;
  const auto choose = [&](const std::string& path, std::initializer_list<const char*> among) {
    out.push_back(path + '=' + *(among.begin() + random() % among.size()));
  };
  choose("network.rate", {"10Gb/s", "100Gb/s", "400Gb/s"});
  choose("network.train", {"0B", "4KiB"});
  choose("pcie.lanes", {"1", "8", "16"});
  choose("pcie.tags", {"1", "64"});
  choose("nic.walks", {"1", "32"});
  choose("nic.mtt_cache.lines", {"0", "8", "8192"});
  choose("nic.mpt_cache.lines", {"0", "8", "4096"});
  choose("nic.requester.contexts", {"1", "64"});
  choose("nic.responder.contexts", {"1", "64"});
  choose("nic.requester.prefetch", {"1", "16"});
  choose("nic.responder.receive_prefetch", {"1", "2", "16"});
  choose("nic.responder.atomic_locks", {"1", "512"});
  return out;
}

}  // namespace

TEST_CASE("Programs that exchange messages at random end, with each message in one receive and every byte counted once") {
  const TempFolder folder;
  std::uint64_t refused = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    const RandomProgram program = random_program(seed);
    const SystemRun run = run_system(random_hardware(seed), folder.write("t.mtrace", program.text));
    REQUIRE(run.stuck == std::vector<std::string>{});
    const results::Report& r = run.report;
    CHECK(r.unexpected_total == 0);
    CHECK(results::contradictions(r) == std::vector<std::string>{});
    std::uint64_t received = 0;
    for (const results::OperationStats& o : r.operations) {
      const std::string opcode(verbs::name(o.opcode));
      INFO(opcode);
      if (o.opcode == verbs::Opcode::recv) {
        received = o.completed;
        CHECK(o.completed == program.counted.receives);
        CHECK(o.bytes.raw == program.counted.message_bytes);
      } else {
        CHECK(o.completed == program.counted.requests.at(opcode));
        CHECK(o.bytes.raw == program.counted.bytes.at(opcode));
      }
    }
    CHECK(received == program.counted.messages);
    for (const results::Counter& c : r.counters) {
      if (c.name.ends_with(".nic.rnr_naks")) refused += c.value;
      // Nothing is lost, and no timer is short: what is sent again was refused.
      if (c.name.ends_with(".nic.timeouts") || c.name.ends_with(".nic.dropped_packets")) CHECK(c.value == 0);
    }
  }
  CHECK(refused > 40);
}
