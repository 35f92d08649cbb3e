// reg_mr, rereg_mr and dereg_mr, step by step as Linux 6.12 does them: what is checked in what order, what is pinned and charged, and how
// long each step keeps the CPU.
#pragma once

#include <memory>

#include "kernel/call.h"
#include "kernel/dma_mapping.h"
#include "kernel/driver_params.h"
#include "kernel/fault_path.h"
#include "kernel/kernel_params.h"
#include "kernel/key_keeper.h"
#include "kernel/processes.h"
#include "kernel/table_writer.h"

namespace mtsim::kernel {

/// What the registrations of a host came to.
struct RegistrationTotals {
  std::uint64_t reg_mr = 0, rereg_mr = 0, dereg_mr = 0;  ///< calls, failed ones included
  ports::RegistrationCost reg_cost, rereg_cost, dereg_cost;
  Bytes pinned_now, pinned_most;
};

class RegPath {
 public:
  /// References outlive the path.
  struct Parts {
    engine::Scheduler& scheduler;
    ports::Cpus& cpus;
    const KernelParams& kernel;
    const DriverParams& driver;
    Process& process;  ///< whose PDs they are
    Processes& processes;
    FaultPath& faults;
    TableWriter& writer;
    KeyKeeper& keys;
    DmaMapper& dma;
    const FramePool& frames;
    RegistrationTotals& totals;     ///< of the host: paths of several devices add to it
    std::uint32_t device, devices;  ///< this one's number, of so many
  };
  explicit RegPath(const Parts& parts) : parts_(parts), mrs_(parts.device, parts.devices), totals_(parts.totals) {}

  engine::Task<verbs::Reply> reg_mr(verbs::Thread thread, verbs::RegMrRequest request);
  engine::Task<verbs::Reply> rereg_mr(verbs::Thread thread, verbs::ReregMrRequest request);
  engine::Task<verbs::Reply> dereg_mr(verbs::Thread thread, verbs::Handle handle);

  /// Null: nobody is told. A LapObserver is told of each step as well.
  void set_observer(ports::RegistrationObserver* observer) {
    observer_ = observer;
    laps_ = dynamic_cast<LapObserver*>(observer);
  }

 private:
  struct Mr {
    verbs::Handle pd = 0;
    Process* process = nullptr;  ///< whose pages are pinned
    Key key;
    KeyGrant grant;
    Bytes length;
    verbs::Access access = verbs::Access::none;
    MrPlace place;
    bool pinned_for_writing = false;
    bool busy = false;     ///< a rereg_mr holds the handle
    bool revoked = false;  ///< a rereg_mr failed after it had taken the old translations away
    PinPlan plan;
    PinnedRange range;
    DmaMapping dma;
  };

  int check_request(const verbs::RegMrRequest& request) const;
  int check_rereg(const verbs::ReregMrRequest& request);
  engine::Task<int> rereg_user_mr(Call& call, const verbs::ReregMrRequest& request, Mr& mr);
  engine::Task<int> change_context(Call& call, const Mr& mr, verbs::Handle pd, verbs::Access access);
  engine::Task<int> change_key(Call& call, const verbs::RegMrRequest& request, Mr& mr);
  engine::Task<int> change_translation(Call& call, const verbs::RegMrRequest& request, Mr& mr);
  engine::Task<int> end_key(Call& call, const Mr& mr);
  translate::Region region_of(const Mr& mr, verbs::Handle pd, verbs::Access access) const;
  engine::Task<int> get_umem(Call& call, const verbs::RegMrRequest& request, Mr& mr);
  engine::Task<int> choose_page_size(Call& call, Mr& mr);
  engine::Task<int> create_mr(Call& call, const verbs::RegMrRequest& request, Mr& mr);
  engine::Task<int> release_umem(Call& call, const Mr& mr);
  /// How long the call's CPU stalls for the counters of a umem.
  Time count_umem(const Call& call, Process& process);
  void close(Call& call, int error, Bytes length);

  Parts parts_;
  ObjectTable<Mr> mrs_;
  RegistrationTotals& totals_;
  ports::RegistrationObserver* observer_ = nullptr;
  LapObserver* laps_ = nullptr;
};

}  // namespace mtsim::kernel
