#include "program/trace_grammar.h"

#include <array>
#include <utility>

namespace mtsim::program {
namespace {

using enum Key;
using Subject::child, Subject::flag, Subject::makes, Subject::none, Subject::span, Subject::uses;

constexpr Keys ok = keys(expect);

constexpr Shape shape_of(Kind kind) {
  switch (kind) {
    case Kind::mmap:
      return {makes, Wanted::buffer, keys(len), ok | keys(page, prot, share, backing, populate, align, at),
              "mmap BUF len=N [page=4K|2M|1G|thp] [prot=rw|r|none] [share=private|shared] [backing=anon|file|io] [populate=0|1] [align=N] "
              "[at=K]"};
    case Kind::munmap:
      return {uses, Wanted::buffer, 0, ok | keys(off, len), "munmap BUF [off=N len=N]"};
    case Kind::mprotect:
      return {uses, Wanted::buffer, keys(prot), ok | keys(off, len), "mprotect BUF prot=rw|r|none [off=N len=N]"};
    case Kind::touch:
      return {uses, Wanted::buffer, 0, ok | keys(off, len, write), "touch BUF [off=N] [len=N] [write=0|1]"};
    case Kind::copy:
      return {uses, Wanted::buffer, keys(to, len), ok, "copy BUF to=BUF len=N"};
    case Kind::migrate:
      return {uses, Wanted::buffer, 0, ok | keys(off, len), "migrate BUF [off=N len=N]"};
    case Kind::swapout:
      return {uses, Wanted::buffer, 0, ok | keys(off, len), "swapout BUF [off=N len=N]"};
    case Kind::memlock:
      return {none, {}, keys(limit), ok, "memlock limit=N"};
    case Kind::cap_ipc_lock:
      return {flag, {}, 0, ok, "cap_ipc_lock 0|1"};
    case Kind::fork:
      return {child, {}, 0, ok, "fork CHILD"};
    case Kind::fork_init:
      return {none, {}, 0, ok | keys(safe), "fork_init [safe=0|1]"};
    case Kind::madvise:
      return {uses, Wanted::buffer, keys(advice), ok | keys(off, len),
              "madvise BUF advice=dontfork|dofork|dontneed|hugepage [off=N len=N]"};
    case Kind::alloc_pd:
      return {makes, Wanted::pd, 0, ok | keys(dev), "alloc_pd PD [dev=NIC]"};
    case Kind::dealloc_pd:
      return {uses, Wanted::pd, 0, ok, "dealloc_pd PD"};
    case Kind::reg_mr:
      return {makes, Wanted::region, keys(pd, addr, len, access), ok | keys(iova), "reg_mr MR pd=PD addr=ADDR len=N access=FLAGS [iova=N]"};
    case Kind::rereg_mr:
      return {uses, Wanted::region, 0, ok | keys(addr, len, pd, access), "rereg_mr MR [trans addr=ADDR len=N] [pd=PD] [access=FLAGS]"};
    case Kind::dereg_mr:
      return {uses, Wanted::region, 0, ok, "dereg_mr MR"};
    case Kind::advise_mr:
      return {Subject::advice,
              {},
              keys(pd, sge),
              ok | keys(flush),
              "advise_mr prefetch|prefetch_write|prefetch_no_fault pd=PD sge=SGE,... [flush=0|1]"};
    case Kind::dma:
      return {uses, Wanted::region, keys(type, len, n), ok | keys(depth, window, seed, cache, by),
              "dma MR type=read|write|write_read len=N n=N [depth=N] [window=N] [seed=N] [cache=as_is|warm|cold] [by=engine|core]"};
    case Kind::alloc_mr:
      return {makes, Wanted::region, keys(pd, max), ok, "alloc_mr MR pd=PD max=N"};
    case Kind::alloc_mw:
      return {makes, Wanted::window, keys(pd, type), ok, "alloc_mw MW pd=PD type=1|2"};
    case Kind::bind_mw:
      return {uses, Wanted::window, keys(qp, mr, addr, len, access), ok | keys(wr),
              "bind_mw MW qp=QP mr=MR addr=ADDR len=N access=FLAGS [wr=ID]"};
    case Kind::dealloc_mw:
      return {uses, Wanted::window, 0, ok, "dealloc_mw MW"};
    case Kind::create_cq:
      return {makes, Wanted::cq, 0, ok | keys(depth), "create_cq CQ [depth=N]"};
    case Kind::destroy_cq:
      return {uses, Wanted::cq, 0, ok, "destroy_cq CQ"};
    case Kind::create_srq:
      return {makes, Wanted::srq, keys(pd), ok | keys(depth, sge), "create_srq SRQ pd=PD [depth=N] [sge=N]"};
    case Kind::destroy_srq:
      return {uses, Wanted::srq, 0, ok, "destroy_srq SRQ"};
    case Kind::create_qp:
      return {makes, Wanted::qp, keys(pd, type, scq, rcq),
              ok | keys(srq, sq, rq, send_sge, recv_sge, inline_, access, sig_all, timeout, retry, rnr_retry, rnr_timer, rd_atomic,
                        dest_rd_atomic, mtu),
              "create_qp QP pd=PD type=rc|uc|ud scq=CQ rcq=CQ [srq=SRQ] [sq=N] [rq=N] [send_sge=N] [recv_sge=N] [inline=N] [access=FLAGS] "
              "[sig_all=0|1] [timeout=N] [retry=N] [rnr_retry=N] [rnr_timer=N] [rd_atomic=N] [dest_rd_atomic=N] [mtu=N]"};
    case Kind::connect:
      return {uses, Wanted::qp, keys(to), ok, "connect QP to=HOST.QP"};
    case Kind::modify_qp:
      return {uses, Wanted::qp, keys(state), ok, "modify_qp QP state=reset|init|rtr|rts|err"};
    case Kind::destroy_qp:
      return {uses, Wanted::qp, 0, ok, "destroy_qp QP"};
    case Kind::post_send:
      return {uses, Wanted::qp, keys(wr), ok | keys(flags), "post_send QP wr=ID OPCODE [key=value ...]"};
    case Kind::post_recv:
      return {uses, Wanted::qp, keys(wr), ok | keys(sge, flags), "post_recv QP wr=ID [sge=SGE,...] [flags=more]"};
    case Kind::post_srq:
      return {uses, Wanted::srq, keys(wr), ok | keys(sge, flags), "post_srq SRQ wr=ID [sge=SGE,...] [flags=more]"};
    case Kind::poll:
      return {uses, Wanted::cq, 0, ok | keys(n, wait, wr, idle, hazard),
              "poll CQ [n=N | wr=ID | idle=NS] [wait=spin|event] [hazard=none|stale|foreign]"};
    case Kind::barrier:
      return {Subject::barrier, {}, keys(n), 0, "barrier NAME n=N"};
    case Kind::compute:
      return {span, {}, 0, 0, "compute NS"};
    case Kind::sleep:
      return {span, {}, 0, 0, "sleep NS"};
    case Kind::query_qp:
      return {uses, Wanted::qp, keys(expect), 0, "query_qp QP expect=STATE"};
    case Kind::event:
      return {none, {}, keys(expect), 0, "event expect=EVENT"};
  }
  return {};
}

constexpr Shape shape_of(verbs::Opcode opcode) {
  using verbs::Opcode;
  switch (opcode) {
    case Opcode::send:
      return {none, {}, 0, keys(sge, ud), "post_send QP wr=ID send [sge=SGE,...] [ud=HOST.QP]"};
    case Opcode::send_imm:
      return {none, {}, keys(imm), keys(sge, ud), "post_send QP wr=ID send_imm [sge=SGE,...] imm=N [ud=HOST.QP]"};
    case Opcode::send_inv:
      return {none, {}, keys(inv), keys(sge), "post_send QP wr=ID send_inv [sge=SGE,...] inv=KEY"};
    case Opcode::write:
      return {none, {}, keys(to), keys(sge), "post_send QP wr=ID write [sge=SGE,...] to=ADDR[:KEY]"};
    case Opcode::write_imm:
      return {none, {}, keys(to, imm), keys(sge), "post_send QP wr=ID write_imm [sge=SGE,...] to=ADDR[:KEY] imm=N"};
    case Opcode::read:
      return {none, {}, keys(to), keys(sge), "post_send QP wr=ID read [sge=SGE,...] to=ADDR[:KEY]"};
    case Opcode::cas:
      return {none, {}, keys(to, cmp, swp), keys(sge), "post_send QP wr=ID cas [sge=SGE] to=ADDR[:KEY] cmp=N swp=N"};
    case Opcode::faa:
      return {none, {}, keys(to, add), keys(sge), "post_send QP wr=ID faa [sge=SGE] to=ADDR[:KEY] add=N"};
    case Opcode::bind_mw:
      return {none,
              {},
              keys(mw, mr, addr, len, access),
              keys(key),
              "post_send QP wr=ID bind_mw mw=MW mr=MR addr=ADDR len=N access=FLAGS [key=KEY]"};
    case Opcode::local_inv:
      return {none, {}, keys(inv), 0, "post_send QP wr=ID local_inv inv=KEY"};
    case Opcode::reg_mr:
      return {none, {}, keys(mr, addr, len, access), keys(key), "post_send QP wr=ID reg_mr mr=MR addr=ADDR len=N access=FLAGS [key=KEY]"};
    case Opcode::recv:
      return {};  // of completions only: no line says it
  }
  return {};
}

template <class E, std::size_t N>
constexpr std::array<Shape, N> all() {
  std::array<Shape, N> out{};
  for (std::size_t i = 0; i < N; ++i) out[i] = shape_of(static_cast<E>(i));
  return out;
}

constexpr auto kinds = all<Kind, kind_count>();
constexpr auto opcodes = all<verbs::Opcode, verbs::opcode_count>();

}  // namespace

const Shape& shape(Kind kind) { return kinds[static_cast<std::size_t>(kind)]; }
const Shape& shape(verbs::Opcode opcode) { return opcodes[static_cast<std::size_t>(opcode)]; }

}  // namespace mtsim::program
