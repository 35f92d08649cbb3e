#include "verbs/types.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace mtsim::verbs {
namespace {

using std::string_view;

constexpr std::array<string_view, opcode_count> opcodes{"send", "send_imm", "send_inv", "write",     "write_imm", "read",
                                                        "cas",  "faa",      "bind_mw",  "local_inv", "reg_mr",    "recv"};
constexpr std::array<string_view, status_count> statuses{
    "SUCCESS",           "LOC_LEN_ERR",       "LOC_QP_OP_ERR",    "LOC_EEC_OP_ERR",     "LOC_PROT_ERR",   "WR_FLUSH_ERR",
    "MW_BIND_ERR",       "BAD_RESP_ERR",      "LOC_ACCESS_ERR",   "REM_INV_REQ_ERR",    "REM_ACCESS_ERR", "REM_OP_ERR",
    "RETRY_EXC_ERR",     "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR", "REM_ABORT_ERR",  "INV_EECN_ERR",
    "INV_EEC_STATE_ERR", "FATAL_ERR",         "RESP_TIMEOUT_ERR", "GENERAL_ERR"};
constexpr std::array<string_view, 3> qp_types{"rc", "uc", "ud"};
constexpr std::array<string_view, 7> qp_states{"reset", "init", "rtr", "rts", "sqd", "sqe", "err"};

constexpr std::array<string_view, 11> access_flags{"lw", "rr", "rw", "ra", "mw", "zb", "od", "ht", "ro", "fg", "fp"};

/// Linux numbers its errors below this; the C library names them.
constexpr int errno_limit = 200;

template <class E, std::size_t N>
std::optional<E> parse(string_view word, const std::array<string_view, N>& words) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return {};
  return static_cast<E>(found - words.begin());
}

}  // namespace

string_view name(Opcode opcode) { return opcodes[static_cast<std::size_t>(opcode)]; }
string_view name(Status status) { return statuses[static_cast<std::size_t>(status)]; }
string_view name(QpType type) { return qp_types[static_cast<std::size_t>(type)]; }
string_view name(QpState state) { return qp_states[static_cast<std::size_t>(state)]; }

std::string words(Access access) {
  std::string out;
  for (std::size_t i = 0; i < access_flags.size(); ++i) {
    if ((unsigned(access) >> i & 1) == 0) continue;
    if (!out.empty()) out += ',';
    out += access_flags[i];
  }
  return out.empty() ? "0" : out;
}

std::optional<Opcode> parse_opcode(string_view word) { return parse<Opcode>(word, opcodes); }
std::optional<Status> parse_status(string_view word) { return parse<Status>(word, statuses); }

string_view errno_name(int error) {
  if (error == 0) return "ok";
  const char* name = strerrorname_np(error);
  return name ? name : "unknown error";
}

std::optional<int> parse_errno(string_view word) {
  if (word == "ok") return 0;
  // One number, two names in the C headers: the C library gives only the first of each.
  if (word == "EWOULDBLOCK") return EAGAIN;
  if (word == "EOPNOTSUPP") return EOPNOTSUPP;
  if (word == "ENOTSUP") return ENOTSUP;
  for (int error = 1; error < errno_limit; ++error)
    if (const char* name = strerrorname_np(error); name && word == name) return error;
  return {};
}

}  // namespace mtsim::verbs
