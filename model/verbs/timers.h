// The times that codes of queue pair attributes stand for (InfiniBand Architecture Specification 1, 9.7.5.2.8, 9.7.6.1.3; the same
// numbers as ibv_modify_qp takes). Pure functions.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"

namespace mtsim::verbs {

/// Local acknowledgement timeout: 4.096 us * 2^code; 0: never.
constexpr Time ack_timeout(std::uint8_t code) { return code == 0 ? Time() : Time(std::int64_t{4'096'000} << (code & 31)); }

/// How long a sender waits after an RNR NAK with this code.
constexpr Time rnr_delay(std::uint8_t code) {
  constexpr std::array<std::uint32_t, 32> microseconds{
      655'360, 10,    20,    30,    40,     60,     80,     120,    160,    240,    320,    480,     640,     960,     1'280,   1'920,
      2'560,   3'840, 5'120, 7'680, 10'240, 15'360, 20'480, 30'720, 40'960, 61'440, 81'920, 122'880, 163'840, 245'760, 327'680, 491'520};
  return us(microseconds[code & 31]);
}

}  // namespace mtsim::verbs
