#include "program/workload_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/sections.h"

namespace mtsim::program {

namespace {

const Sections::Entrant<Shape> declared;

bool is_host_name(const std::string& name) {
  const auto letter = [](char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)); };
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || std::isdigit(static_cast<unsigned char>(c)); });
}

}  // namespace

void Shape::declare(Declaration<Shape>& d) {
  using verbs::Opcode;
  using verbs::PageKind;
  using verbs::Wait;
  d.section("workload", "A generated program: clients that read or write the memory of one server. `kind` chooses how.");
  const char* const free_choice = "a choice, not a property of hardware";
  d.field("clients", &Shape::clients).standard("1").range("1", "4096").means("Client hosts.").source(free_choice);
  d.field("threads", &Shape::threads).standard("1").range("1", "1024").means("Threads of each client, each with a CQ.").source(free_choice);
  d.field("qps", &Shape::qps)
      .standard("1")
      .range("1", "65536")
      .means("QPs of each thread, all connected to the server and used in turn.")
      .source(free_choice);
  d.field("window", &Shape::window)
      .standard("16")
      .range("1", "32768")
      .means("Requests outstanding on each QP at most; the depth of its send queue.")
      .source("16 in the published many-thread measurements (N1)");
  d.field("signal_every", &Shape::signal_every)
      .standard("1")
      .range("1", "32768")
      .means("One request in so many asks for a completion, and so does the last of each QP. No more than the window.")
      .source(free_choice);
  d.choice("opcode", &Shape::opcode, {{"write", Opcode::write}, {"read", Opcode::read}})
      .standard("write")
      .means("What a request does, seen from the client.")
      .source(free_choice);
  d.field("block", &Shape::block).standard("4KiB").range("1B", "1GiB").means("Bytes of each request.").source("4 KB blocks (R6)");
  d.field("operations", &Shape::operations)
      .standard("10000")
      .range("1", "1000000000000")
      .means("Requests of each thread, over all its QPs.")
      .source(free_choice);
  d.choice("page", &Shape::page, {{"4K", PageKind::base_4k}, {"2M", PageKind::huge_2m}, {"1G", PageKind::huge_1g}, {"thp", PageKind::thp}})
      .standard("4K")
      .means("Pages that back the memory at both ends; thp are transparent huge pages.")
      .source("the default of mmap");
  d.field("inline", &Shape::inline_limit)
      .standard("0B")
      .range("0B", "1KiB")
      .means("Writes of at most so many bytes carry their data in the request.")
      .source(free_choice);
  d.field("compute", &Shape::compute)
      .standard("0ns")
      .range("0ns", "1s")
      .means("CPU time that the program itself spends on each block before it sends it; whole nanoseconds.")
      .source(free_choice);
  d.field("mtu", &Shape::mtu).standard("0B").range("0B", "4KiB").means("Path MTU; 0 is that of the link.").source("the link's");
  d.choice("wait", &Shape::wait, {{"spin", Wait::spin}, {"event", Wait::event}})
      .standard("spin")
      .means("How a thread waits for completions: polling, or asleep until an event.")
      .source("perftest's default");
  d.field("clean_up", &Shape::clean_up)
      .standard("true")
      .means("Whether objects are destroyed and memory is unmapped at the end, outside the measured time.")
      .source(free_choice);
  d.field("client", &Shape::client).standard("client").means("Clients are called this, with a number from 0.").source(free_choice);
  d.field("server", &Shape::server).standard("server").means("Name of the server's host.").source(free_choice);
}

std::vector<Complaint> check(const Shape& s) {
  std::vector<Complaint> out;
  if (s.signal_every > s.window)
    out.push_back({"signal_every", fmt::format("{} is above the window of {}: no request of a full window would complete visibly",
                                               s.signal_every, s.window)});
  if (s.compute % ns(1) != Time(0)) out.push_back({"compute", "must be whole nanoseconds, as a trace says them"});
  constexpr std::array<std::uint64_t, 6> mtus{0, 256, 512, 1024, 2048, 4096};
  if (std::find(mtus.begin(), mtus.end(), s.mtu.raw) == mtus.end())
    out.push_back({"mtu", fmt::format("{} bytes is no path MTU; allowed: 0B, 256B, 512B, 1KiB, 2KiB, 4KiB", s.mtu.raw)});
  for (const auto& [key, name] : {std::pair{"client", &s.client}, std::pair{"server", &s.server}})
    if (!is_host_name(*name)) out.push_back({key, fmt::format("'{}' is no name of a host: letters, digits and _, no digit first", *name)});
  for (std::uint32_t c = 0; c < s.clients; ++c)
    if (s.client + std::to_string(c) == s.server) out.push_back({"server", fmt::format("'{}' is the name of a client too", s.server)});
  return out;
}

}  // namespace mtsim::program
