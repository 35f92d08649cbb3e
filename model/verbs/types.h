// The vocabulary of verbs, named as the field names it. Pure data: no time, no simulator, no libibverbs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace mtsim::verbs {

/// Access flags of an MR or a QP, in the order of the trace format's two-letter names: lw rr rw ra mw zb od ht ro fg fp.
enum class Access : std::uint16_t {
  none = 0,
  local_write = 1 << 0,
  remote_read = 1 << 1,
  remote_write = 1 << 2,
  remote_atomic = 1 << 3,
  mw_bind = 1 << 4,
  zero_based = 1 << 5,
  on_demand = 1 << 6,
  huge_tlb = 1 << 7,
  relaxed_ordering = 1 << 8,
  flush_global = 1 << 9,
  flush_persistent = 1 << 10,
};
constexpr Access operator|(Access a, Access b) { return Access(std::uint16_t(a) | std::uint16_t(b)); }
constexpr Access operator&(Access a, Access b) { return Access(std::uint16_t(a) & std::uint16_t(b)); }
constexpr bool has(Access granted, Access wanted) { return (granted & wanted) == wanted; }

enum class Opcode : std::uint8_t { send, send_imm, send_inv, write, write_imm, read, cas, faa, bind_mw, local_inv, reg_mr, recv };
inline constexpr unsigned opcode_count = 12;

/// Completion statuses, as ibv_wc_status without its prefix.
enum class Status : std::uint8_t {
  SUCCESS,
  LOC_LEN_ERR,
  LOC_QP_OP_ERR,
  LOC_EEC_OP_ERR,
  LOC_PROT_ERR,
  WR_FLUSH_ERR,
  MW_BIND_ERR,
  BAD_RESP_ERR,
  LOC_ACCESS_ERR,
  REM_INV_REQ_ERR,
  REM_ACCESS_ERR,
  REM_OP_ERR,
  RETRY_EXC_ERR,
  RNR_RETRY_EXC_ERR,
  LOC_RDD_VIOL_ERR,
  REM_INV_RD_REQ_ERR,
  REM_ABORT_ERR,
  INV_EECN_ERR,
  INV_EEC_STATE_ERR,
  FATAL_ERR,
  RESP_TIMEOUT_ERR,
  GENERAL_ERR,
};
inline constexpr unsigned status_count = 22;

enum class QpType : std::uint8_t { rc, uc, ud };
enum class QpState : std::uint8_t { reset, init, rtr, rts, sqd, sqe, err };

/// Flags of a work request.
enum class Send : std::uint8_t { none = 0, signaled = 1, inline_data = 2, fence = 4, solicited = 8 };
constexpr Send operator|(Send a, Send b) { return Send(std::uint8_t(a) | std::uint8_t(b)); }
constexpr bool has(Send flags, Send wanted) { return (std::uint8_t(flags) & std::uint8_t(wanted)) == std::uint8_t(wanted); }

/// The names that traces and reports use: `write`, `SUCCESS`, `rts`, `lw`. `parse_*` gives nothing for an unknown word.
std::string_view name(Opcode);
std::string_view name(Status);
std::string_view name(QpType);
std::string_view name(QpState);
/// The flags by their two letters, `lw,rr`; `0` for none.
std::string words(Access);
std::optional<Opcode> parse_opcode(std::string_view);
std::optional<Status> parse_status(std::string_view);

/// The symbol of an errno value (`EINVAL`), or `ok` for 0. `parse_errno` is its inverse; unknown words give nothing.
std::string_view errno_name(int error);
std::optional<int> parse_errno(std::string_view);

}  // namespace mtsim::verbs
