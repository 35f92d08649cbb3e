#include "writer.h"

#include <sstream>

namespace mtsim::random_programs {

namespace {

char host_name(int host) { return static_cast<char>('a' + host); }

/// Names of other hosts' objects need the host before them: it is known of an address or key by the place where it stands.
struct Line {
  std::ostringstream out;

  std::string name(const char* kind, Id id) const { return kind + std::to_string(id); }
  void pair(const char* key, const std::string& value) { out << ' ' << key << '=' << value; }
  void pair(const char* key, std::uint64_t value) { out << ' ' << key << '=' << value; }
};

std::string hex(std::uint64_t number) {
  std::ostringstream out;
  out << "0x" << std::hex << number;
  return out.str();
}

std::string text(const Address& a, const std::string& host) {
  const auto offset = static_cast<std::uint64_t>(a.offset);
  if (a.of == Address::Of::raw) return hex(offset);
  const char* kind = a.of == Address::Of::buf ? "buf" : a.of == Address::Of::mr ? "mr" : "mw";
  std::string out = host + kind + std::to_string(a.id);
  if (a.offset > 0) out += "+" + std::to_string(a.offset);
  if (a.offset < 0) out += "-" + std::to_string(0 - offset);
  return out;
}

std::string text(const KeyRef& k, const std::string& host) {
  if (k.of == KeyRef::Of::raw) return hex(k.raw);
  std::string out = host + (k.of == KeyRef::Of::mr ? "mr" : "mw") + std::to_string(k.id);
  if (k.of == KeyRef::Of::mr && k.which == KeyRef::Which::lkey) out += ".lkey";
  if (k.of == KeyRef::Of::mr && k.which == KeyRef::Which::rkey) out += ".rkey";
  if (k.flip != 0) out += "^" + hex(k.flip);
  return out;
}

std::string rights(Rights access) {
  static constexpr std::pair<Rights, const char*> words[] = {{lw, "lw"}, {rr, "rr"},      {rw, "rw"},
                                                             {ra, "ra"}, {mw_bind, "mw"}, {zero_based, "zb"}};
  std::string out;
  for (const auto& [right, word] : words)
    if ((access & right) != 0) out += (out.empty() ? "" : ",") + std::string(word);
  return out.empty() ? "0" : out;
}

std::string sges(const std::vector<Sge>& list) {
  std::string out;
  for (const Sge& sge : list)
    out += (out.empty() ? "" : ",") + text(sge.address, "") + ":" + std::to_string(sge.length) + ":" + text(sge.key, "");
  return out;
}

const char* word(Kind kind) {
  static constexpr const char* words[] = {"mmap",    "alloc_pd",   "dealloc_pd", "reg_mr",     "rereg_mr",   "dereg_mr",    "alloc_mw",
                                          "bind_mw", "dealloc_mw", "create_cq",  "destroy_cq", "create_srq", "destroy_srq", "create_qp",
                                          "connect", "modify_qp",  "destroy_qp", "post_send",  "post_recv",  "post_srq",    "poll",
                                          "poll",    "barrier",    "sleep",      "query_qp",   "event"};
  return words[static_cast<int>(kind)];
}

const char* subject(Kind kind) {
  switch (kind) {
    case Kind::mmap:
      return "buf";
    case Kind::alloc_pd:
    case Kind::dealloc_pd:
      return "pd";
    case Kind::reg_mr:
    case Kind::rereg_mr:
    case Kind::dereg_mr:
      return "mr";
    case Kind::alloc_mw:
    case Kind::dealloc_mw:
    case Kind::bind_mw:
      return "mw";
    case Kind::create_cq:
    case Kind::destroy_cq:
    case Kind::poll:
    case Kind::poll_idle:
      return "cq";
    case Kind::create_srq:
    case Kind::destroy_srq:
    case Kind::post_srq:
      return "srq";
    default:
      return "qp";
  }
}

const char* word(Opcode opcode) {
  static constexpr const char* words[] = {"send", "send_imm", "send_inv", "write",   "write_imm",
                                          "read", "cas",      "faa",      "bind_mw", "local_inv"};
  return words[static_cast<int>(opcode)];
}

const char* word(QpState state) {
  static constexpr const char* words[] = {"reset", "init", "rts", "sqe", "err"};
  return words[static_cast<int>(state)];
}

void write_qp(Line& line, const Operation& o) {
  const QpSettings& s = o.settings;
  line.pair("pd", line.name("pd", o.pd));
  line.pair("type", s.type == QpType::rc ? "rc" : "uc");
  line.pair("scq", line.name("cq", s.send_cq));
  line.pair("rcq", line.name("cq", s.recv_cq));
  if (s.srq != nobody) line.pair("srq", line.name("srq", s.srq));
  line.pair("sq", s.sq);
  line.pair("rq", s.rq);
  line.pair("send_sge", s.send_sge);
  line.pair("recv_sge", s.recv_sge);
  line.pair("inline", s.inline_bytes);
  line.pair("access", rights(s.access));
  if (s.signal_all) line.pair("sig_all", 1);
  line.pair("timeout", s.timeout);
  line.pair("retry", s.retry);
  line.pair("rnr_retry", s.rnr_retry);
  line.pair("rnr_timer", s.rnr_timer);
  line.pair("rd_atomic", s.rd_atomic);
  line.pair("dest_rd_atomic", s.dest_rd_atomic);
  line.pair("mtu", s.mtu);
}

/// `mw= mr= addr= len= access=`
void write_bind(Line& line, const Operation& o) {
  line.pair("mr", line.name("mr", o.mr));
  line.pair("addr", text(o.address, ""));
  line.pair("len", o.length);
  line.pair("access", rights(o.access));
}

void write_send(Line& line, const Operation& o) {
  const std::string there = o.peer_host == nobody ? "" : std::string(1, host_name(o.peer_host)) + ".";
  line.out << ' ' << word(o.opcode);
  if (o.opcode == Opcode::bind_mw) {
    line.pair("mw", line.name("mw", o.mw));
    write_bind(line, o);
  } else if (o.opcode == Opcode::local_inv) {
    line.pair("inv", text(o.inv, ""));
  } else {
    if (!o.sges.empty()) line.pair("sge", sges(o.sges));
    if (!is_send(o.opcode)) line.pair("to", text(o.to, there) + ":" + text(o.to_key, there));
    if (o.opcode == Opcode::send_imm || o.opcode == Opcode::write_imm) line.pair("imm", o.wr & 0xffff);
    if (o.opcode == Opcode::send_inv) line.pair("inv", text(o.inv, there));
    if (o.opcode == Opcode::cas) line.out << " cmp=0 swp=" << o.wr;
    if (o.opcode == Opcode::faa) line.pair("add", 1);
  }
  std::string flags;
  const auto flag = [&](bool on, const char* name) {
    if (on) flags += (flags.empty() ? "" : ",") + std::string(name);
  };
  flag(o.signaled, "signaled");
  flag(o.inline_data, "inline");
  flag(o.fence, "fence");
  flag(o.more, "more");
  if (!flags.empty()) line.pair("flags", flags);
}

void write_rest(Line& line, const Operation& o) {
  switch (o.kind) {
    case Kind::mmap:
      line.pair("len", o.length);
      if (!o.writable) line.pair("prot", "r");
      return;
    case Kind::reg_mr:
      line.pair("pd", line.name("pd", o.pd));
      line.pair("addr", text(o.address, ""));
      line.pair("len", o.length);
      line.pair("access", rights(o.access));
      if (o.iova) line.pair("iova", hex(*o.iova));
      return;
    case Kind::rereg_mr:
      if (o.change_translation) {
        line.out << " trans";
        line.pair("addr", text(o.address, ""));
        line.pair("len", o.length);
      }
      if (o.pd != nobody) line.pair("pd", line.name("pd", o.pd));
      if (o.change_access) line.pair("access", rights(o.access));
      return;
    case Kind::alloc_mw:
      line.pair("pd", line.name("pd", o.pd));
      line.pair("type", static_cast<std::uint64_t>(o.window_type));
      return;
    case Kind::bind_mw:
      line.pair("qp", line.name("qp", o.qp));
      write_bind(line, o);
      line.pair("wr", o.wr);
      return;
    case Kind::create_cq:
      line.pair("depth", o.depth);
      return;
    case Kind::create_srq:
      line.pair("pd", line.name("pd", o.pd));
      line.pair("depth", o.depth);
      line.pair("sge", o.sges_of_srq);
      return;
    case Kind::create_qp:
      return write_qp(line, o);
    case Kind::connect:
      return line.pair("to", std::string(1, host_name(o.peer_host)) + "." + line.name("qp", o.peer));
    case Kind::modify_qp:
      return line.pair("state", word(o.state));
    case Kind::post_send:
      line.pair("wr", o.wr);
      return write_send(line, o);
    case Kind::post_recv:
    case Kind::post_srq:
      line.pair("wr", o.wr);
      if (!o.sges.empty()) line.pair("sge", sges(o.sges));
      if (o.more) line.pair("flags", "more");
      return;
    case Kind::poll:
      if (o.by_number) line.pair("wr", o.wr);
      else line.pair("n", o.count);
      return;
    case Kind::poll_idle:
      return line.pair("idle", o.time);
    default:
      return;
  }
}

}  // namespace

std::string line_of(const Operation& o) {
  Line line;
  line.out << host_name(o.host) << ".t0 " << word(o.kind);
  if (o.kind == Kind::barrier) line.out << ' ' << o.name << " n=" << o.count;
  else if (o.kind == Kind::sleep) line.out << ' ' << o.time;
  else if (o.kind != Kind::event) line.out << ' ' << subject(o.kind) << o.id;
  write_rest(line, o);
  if (!o.expect.empty()) line.pair("expect", o.expect);
  return line.out.str();
}

std::string trace_of(const Program& program) {
  std::string out = "mtrace 1\nmeta source=\"random_program\" seed=\"" + std::to_string(program.seed) + "\" rules=\"" + program.rules +
                    "\"" + (program.device.empty() ? "" : " for=\"" + program.device + "\"") + "\n";
  for (const Operation& o : program.operations) out += line_of(o) + "\n";
  return out;
}

}  // namespace mtsim::random_programs
