#include "program/workload_script.h"

namespace mtsim::program {

Bytes Script::page_size(verbs::PageKind page) {
  switch (page) {
    case verbs::PageKind::base_4k:
      return page_bytes;
    case verbs::PageKind::huge_1g:
      return GiB(1);
    default:
      return MiB(2);
  }
}

Op& Script::add(Kind kind, NameId id) {
  Op& op = ops_.emplace_back();
  op.kind = kind;
  op.actor = actor_;
  op.id = id;
  return op;
}

void Script::map(NameId buffer, Bytes length, verbs::PageKind page) {
  Op& op = add(Kind::mmap, buffer);
  op.mmap.length = Bytes(round_up(length.raw, page_size(page).raw));
  op.mmap.page = page;
  Op& touch = add(Kind::touch, buffer);
  touch.whole = true;
  touch.flag = true;
}

void Script::munmap(NameId buffer) { add(Kind::munmap, buffer).whole = true; }

void Script::reg_mr(NameId mr, NameId pd, NameId buffer, Bytes length, verbs::Access access) {
  Op& op = add(Kind::reg_mr, mr);
  op.mr = mr;
  op.pd = pd;
  op.address = {buffer, 0};
  op.length = length.raw;
  op.access = access;
}

void Script::create_cq(NameId cq, std::uint32_t depth) {
  Op& op = add(Kind::create_cq, cq);
  op.cq = cq;
  op.depth = depth;
}

void Script::create_qp(NameId qp, NameId pd, NameId cq, const verbs::CreateQpRequest& request) {
  Op& op = add(Kind::create_qp, qp);
  op.qp = qp;
  op.pd = pd;
  op.cq = op.recv_cq = cq;
  op.create_qp = request;
}

void Script::connect(NameId qp, NameId peer) {
  Op& op = add(Kind::connect, qp);
  op.qp = qp;
  op.peer = peer;
}

void Script::barrier(std::uint32_t index, std::uint32_t n) {
  Op& op = add(Kind::barrier, 0);
  op.barrier = index;
  op.count = n;
}

}  // namespace mtsim::program
