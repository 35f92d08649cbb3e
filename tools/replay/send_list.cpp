#include "send_list.h"

#include <arpa/inet.h>

#include "arena.h"
#include "words.h"

namespace mtsim::replay {
namespace {

unsigned flags_of(verbs::Send flags) {
  using verbs::Send;
  unsigned out = 0;
  if (verbs::has(flags, Send::signaled)) out |= IBV_SEND_SIGNALED;
  if (verbs::has(flags, Send::inline_data)) out |= IBV_SEND_INLINE;
  if (verbs::has(flags, Send::fence)) out |= IBV_SEND_FENCE;
  if (verbs::has(flags, Send::solicited)) out |= IBV_SEND_SOLICITED;
  return out;
}

}  // namespace

SendList::SendList(std::span<const verbs::SendRequest> requests, const std::map<std::uint32_t, ibv_mr>& by_lkey, ibv_pd* pd)
    : requests_(requests.size()) {
  std::size_t count = 0;
  for (const verbs::SendRequest& request : requests) count += request.sges.size();
  sges_.reserve(count);  // requests point into it
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const verbs::SendRequest& from = requests[i];
    ibv_send_wr& to = requests_[i];
    to.wr_id = from.wr;
    to.next = i + 1 < requests.size() ? &requests_[i + 1] : nullptr;
    to.sg_list = sges_.data() + sges_.size();
    to.num_sge = static_cast<int>(from.sges.size());
    for (const verbs::Sge& sge : from.sges) sges_.push_back({sge.address, sge.length, sge.lkey.raw});
    to.opcode = to_ibv(from.opcode);
    to.send_flags = flags_of(from.flags);
    switch (from.opcode) {
      case verbs::Opcode::send_imm:
        to.imm_data = htonl(from.immediate);
        break;
      case verbs::Opcode::send_inv:
      case verbs::Opcode::local_inv:
        to.invalidate_rkey = from.rkey.raw;
        break;
      case verbs::Opcode::write_imm:
        to.imm_data = htonl(from.immediate);
        [[fallthrough]];
      case verbs::Opcode::write:
      case verbs::Opcode::read:
        to.wr.rdma = {from.remote_address, from.rkey.raw};
        break;
      case verbs::Opcode::cas:
        to.wr.atomic = {from.remote_address, from.compare, from.swap_or_add, from.rkey.raw};
        break;
      case verbs::Opcode::faa:
        to.wr.atomic = {from.remote_address, from.swap_or_add, 0, from.rkey.raw};
        break;
      case verbs::Opcode::bind_mw:
        add_bind(to, *from.bind, by_lkey, pd);
        break;
      default:
        break;
    }
  }
}

void SendList::add_bind(ibv_send_wr& out, const verbs::Bind& bind, const std::map<std::uint32_t, ibv_mr>& by_lkey, ibv_pd* pd) {
  ibv_mw& window = windows_.emplace_back();
  window.context = pd->context;
  window.pd = pd;
  window.rkey = bind.window.raw;
  window.type = IBV_MW_TYPE_2;
  ibv_mr* region = nullptr;
  if (bind.region.raw != 0) {
    const auto known = by_lkey.find(bind.region.raw);
    region = &regions_.emplace_back();
    if (known != by_lkey.end()) *region = known->second;
    else *region = {pd->context, pd, nullptr, 0, 0, bind.region.raw, 0};
  }
  out.bind_mw.mw = &window;
  out.bind_mw.rkey = bind.new_key.raw;
  // Rights that libibverbs has no name for cannot be asked for.
  out.bind_mw.bind_info = {region, bind.address.raw, bind.length.raw, to_ibv(bind.access).value_or(0)};
}

std::size_t SendList::accepted(const ibv_send_wr* refused) const {
  for (std::size_t i = 0; i < requests_.size(); ++i)
    if (&requests_[i] == refused) return i;
  return refused == nullptr ? 0 : requests_.size();
}

bool SendList::is_readable() const {
  for (const ibv_send_wr& request : requests_) {
    if ((request.send_flags & IBV_SEND_INLINE) == 0) continue;
    for (int i = 0; i < request.num_sge; ++i)
      if (const ibv_sge& sge = request.sg_list[i]; !replay::is_readable(sge.addr, sge.length)) return false;
  }
  return true;
}

}  // namespace mtsim::replay
