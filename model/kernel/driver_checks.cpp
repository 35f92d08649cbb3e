// What drivers answer in ways of their own: the parameters, and the answers.
#include <array>
#include <cerrno>
#include <string_view>

#include "kernel/access_check.h"
#include "kernel/driver_params.h"

namespace mtsim::kernel {
namespace {

using verbs::Access;

/// The names that traces use.
constexpr std::array<std::pair<std::string_view, Access>, 11> access_names{{{"lw", Access::local_write},
                                                                            {"rr", Access::remote_read},
                                                                            {"rw", Access::remote_write},
                                                                            {"ra", Access::remote_atomic},
                                                                            {"mw", Access::mw_bind},
                                                                            {"zb", Access::zero_based},
                                                                            {"od", Access::on_demand},
                                                                            {"ht", Access::huge_tlb},
                                                                            {"ro", Access::relaxed_ordering},
                                                                            {"fg", Access::flush_global},
                                                                            {"fp", Access::flush_persistent}}};

/// Which bits of the variant tell an rkey from its lkey, where they are two. Nobody has said how such a device makes its keys.
constexpr std::uint8_t own_rkey_bits = 0x80;

/// Flags by their names; nothing when there is one that is none.
std::optional<Access> flags_of(std::string_view rest) {
  Access flags = Access::none;
  while (!rest.empty()) {
    const std::size_t length = rest.find(' ');
    const std::string_view word = rest.substr(0, length);
    rest.remove_prefix(length == std::string_view::npos ? rest.size() : length + 1);
    if (word.empty()) continue;
    bool known = false;
    for (const auto& [name, flag] : access_names) {
      if (name != word) continue;
      flags = flags | flag;
      known = true;
    }
    if (!known) return std::nullopt;
  }
  return flags;
}

}  // namespace

void DriverParams::declare_checks(Declaration<DriverParams>& d) {
  d.field("largest_mr", &DriverParams::largest_mr)
      .standard("0B")
      .means("Greatest MR; 0: no limit of the driver's own.")
      .source("mlx5: none that matters; irdma: max_mr_size");
  d.choice("largest_mr_error", &DriverParams::largest_mr_error, {{"EINVAL", SizeRefusal::einval}, {"ENOMEM", SizeRefusal::enomem}})
      .standard("EINVAL")
      .means("What a larger one is refused with.")
      .source("irdma: hw/irdma/verbs.c, irdma_reg_user_mr");
  d.field("refused_access", &DriverParams::refused_access)
      .standard("")
      .means("Access flags of an MR that the driver refuses with EOPNOTSUPP, two letters each with spaces between them.")
      .source("mlx5: none; rxe, Linux 6.12: zb ht (RXE_ACCESS_SUPPORTED_MR)");
  d.field("own_key_access", &DriverParams::own_key_access)
      .standard("")
      .means(
          "Access flags, two letters each, that the device cannot change in a key which it knows: a cached key serves only where they are "
          "the same, and a rereg_mr that changes them brings a new key.")
      .source("mlx5: none, or ra (umr_modify_atomic_disabled) or ro of older devices (hw/mlx5/mr.c, get_unchangeable_access_flags)");
  d.field("refuses_empty", &DriverParams::refuses_empty)
      .standard("false")
      .means("Whether the driver refuses an MR of length 0 (EINVAL) before anybody looks at its memory.")
      .source("siw: sw/siw/siw_verbs.c, siw_reg_user_mr");
  d.field("own_memlock", &DriverParams::own_memlock)
      .standard("false")
      .means("Whether the driver holds every process to RLIMIT_MEMLOCK, CAP_IPC_LOCK or not (ENOMEM, at a limit of 0 too).")
      .source("siw before Linux 6.10: sw/siw/siw_mem.c, siw_umem_get");
  d.field("flush", &DriverParams::flush)
      .standard("false")
      .means("Whether the device carries out FLUSH, so that an MR may allow it; none of a host's memory is persistent.")
      .source("Linux 6.12: rxe alone");
  d.choice("mr_start", &DriverParams::mr_start, {{"iova", MrStart::iova}, {"address", MrStart::address}})
      .standard("iova")
      .means("Where operations find an MR that was given an iova: there, or at its address nevertheless.")
      .source("siw: the address (sw/siw/siw_verbs.c, siw_mr_add_mem)");
  d.field("zero_based", &DriverParams::zero_based)
      .standard("false")
      .means("Whether a zero-based MR begins at address 0; otherwise the flag has no effect.")
      .source("mlx5: no effect (hw/mlx5/mr.c, set_mkc_access_pd_addr_fields); irdma: true (irdma_hwreg_mr)");
  d.choice("rkey", &DriverParams::rkey, {{"lkey", Rkey::lkey}, {"own", Rkey::own}, {"lkey_if_remote", Rkey::lkey_if_remote}})
      .standard("lkey")
      .means("The rkey of an MR: its lkey, another key, or its lkey where a remote right is given and 0 where none is.")
      .source("mlx5: the lkey; efa: the device answers with two keys; rxe, Linux 6.1, measured: 0 without a remote right");
  d.choice("rereg", &DriverParams::rereg, {{"all", Rereg::all}, {"rights", Rereg::rights}, {"none", Rereg::none}})
      .standard("all")
      .means("What rereg_mr can change: everything, PD and access only, or nothing (EOPNOTSUPP).")
      .source("mlx5: everything; rxe, Linux 6.12: PD and access; rxe and siw under rdma-core 44, measured: nothing");
}

std::optional<Access> DriverParams::refused_access_flags() const { return flags_of(refused_access); }
std::optional<Access> DriverParams::own_key_access_flags() const { return flags_of(own_key_access); }
Access DriverParams::fixed_access(Access access) const { return access & own_key_access_flags().value_or(Access::none); }

int DriverParams::refusal(Access access, Bytes length) const {
  if (any(access, refused_access_flags().value_or(Access::none))) return EOPNOTSUPP;
  if (refuses_empty && length.raw == 0) return EINVAL;
  if (largest_mr.raw == 0 || length <= largest_mr) return 0;
  return largest_mr_error == SizeRefusal::enomem ? ENOMEM : EINVAL;
}

MrPlace DriverParams::place(Access access, Va address, Iova asked) const {
  if (zero_based && any(access, Access::zero_based)) return {Iova(0), Bytes(address.raw % page_bytes.raw), Iova(0)};
  if (mr_start == MrStart::address) return {Iova(address.raw), Bytes(0), asked};
  return {asked, Bytes(0), asked};
}

std::uint8_t DriverParams::rkey_bits() const { return rkey == Rkey::own ? own_rkey_bits : 0; }

Key DriverParams::rkey_of(Key lkey, Access access) const {
  if (rkey == Rkey::lkey_if_remote && !any(access, Access::remote_read | Access::remote_write | Access::remote_atomic)) return Key();
  return Key(lkey.raw ^ rkey_bits());
}

}  // namespace mtsim::kernel
