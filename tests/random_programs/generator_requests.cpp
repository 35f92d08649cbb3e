// Requests: most of them right, the rest wrong in one way.
#include <algorithm>

#include "generator.h"

namespace mtsim::random_programs {

Operation Generator::request(const Flow& flow) {
  const Qp& from = qp(flow.from);
  const bool reliable = from.settings.type == QpType::rc, wrong = dice_.chance(reliable ? 4 : 9), wrong_place = dice_.chance(4);
  const unsigned windows = !options_.windows || !reliable ? 0
                           : options_.on_rxe              ? 12
                                                          : 8,
                 asks = reliable                   ? 18
                        : options_.uc_local_errors ? 1
                                                   : 0;
  static constexpr Opcode opcodes[] = {Opcode::send, Opcode::send_imm, Opcode::write,    Opcode::write_imm, Opcode::read,
                                       Opcode::cas,  Opcode::faa,      Opcode::send_inv, Opcode::bind_mw,   Opcode::local_inv};
  Operation o = operation(from.host, Kind::post_send, flow.from);
  o.opcode = opcodes[dice_.weighted({16, 7, 26, 10, asks, asks / 3, asks / 3, windows, windows, windows})];
  o.peer_host = qp(flow.to).host;
  o.signaled = flow.requests == 0 || dice_.chance(60);
  o.fence = dice_.chance(4);
  if (o.opcode == Opcode::bind_mw) return bind_request(flow, o);
  if (o.opcode == Opcode::local_inv) return inv_request(flow, o);

  const std::uint64_t length = is_atomic(o.opcode) ? 8 : message_length(flow, o.opcode);
  const bool asks_back = o.opcode == Opcode::read || is_atomic(o.opcode);
  const unsigned most = is_atomic(o.opcode) ? 1 : from.settings.send_sge;
  const unsigned inline_bytes = from.settings.inline_bytes;
  o.inline_data = !asks_back && inline_bytes != 0 && length <= inline_bytes && dice_.chance(50);
  // No key of inline data is looked at, nor one of no data.
  o.sges = elements(from.host, from.pd, length, most, asks_back ? lw : 0, wrong && !o.inline_data);
  if (options_.on_rxe && o.inline_data) keep_inline_data_readable(o);
  if (o.inline_data)
    for (Sge& sge : o.sges)
      if (dice_.chance(30)) spoil(sge.key);
  if (dice_.chance(1)) o.sges.resize(40, good_element(from.host, from.pd, 8, lw));
  if (!asks_back && dice_.chance(1)) {
    // Far more than was asked for: drivers grant somewhat more.
    o.inline_data = true;
    o.sges = {good_element(from.host, from.pd, 4000, 0)};
  }
  if (o.opcode == Opcode::send_inv) return inv_request(flow, o);
  if (!is_send(o.opcode)) aim(o, flow, length, wrong_place);
  return o;
}

/// SENDs mostly fit the receive that they meet.
std::uint64_t Generator::message_length(const Flow& flow, Opcode opcode) {
  const Qp& to = qp(flow.to);
  if (dice_.chance(8)) return 0;
  if (is_send(opcode)) {
    const auto& receives = to.settings.srq == nobody ? to.receives : World::at(oracle_.world().srqs, to.settings.srq).receives;
    if (receives.empty() && dice_.chance(90)) return 0;
    const std::uint64_t room = receives.empty() ? 64 : receives.front().room();
    if (dice_.chance(3)) return room + dice_.from_to(1, 3000);
    return room == 0 ? 0 : dice_.chance(20) ? room : dice_.from_to(1, room);
  }
  const std::uint64_t mtu = to.settings.mtu;
  if (options_.on_rxe && dice_.chance(2)) return dice_.from_to(1, std::min<std::uint64_t>(64 * 1024, 100 * mtu));
  switch (dice_.below(5)) {
    case 0:
      return dice_.from_to(1, 64);
    case 1:
      return mtu * dice_.from_to(1, 3) + dice_.below(3) - 1;
    case 2:
      return dice_.from_to(1, 16 * 1024);
    default:
      return dice_.from_to(1, 2 * mtu);
  }
}

/// An SGE list of `length` bytes, perhaps with empty elements; `wrong`: one of its elements is.
std::vector<Sge> Generator::elements(int h, Id pd, std::uint64_t length, unsigned most, Rights needed, bool wrong) {
  std::vector<Sge> list;
  const std::uint64_t count = length == 0 ? 0 : std::min<std::uint64_t>(length, dice_.from_to(1, most));
  std::vector<std::uint64_t> cuts{0, length};
  for (std::uint64_t i = 1; i < count; ++i) cuts.push_back(dice_.from_to(1, length - 1));
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  const std::uint64_t bad = wrong && count != 0 ? 1 + dice_.below(cuts.size() - 1) : 0;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    const auto part = static_cast<std::uint32_t>(cuts[i] - cuts[i - 1]);
    list.push_back(i == bad ? bad_element(h, pd, part, needed) : good_element(h, pd, part, needed));
  }
  while (list.size() < most && dice_.chance(length == 0 ? 30 : 8)) {
    const Sge empty = dice_.chance(50) ? bad_element(h, pd, 0, needed) : good_element(h, pd, 0, needed);
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(dice_.below(list.size() + 1)), empty);
  }
  return list;
}

