// Where sets of rules differ, as plain data. Includes nothing of the model.
#pragma once

#include <stdexcept>
#include <string>

namespace mtsim::random_programs {

struct Rules {
  std::string name = "ib";

  // Posting: errno names, or `ok` where it is the device that finds out.
  std::string send_below_rts = "ENOMEM", send_sges = "ENOMEM", send_inline = "ENOMEM";
  std::string recv_in_reset = "EINVAL", recv_sges = "EINVAL";
  std::string misaligned_atomic = "ok", read_on_uc = "ok";

  // Statuses.
  std::string gather_key = "LOC_PROT_ERR", gather_range = "LOC_PROT_ERR";
  std::string receive_refused = "LOC_PROT_ERR", receive_short = "LOC_LEN_ERR";
  std::string sender_of_short = "REM_INV_REQ_ERR";
  std::string imm_refused = "LOC_ACCESS_ERR";  ///< the receive of a WRITE with immediate whose rkey is refused

  bool imm_refused_uses_up_shared = false;  ///< unreliable, of a shared queue: with REM_ACCESS_ERR

  // What a QP that failed does.
  bool uc_stops_sends_only = true;  ///< a local error of a UC send queue: SQE; otherwise ERR
  bool requester_flushes_receives = true;
  bool asynchronous_events = true;
  bool late_receives_flushed = true;  ///< those posted in ERR; otherwise by the next ERR
  bool keeps_refused = false;         ///< requests refused for the state lie in the queue: ERR flushes them
  bool remembers_read = false;        ///< after a READ that failed behind its first packet a reset leaves its requester waiting for more
  bool waits_for_end = false;         ///< an unreliable WRITE with immediate whose last packet finds no receive is waited for until a reset
  bool shared_by_qp_pd = false;       ///< keys of shared receives are judged by the QP's PD

  // Registration and windows.
  bool rereg_rights = true, rereg_translation = true;
  bool rkey_needs_right = false;  ///< the rkey of an MR without a remote right is 0
  std::string dereg_bound = "EBUSY";
  bool bind_by_kind = true, bind_pds = true;  ///< a bind looks at how it was asked for, and at the PDs of MR and type 1 window
  bool zero_based_inside = true;              ///< or a window that counts from 0 must only not be longer than its MR
  bool binder_invalidates = true;             ///< alone
  bool window_has_bounds = true;              ///< otherwise those of its MR hold

  /// A locally failing request behind others lets these complete first.
  bool local_error_waits = true;
};

/// The specification; where providers differ at posting, as mlx5.
inline Rules rules_ib() { return {}; }

/// As `ib`, but nothing in the driver counts the windows of a region: ibv_dereg_mr succeeds, and they are good for nothing afterwards.
inline Rules rules_mlx5() {
  Rules r;
  r.name = "mlx5";
  r.dereg_bound = "ok";
  return r;
}

/// rxe of Linux 6.1, measured.
inline Rules rules_rxe_6_1() {
  Rules r;
  r.name = "rxe-6.1";
  r.send_below_rts = r.send_sges = r.send_inline = "EINVAL";
  r.misaligned_atomic = "EINVAL";  // the library lets a READ on UC pass, as any opcode
  r.gather_key = "LOC_QP_OP_ERR";
  r.receive_refused = r.receive_short = "LOC_QP_OP_ERR";
  r.sender_of_short = "REM_OP_ERR";
  r.imm_refused = "REM_ACCESS_ERR";
  r.uc_stops_sends_only = r.asynchronous_events = r.late_receives_flushed = false;
  r.imm_refused_uses_up_shared = r.keeps_refused = r.remembers_read = r.waits_for_end = r.shared_by_qp_pd = true;
  r.bind_by_kind = r.bind_pds = r.zero_based_inside = r.binder_invalidates = false;
  r.rereg_rights = r.rereg_translation = false;
  r.rkey_needs_right = true;
  r.dereg_bound = "EINVAL";
  r.window_has_bounds = false;
  r.local_error_waits = false;
  return r;
}

inline Rules rules_named(const std::string& name) {
  if (name == "ib") return rules_ib();
  if (name == "mlx5") return rules_mlx5();
  if (name == "rxe-6.1") return rules_rxe_6_1();
  throw std::invalid_argument("no rules '" + name + "': ib, mlx5 or rxe-6.1");
}

}  // namespace mtsim::random_programs
