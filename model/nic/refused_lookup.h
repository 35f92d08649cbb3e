// What is made of a look-up that was refused.
#pragma once

#include <cstdint>

#include "ports/translator.h"
#include "verbs/decision.h"

namespace mtsim::nic {

/// Why a look-up was refused: of this host's request or receive `wr`, or with 0 of the peer's.
inline verbs::Decision decision_on(const ports::Query& query, verbs::Opcode opcode, std::uint64_t wr) {
  verbs::Decision decision;
  decision.verdict = query.verdict;
  decision.no_translation = query.fault;
  decision.opcode = opcode;
  decision.wr = wr;
  decision.wish = query.wish;
  if (query.step.grant != nullptr && query.verdict != verbs::Verdict::no_such_key) decision.grant = *query.step.grant;
  return decision;
}

/// Of an element that was refused, the bytes of a train that the packets before the refused one carry: a packet goes if all that it needs
/// is there, whatever comes behind it. `before`: bytes of the train that earlier elements, or this one, have given.
inline std::uint64_t whole_packets(const ports::Query& query, std::uint64_t before, Bytes mtu) {
  std::uint64_t inside = 0;
  if (query.verdict == verbs::Verdict::out_of_range && query.step.grant != nullptr) {
    const verbs::Grant& grant = *query.step.grant;
    const std::uint64_t offset = query.address.raw - grant.start.raw;
    if (query.address >= grant.start && offset < grant.length.raw) inside = grant.length.raw - offset;
  }
  return round_down(before + inside, mtu.raw);
}

}  // namespace mtsim::nic