Operation Generator::empty_write(const Flow& flow, Operation o) {
  o.opcode = Opcode::write;
  aim(o, flow, 0, false);
  return o;
}

/// Window operations of the requester's own host.
Operation Generator::bind_request(const Flow& flow, Operation o) {
  const Qp& from = qp(flow.from);
  const int h = from.host;
  std::vector<Id> fit;
  for (const Id id : host(h).windows)
    if (window(id).type == 2 && window(id).pd == from.pd && !window(id).bound) fit.push_back(id);
  if (fit.empty() || dice_.chance(5)) fit = host(h).windows;
  if (fit.empty()) return empty_write(flow, o);
  o.mw = dice_.pick(fit);
  static const std::vector<Rights> some{rr, rw, rr | rw, ra, rr | rw | ra};
  o.access = dice_.pick(some) | (dice_.chance(15) ? zero_based : 0);
  o.mr = dice_.chance(93) ? mr_with(h, from.pd, mw_bind | lw, 1) : dice_.pick(host(h).mrs);
  const std::uint64_t size = mr(o.mr).length, from_byte = dice_.below(size);
  o.address = {Address::Of::mr, o.mr, static_cast<std::int64_t>(from_byte)};
  o.length = dice_.chance(3) ? 0 : dice_.from_to(1, size - from_byte);
  if (dice_.chance(4)) o.length += size;
  return o;
}

/// The key that LOCAL_INV or SEND_WITH_INV ends: of the host where the window is.
Operation Generator::inv_request(const Flow& flow, Operation o) {
  const Id at = o.opcode == Opcode::local_inv ? flow.from : flow.to;
  const Host& there = host(qp(at).host);
  std::vector<Id> fit;
  for (const Id id : there.windows)
    if (window(id).type == 2 && window(id).bound && window(id).qp == at) fit.push_back(id);
  if (!fit.empty() && dice_.chance(90)) {
    o.inv = {KeyRef::Of::mw, dice_.pick(fit)};
  } else if (fit.empty() && dice_.chance(90)) {
    // Nothing to invalidate: rather something else.
    if (o.opcode == Opcode::local_inv) return empty_write(flow, o);
    o.opcode = Opcode::send;
    return o;
  } else if (!there.windows.empty() && dice_.chance(50)) {
    o.inv = {KeyRef::Of::mw, dice_.pick(there.windows)};
  } else if (!there.gone_windows.empty() && dice_.chance(50)) {
    o.inv = {KeyRef::Of::mw, dice_.pick(there.gone_windows)};
  } else {
    o.inv = key_of(dice_.pick(there.mrs));
  }
  if (dice_.chance(5)) spoil(o.inv);
  return o;
}

}  // namespace mtsim::random_programs
