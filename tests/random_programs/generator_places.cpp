// Addresses and keys, right and wrong, local and remote.
//
// Keys stand for objects; whether they are valid depends on no value: the key of an object, or of one that is gone; bits of the low byte
// turned over, which no driver of cyclic keys gives to anybody else; an index that is too high; 0. Addresses are relative to objects, and
// where an address goes with the key of another object it stays within its buffer, so that nothing depends on where buffers lie.
#include <algorithm>

#include "generator.h"

namespace mtsim::random_programs {

namespace {

constexpr std::uint32_t no_such_index = 0x4000'0000;

Address in(Id mr, std::uint64_t offset) { return {Address::Of::mr, mr, static_cast<std::int64_t>(offset)}; }

}  // namespace

KeyRef Generator::key_of(Id id) {
  KeyRef key{KeyRef::Of::mr, id};
  return key;
}

/// Makes it one of nobody.
void Generator::spoil(KeyRef& key) {
  if (dice_.chance(15)) key = KeyRef{};
  else key.flip = dice_.chance(60) ? static_cast<std::uint32_t>(dice_.from_to(1, 255)) : no_such_index;
}

/// One that fits; the PD's anchor if nothing else is found.
Id Generator::mr_with(int h, Id pd, Rights rights, std::uint64_t length) {
  const Host& self = host(h);
  for (int tries = 0; tries < 6; ++tries) {
    const Id id = dice_.pick(self.mrs);
    if (mr(id).pd == pd && (mr(id).rights & rights) == rights && mr(id).length >= length) return id;
  }
  return self.anchors.at(pd).front();
}

Id Generator::mr_of_other_pd(int h, Id pd) {
  for (const auto& [other, stay] : host(h).anchors)
    if (other != pd) return stay.front();
  return nobody;
}

Sge Generator::good_element(int h, Id pd, std::uint32_t length, Rights needed) {
  const Id id = mr_with(h, pd, needed, length);
  return {in(id, dice_.below(mr(id).length - length + 1)), length, key_of(id)};
}

Sge Generator::bad_element(int h, Id pd, std::uint32_t length, Rights needed) {
  Sge sge = good_element(h, pd, length, needed);
  const Id id = sge.key.id;
  const std::uint64_t size = mr(id).length;
  const Host& self = host(h);
  switch (dice_.below(9)) {
    case 0:
    case 1:
      spoil(sge.key);
      break;
    case 2:
      if (!self.gone_mrs.empty()) sge.key = key_of(dice_.pick(self.gone_mrs)), sge.address = in(sge.key.id, 0);
      break;
    case 3:
      sge.key = key_of(mr_of_other_pd(h, pd));
      sge.address = in(sge.key.id, 0);
      break;
    case 4:
      sge.address = in(id, size - length + dice_.from_to(1, 9));
      break;
    case 5:
      sge.address.offset = -static_cast<std::int64_t>(dice_.from_to(1, 9));
      break;
    case 6:
      sge.address.offset = dice_.chance(50) ? std::int64_t{1} << 30 : -(std::int64_t{1} << 24);
      break;
    case 7:
      if (needed != 0) sge.key = key_of(self.anchors.at(pd).back()), sge.address = in(sge.key.id, 0);
      else sge.address = {};
      break;
    default:
      // The address of one, the key of another.
      sge.address = {Address::Of::buf, dice_.pick(self.buffers), static_cast<std::int64_t>(dice_.below(64 * 1024))};
  }
  return sge;
}

/// Where a WRITE, READ or atomic goes.
void Generator::aim(Operation& o, const Flow& flow, std::uint64_t length, bool wrong) {
  const Qp& to = qp(flow.to);
  const Rights right = o.opcode == Opcode::read ? rr : is_write(o.opcode) ? rw : ra;
  if (options_.windows && dice_.chance(30) && aim_at_window(o, flow, length)) {
    if (wrong) spoil(o.to_key);
    return;
  }
  const Id id = mr_with(to.host, to.pd, right, length);
  std::uint64_t offset = dice_.below(mr(id).length - length + 1);
  if (is_atomic(o.opcode)) {
    // Aligned as operations see it.
    const std::uint64_t first = (8 - mr(id).start % 8) % 8;
    offset = first + offset / 8 * 8;
    if (offset + 8 > mr(id).length) offset = first;
    if (dice_.chance(4)) offset += 1 + dice_.below(7);
  }
  o.to = in(id, offset);
  o.to_key = key_of(id);
  if (dice_.chance(10)) o.to_key.which = dice_.chance(50) ? KeyRef::Which::lkey : KeyRef::Which::rkey;
  if (wrong || (length == 0 && dice_.chance(50))) aim_wrong(o, flow, length);
}

bool Generator::aim_at_window(Operation& o, const Flow& flow, std::uint64_t length) {
  const Qp& to = qp(flow.to);
  std::vector<Id> fit;
  for (const Id id : host(to.host).windows)
    if (window(id).bound && !window(id).spoilt &&
        ((window(id).pd == to.pd && (window(id).type == 1 || window(id).qp == flow.to)) || dice_.chance(4)))
      fit.push_back(id);
  if (fit.empty()) return false;
  const Id id = dice_.pick(fit);
  const Window& w = window(id);
  std::uint64_t offset = w.length > length ? dice_.below(w.length - length + 1) : 0;
  // Beyond its end, at its very first or last byte.
  if (dice_.chance(6)) offset += w.length;
  if (is_atomic(o.opcode)) offset = (8 - w.start % 8) % 8 + offset / 8 * 8;
  o.to = {Address::Of::mw, id, static_cast<std::int64_t>(offset)};
  o.to_key = {KeyRef::Of::mw, id};
  return true;
}

void Generator::aim_wrong(Operation& o, const Flow& flow, std::uint64_t length) {
  const Qp& to = qp(flow.to);
  const Host& there = host(to.host);
  const Id id = o.to_key.id;
  switch (dice_.below(10)) {
    case 0:
    case 1:
      return spoil(o.to_key);
    case 2:
      if (!there.gone_mrs.empty()) o.to_key = key_of(dice_.pick(there.gone_mrs)), o.to = in(o.to_key.id, 0);
      return;
    case 3:
      o.to_key = key_of(mr_of_other_pd(to.host, to.pd));
      o.to = in(o.to_key.id, 0);
      return;
    case 4:
      o.to.offset = static_cast<std::int64_t>(mr(id).length - length + dice_.from_to(1, 9));
      return;
    case 5:
      o.to.offset = -static_cast<std::int64_t>(dice_.from_to(1, 9));
      return;
    case 6:
      o.to = dice_.chance(50) ? Address{} : in(id, std::uint64_t{1} << 40);
      return;
    case 7:
      // Memory without remote rights, by the only key that it has.
      o.to_key = key_of(there.anchors.at(to.pd).back());
      o.to_key.which = KeyRef::Which::lkey;
      o.to = in(o.to_key.id, 0);
      return;
    case 8:
      if (!there.gone_windows.empty()) o.to_key = {KeyRef::Of::mw, dice_.pick(there.gone_windows)};
      return;
    default:
      o.to = {Address::Of::buf, dice_.pick(there.buffers), static_cast<std::int64_t>(dice_.below(64 * 1024))};
      if (is_atomic(o.opcode)) o.to.offset = o.to.offset / 8 * 8;
  }
}

}  // namespace mtsim::random_programs
