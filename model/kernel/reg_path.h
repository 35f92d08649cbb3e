// reg_mr, rereg_mr and dereg_mr, step by step as Linux 6.12 does them: what is checked in what order, what is pinned and charged, and how
// long each step keeps the CPU.
#pragma once

#include <memory>
#include <optional>

#include "kernel/odp_path.h"
#include "kernel/reg_parts.h"

namespace mtsim::kernel {

class RegPath : private EndedCalls {
 public:
  using Parts = RegParts;
  explicit RegPath(const Parts& parts) : parts_(parts), odp_(parts, *this), mrs_(parts.number, parts.of), totals_(parts.totals) {}
  virtual ~RegPath() = default;

  engine::Task<verbs::Reply> reg_mr(verbs::Thread thread, verbs::RegMrRequest request);
  engine::Task<verbs::Reply> rereg_mr(verbs::Thread thread, verbs::ReregMrRequest request);
  engine::Task<verbs::Reply> dereg_mr(verbs::Thread thread, verbs::Handle handle);

  /// Memory of a pinned MR: its frames, and as the device addresses it. Nothing for any other.
  struct Memory {
    std::shared_ptr<const DmaMap> frames, device;
  };
  std::optional<Memory> memory_of(verbs::Handle mr) const;
  bool is_on_demand(verbs::Handle mr) const;
  std::optional<ports::Kernel::Registered> registered(verbs::Handle mr) const;
  /// Null: nobody is told. A LapObserver is told of each step as well.
  void set_observer(ports::RegistrationObserver* observer) {
    observer_ = observer;
    laps_ = dynamic_cast<LapObserver*>(observer);
    odp_.set_laps(laps_);
  }
  OdpPath& on_demand() { return odp_; }
  const OdpPath& on_demand() const { return odp_; }

 private:
  struct Mr {
    verbs::Handle pd = 0;
    Process* process = nullptr;  ///< whose pages are pinned
    Key key;
    KeyGrant grant;
    std::uint32_t identity = 0;  ///< verbs::Grant::identity: one for each key that was taken
    Bytes length;
    verbs::Access access = verbs::Access::none;
    MrPlace place;
    bool pinned_for_writing = false;
    bool busy = false;     ///< a rereg_mr holds the handle
    bool revoked = false;  ///< a rereg_mr failed after it had taken the old translations away
    PinPlan plan;
    PinnedRange range;
    DmaMapping dma;
    std::unique_ptr<OdpRegion> on_demand;  ///< then nothing is pinned
  };

  int check_request(const verbs::RegMrRequest& request) const;
  int check_rereg(const verbs::ReregMrRequest& request);
  engine::Task<int> rereg_user_mr(Call& call, const verbs::ReregMrRequest& request, Mr& mr);
  engine::Task<int> change_context(Call& call, const Mr& mr, verbs::Handle pd, verbs::Access access);
  engine::Task<int> change_key(Call& call, const verbs::RegMrRequest& request, Mr& mr);
  engine::Task<int> change_translation(Call& call, const verbs::RegMrRequest& request, Mr& mr);
  engine::Task<int> reg_user_mr(Call& call, const verbs::RegMrRequest& request, Mr& mr);
  engine::Task<int> destroy_mr(Call& call, const Mr& mr);
  engine::Task<int> change_on_demand(Call& call, const Mr& mr, verbs::Handle pd, verbs::Access access);
  /// The errno of deregistering an MR with windows bound to it, where the device or its driver refuses.
  int refused_for_windows(const Mr& mr) const;
  engine::Task<int> end_key(Call& call, Key key, KeyGrant grant, std::uint32_t identity);
  std::uint32_t next_identity() { return parts_.number + parts_.of * made_++ + 1; }
  void follow(const Mr& mr) const;
  void forget(std::uint32_t identity) const;
  translate::Region region_of(const Mr& mr, verbs::Handle pd, verbs::Access access) const;
  engine::Task<int> get_umem(Call& call, const verbs::RegMrRequest& request, Mr& mr);
  engine::Task<int> choose_page_size(Call& call, Mr& mr);
  PinRules table_rules() const;
  engine::Task<int> create_mr(Call& call, const verbs::RegMrRequest& request, Mr& mr);
  engine::Task<int> release_umem(Call& call, const Mr& mr);
  /// How long the call's CPU stalls for the counters of a umem.
  Time count_umem(const Call& call, Process& process);
  void close(Call& call, int error, Bytes length) override;

  Parts parts_;
  OdpPath odp_;
  ObjectTable<Mr> mrs_;
  RegistrationTotals& totals_;
  std::uint32_t made_ = 0;  ///< keys taken
  ports::RegistrationObserver* observer_ = nullptr;
  LapObserver* laps_ = nullptr;
};

}  // namespace mtsim::kernel
