#include "program/trace_writer.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "program/trace_grammar.h"
#include "program/trace_words.h"

namespace mtsim::program {
namespace {

constexpr std::uint64_t unlimited = ~std::uint64_t{0};

/// The object after the name of the operation, in whichever field it was put.
NameId subject_of(const Op& op) {
  if (op.id) return op.id;
  switch (op.kind) {
    case Kind::post_send:
    case Kind::post_recv:
    case Kind::connect:
    case Kind::modify_qp:
    case Kind::query_qp:
    case Kind::destroy_qp:
      return op.qp;
    case Kind::post_srq:
    case Kind::destroy_srq:
      return op.srq;
    case Kind::poll:
    case Kind::destroy_cq:
      return op.cq;
    default:
      return 0;
  }
}

}  // namespace

TraceWriter::TraceWriter(std::ostream& out, const Names& names) : out_(out), names_(names) { out_ << "mtrace 1\n"; }

void TraceWriter::meta(const Meta& entries) {
  text("meta");
  for (const auto& [key, value] : entries) {
    assert(value.find_first_of("\"\n\r") == std::string::npos);
    fmt::format_to(std::back_inserter(line_), " {}=\"{}\"", key, value);
  }
  put_line();
}

void TraceWriter::host(std::string_view name, std::uint32_t cpus) {
  fmt::format_to(std::back_inserter(line_), "host {}", name);
  number_unless(0, "cpus", cpus);
  put_line();
}

void TraceWriter::write(const Op& op) {
  const Names::Actor& actor = names_.actors()[op.actor];
  host_ = actor.host;
  if (op.at_ns >= 0) fmt::format_to(std::back_inserter(line_), "@{} ", op.at_ns);
  fmt::format_to(std::back_inserter(line_), "{} {}", actor.name, name(op.kind));
  subject(op);
  objects(op);
  details(op);
  expectation(op);
  put_line();
}

void TraceWriter::subject(const Op& op) {
  const auto append = [&](const auto& value) { fmt::format_to(std::back_inserter(line_), " {}", value); };
  switch (shape(op.kind).subject) {
    case Subject::none:
      return;
    case Subject::makes:
    case Subject::uses:
      append(names_.object_name(subject_of(op)));
      return;
    case Subject::child:
      append(names_.child_name(op.child));
      return;
    case Subject::advice:
      append(op.word);
      return;
    case Subject::barrier:
      append(names_.barrier_name(op.barrier));
      return;
    case Subject::span:
      append(op.number);
      return;
    case Subject::flag:
      append(op.flag ? 1 : 0);
      return;
  }
}

/// Keys that name objects of the same host, where the operation has them beside its subject.
void TraceWriter::objects(const Op& op) {
  const Keys known = shape(op.kind).required | shape(op.kind).optional;
  const auto has = [&](Key key) { return (known & bit(key)) != 0; };
  if (has(Key::pd)) own("pd", op.pd);
  if (has(Key::qp)) own("qp", op.qp);
  if (has(Key::mr)) own("mr", op.mr);
}

void TraceWriter::details(const Op& op) {
  switch (op.kind) {
    case Kind::mmap:
      mapping(op.mmap);
      return;
    case Kind::mprotect:
      range(op);
      text(" prot=");
      text(op.word);
      return;
    case Kind::madvise:
      range(op);
      text(" advice=");
      text(op.word);
      return;
    case Kind::munmap:
    case Kind::migrate:
    case Kind::swapout:
      range(op);
      return;
    case Kind::touch:
      range(op);
      if (!op.flag) text(" write=0");
      return;
    case Kind::copy:
      own("to", op.peer);
      bytes("len", op.length);
      return;
    case Kind::memlock:
      if (op.number == unlimited) text(" limit=unlimited");
      else bytes("limit", op.number);
      return;
    case Kind::fork_init:
      if (!op.flag) text(" safe=0");
      return;
    case Kind::alloc_pd:
      if (!op.word.empty()) fmt::format_to(std::back_inserter(line_), " dev={}", op.word);
      return;
    case Kind::reg_mr:
    case Kind::rereg_mr:
    case Kind::bind_mw:
      registration(op);
      return;
    case Kind::advise_mr:
      sges(op);
      if (op.flag) text(" flush=1");
      return;
    case Kind::dma:
      transfers(op.dma);
      return;
    case Kind::alloc_mr:
      number("max", op.number);
      return;
    case Kind::alloc_mw:
      number("type", op.mw_type);
      return;
    case Kind::create_cq:
      number_unless(256, "depth", op.depth);
      return;
    case Kind::create_srq:
      number_unless(128, "depth", op.depth);
      number_unless(4, "sge", op.sge_limit);
      return;
    case Kind::create_qp:
      queue_pair(op);
      return;
    case Kind::connect:
      text(" to=");
      append_name(op.peer, true);
      return;
    case Kind::modify_qp:
      text(" state=");
      text(verbs::name(op.state));
      return;
    case Kind::post_send:
    case Kind::post_recv:
    case Kind::post_srq:
      request(op);
      return;
    case Kind::poll:
      poll(op);
      return;
    case Kind::barrier:
      number("n", op.count);
      return;
    default:
      return;
  }
}

void TraceWriter::transfers(const verbs::DmaRequest& dma) {
  fmt::format_to(std::back_inserter(line_), " type={}", dma_words()[static_cast<std::size_t>(dma.kind)]);
  bytes("len", dma.length.raw);
  number("n", dma.count);
  number_unless(1, "depth", dma.depth);
  if (dma.window.raw != 0) bytes("window", dma.window.raw);
  number_unless(0, "seed", dma.seed);
  if (dma.cache != verbs::DmaRequest::Cache::as_is)
    fmt::format_to(std::back_inserter(line_), " cache={}", cache_words()[static_cast<std::size_t>(dma.cache)]);
  if (dma.direct) text(" by=core");
}

void TraceWriter::mapping(const verbs::MmapRequest& map) {
  bytes("len", map.length.raw);
  if (map.page != verbs::PageKind::base_4k)
    fmt::format_to(std::back_inserter(line_), " page={}", page_words()[static_cast<std::size_t>(map.page)]);
  if (!map.writable) text(map.readable ? " prot=r" : " prot=none");
  if (map.shared) text(" share=shared");
  if (map.backing != verbs::Backing::anonymous)
    fmt::format_to(std::back_inserter(line_), " backing={}", backing_words()[static_cast<std::size_t>(map.backing)]);
  if (map.populate) text(" populate=1");
  if (map.align.raw > 0) bytes("align", map.align.raw);
  if (map.at.raw > 0) bytes("at", map.at.raw);
}

void TraceWriter::range(const Op& op) {
  if (op.offset > 0 || (!op.whole && op.kind != Kind::touch)) bytes("off", op.offset);
  if (!op.whole) bytes("len", op.length);
}

void TraceWriter::registration(const Op& op) {
  const bool translation = op.kind != Kind::rereg_mr || op.flag;
  if (op.kind == Kind::rereg_mr && op.flag) text(" trans");
  if (translation) {
    text(" addr=");
    if (op.whole) text("0 len=all");
    else {
      append_address(op.address);
      bytes("len", op.length);
    }
  }
  if (op.kind != Kind::rereg_mr || op.has_access) access(op.access);
  if (op.has_iova) fmt::format_to(std::back_inserter(line_), " iova={:#x}", op.iova);
  if (op.kind == Kind::bind_mw && op.has_wr) number("wr", op.wr);
}

void TraceWriter::queue_pair(const Op& op) {
  const verbs::CreateQpRequest& qp = op.create_qp;
  const verbs::CreateQpRequest usual;
  fmt::format_to(std::back_inserter(line_), " type={}", verbs::name(qp.type));
  own("scq", op.cq);
  own("rcq", op.recv_cq);
  if (op.srq) own("srq", op.srq);
  number_unless(usual.sq_depth, "sq", qp.sq_depth);
  number_unless(usual.rq_depth, "rq", qp.rq_depth);
  number_unless(usual.send_sge, "send_sge", qp.send_sge);
  number_unless(usual.recv_sge, "recv_sge", qp.recv_sge);
  number_unless(usual.inline_bytes, "inline", qp.inline_bytes);
  if (qp.access != verbs::Access::none) access(qp.access);
  number_unless(0, "sig_all", qp.signal_all ? 1 : 0);
  number_unless(usual.timeout, "timeout", qp.timeout);
  number_unless(usual.retry, "retry", qp.retry);
  number_unless(usual.rnr_retry, "rnr_retry", qp.rnr_retry);
  number_unless(usual.rnr_timer, "rnr_timer", qp.rnr_timer);
  number_unless(usual.rd_atomic, "rd_atomic", qp.rd_atomic);
  number_unless(usual.dest_rd_atomic, "dest_rd_atomic", qp.dest_rd_atomic);
  number_unless(0, "mtu", qp.mtu.raw);
}

void TraceWriter::request(const Op& op) {
  number("wr", op.wr);
  const bool sends = op.kind == Kind::post_send;
  const Keys known = sends ? shape(op.opcode).required | shape(op.opcode).optional : shape(op.kind).optional;
  const auto has = [&](Key key) { return (known & bit(key)) != 0; };
  if (sends) fmt::format_to(std::back_inserter(line_), " {}", verbs::name(op.opcode));
  if (has(Key::mw)) own("mw", op.mw);
  if (has(Key::mr)) {
    own("mr", op.mr);
    text(" addr=");
    append_address(op.address);
    bytes("len", op.length);
    access(op.access);
  }
  if (op.new_key.form != KeyRef::Form::omitted) {
    text(" key=");
    append_key(op.new_key);
  }
  if (!op.sges.empty()) sges(op);
  if (op.has_to) {
    text(" to=");
    append_address(op.to);
    if (op.to_key.form != KeyRef::Form::omitted) text(":");
    append_key(op.to_key);
  }
  if (op.ud) {
    text(" ud=");
    append_name(op.ud, true);
  }
  if (op.has_immediate) number("imm", op.immediate);
  if (op.inv.form != KeyRef::Form::omitted) {
    text(" inv=");
    append_key(op.inv);
  }
  if (has(Key::cmp)) number("cmp", op.compare);
  if (has(Key::swp)) number("swp", op.swap);
  if (has(Key::add)) number("add", op.add);
  flags(op);
}

void TraceWriter::poll(const Op& op) {
  if (op.idle) number("idle", op.number);
  else if (op.has_wr) number("wr", op.wr);
  else number_unless(1, "n", op.count);
  if (op.wait == verbs::Wait::event) text(" wait=event");
  if (op.hazard != Op::Hazard::unsaid)
    fmt::format_to(std::back_inserter(line_), " hazard={}", hazard_words()[static_cast<std::size_t>(op.hazard) - 1]);
}

}  // namespace mtsim::program
