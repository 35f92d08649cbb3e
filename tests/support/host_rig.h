// One host with everything above its NIC, and in the NIC's place a stub that answers after constant times: for tests of the kernel and the
// provider library.
#pragma once

#include <catch2/catch.hpp>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/semaphore.h"
#include "engine/server.h"
#include "host/cpu.h"
#include "host/root_complex.h"
#include "kernel/kernel.h"
#include "support/fresh_systemc.h"
#include "user/sim_device.h"

namespace mtsim::test {

/// Commands take `command` and the firmware's own time, UMR work requests take `umr`; tables change at once at their end.
class StubNic : public sc_core::sc_module,
                public ports::QueuePairs,
                public ports::Doorbells,
                public ports::Command,
                public ports::Umr,
                public ports::Tables,
                private translate::Architecture::Stale {
 public:
  StubNic(sc_core::sc_module_name name, engine::Scheduler& scheduler) : sc_module(name), scheduler_(scheduler) {
    translate::ArchitectureOptions options;
    options.space = {Pa(std::uint64_t{1} << 44), GiB(8)};
    architecture_ = translate::Architectures::make("flat_mtt", options);
  }

  std::uint32_t create_qp(const ports::QpAttributes& attributes) override {
    qps.push_back({attributes, verbs::QpState::reset, {}, {}});
    return std::uint32_t(qps.size());
  }
  void destroy_qp(std::uint32_t qpn) override { qps[qpn - 1].state = verbs::QpState::reset; }
  void set_peer(std::uint32_t qpn, std::uint32_t port, std::uint32_t peer) override {
    qps[qpn - 1].peer_port = port;
    qps[qpn - 1].peer = peer;
  }
  void set_state(std::uint32_t qpn, verbs::QpState state) override { qps[qpn - 1].state = state; }
  verbs::QpState state(std::uint32_t qpn) const override { return qps[qpn - 1].state; }
  verbs::QpType type(std::uint32_t qpn) const override { return qps[qpn - 1].attributes.type; }
  std::uint32_t port() const override { return 5; }
  Bytes link_mtu() const override { return Bytes(1024); }

  void ring(std::uint32_t qpn, std::uint32_t producer, Bytes wqe_bytes) override {
    rings.push_back({scheduler_.now(), qpn, producer, wqe_bytes});
  }

  void receives_posted(std::uint32_t qpn) override { receive_doorbells.push_back(qpn); }

  engine::Task<int> execute(const ports::Command::Request& request) override {
    commands.push_back(request);
    const auto booked = firmware_.book(scheduler_.now() + command, request.execution);
    co_await engine::Until(scheduler_, booked.end + request.latency, engine::Order(7));
    if (request.writes != nullptr) commit(*request.writes);
    co_return 0;
  }
  engine::Task<int> post(const ports::Umr::Request& request) override {
    umrs.push_back(request);
    umrs_most = std::max(umrs_most, ++umrs_now);
    co_await engine::Until(scheduler_, scheduler_.now() + umr, engine::Order(8));
    if (request.writes != nullptr) commit(*request.writes);
    --umrs_now;
    co_return 0;
  }
  translate::Architecture& architecture() override { return *architecture_; }
  void commit(const translate::TableWrites& writes) override { architecture_->commit(writes, *this); }

  std::uint64_t windows_of(Key lkey) const override { return lkey == bound_to ? windows_bound : 0; }

  /// What a walk says about a key: the grant, or nothing when there is none that is valid.
  std::optional<verbs::Grant> grant(Key key) {
    const auto found = context(key);
    return found && found->valid && found->key == key ? found : std::nullopt;
  }
  /// What stands in the place of the key, valid or not.
  std::optional<verbs::Grant> context(Key key) {
    translate::Walk walk;
    walk.key = key;
    translate::Content content = 0;
    for (;;) {
      translate::Step step;
      architecture_->step(walk, content, step);
      if (step.kind == translate::Step::Kind::judge) { return step.grant == nullptr ? std::nullopt : std::optional(*step.grant); }
      if (step.kind != translate::Step::Kind::read) return std::nullopt;
      content = architecture_->content(step.line_kind, step.tag);
    }
  }

  /// Where an address of a valid key leads; nothing when it leads nowhere.
  std::optional<Pa> translate(Key key, Iova address) {
    translate::Walk walk{key, address, 0, 0};
    translate::Content content = 0;
    for (;;) {
      translate::Step step;
      architecture_->step(walk, content, step);
      if (step.kind == translate::Step::Kind::done) return step.address;
      if (step.kind == translate::Step::Kind::fault || (step.kind == translate::Step::Kind::judge && step.grant == nullptr))
        return std::nullopt;
      if (step.kind == translate::Step::Kind::read) content = architecture_->content(step.line_kind, step.tag);
    }
  }

  Time command = us(2), umr = us(3);
  Key bound_to;  ///< lkey of the MR that windows are bound to, so many of them
  std::uint64_t windows_bound = 0;
  struct Qp {
    ports::QpAttributes attributes;
    verbs::QpState state;
    std::uint32_t peer_port, peer;
  };
  struct Ring {
    Time at;
    std::uint32_t qpn, producer;
    Bytes wqe_bytes;
  };
  std::vector<Qp> qps;
  std::vector<Ring> rings;
  std::vector<std::uint32_t> receive_doorbells;  ///< QP numbers
  std::vector<ports::Command::Request> commands;
  std::vector<ports::Umr::Request> umrs;
  unsigned umrs_now = 0, umrs_most = 0;  ///< UMR work requests under way at once

 private:
  void lines(std::uint32_t, std::uint64_t, std::uint64_t) override {}
  engine::Scheduler& scheduler_;
  engine::Server firmware_;
  std::unique_ptr<translate::Architecture> architecture_;
};

/// Costs that can be told apart in a sum: changing a default must not change what these tests expect.
inline kernel::KernelParams test_kernel() {
  kernel::KernelParams p = defaults<kernel::KernelParams>();
  p.syscall = us(1);
  p.registration = us(20);
  p.deregistration = us(10);
  p.pin_batch = ns(150);
  p.pin_page = ns(3);
  p.pin_grab = ns(110);
  p.fault_4k = ns(1200);
  p.fault_2m = ns(2000);
  p.line_transfer = Time();
  p.zero_rate = BitRate(80'000'000'000);
  p.sg_compare = ns(1);
  p.sg_entry = ns(15);
  p.dma_map = ns(12);
  p.dma_unmap = ns(8);
  p.page_size_run = ns(3);
  p.unpin_run = ns(60);
  p.unpin_page = ns(1);
  p.interrupt = us(4);
  p.wake_up = us(7);
  p.odp_region = us(3);
  p.odp_page = ns(2);
  p.odp_walk = ns(5);
  p.odp_scan = ns(4);
  return p;
}
inline kernel::DriverParams test_driver() {
  kernel::DriverParams p = defaults<kernel::DriverParams>();
  p.key = ns(300);
  p.umr_post = ns(1500);
  p.list_entry = ns(2);
  p.command_post = ns(1700);
  p.mailbox = ns(150);
  p.create_key = us(150);
  p.create_key_latency = us(50);
  p.destroy_key = us(100);
  p.destroy_key_latency = Time();
  p.store_entry = ns(10);
  p.page_fault_queue = us(20);
  return p;
}

inline kernel::IommuParams test_iommu() {
  kernel::IommuParams p = defaults<kernel::IommuParams>();
  p.iova_cache = ns(41);
  p.iova_rbtree = ns(307);
  p.map_entry = ns(19);
  p.unmap_entry = ns(7);
  p.iotlb_sync = ns(1013);
  p.iotlb_flush = ns(1511);
  p.queue_entry = ns(31);
  return p;
}

struct HostSettings {
  kernel::KernelParams kernel = test_kernel();
  kernel::DriverParams driver = test_driver();
  user::ProviderParams provider = defaults<user::ProviderParams>();
  kernel::IommuParams iommu = test_iommu();
  std::uint32_t cpus = 2, threads = 2;
  Bytes memory = GiB(2);
  double run_pages = 1;
  Bytes swap{}, movable{};
  std::uint32_t nics = 1;
};

class Waiter final : public verbs::Caller {
 public:
  explicit Waiter(const engine::Scheduler& scheduler) : scheduler_(scheduler) {}
  void resume() override {
    done = true;
    at = scheduler_.now();
  }
  bool done = false;
  Time at;
  verbs::Reply reply;

 private:
  const engine::Scheduler& scheduler_;
};

class HostRig : public ports::RegistrationObserver {
 public:
  explicit HostRig(const HostSettings& settings = {})
      : cpus("cpus", scheduler, defaults<host::CpuParams>(), settings.cpus, settings.threads, 0),
        root("root", defaults<host::RootComplexParams>(), {settings.memory, settings.run_pages, 1, settings.swap, settings.movable}),
        nic("nic", scheduler),
        kernel("kernel", scheduler, settings.kernel, settings.driver, root.frames(), settings.iommu, settings.nics),
        device("device", scheduler, settings.provider, settings.threads, 0) {
    kernel.cpus(cpus);
    kernel.memory(root);
    kernel.queue_pairs(nic);
    kernel.command(nic);
    kernel.umr(nic);
    kernel.tables(nic);
    for (std::uint32_t i = 1; i < settings.nics; ++i) {
      StubNic& further = *further_nics.emplace_back(std::make_unique<StubNic>(("nic" + std::to_string(i)).c_str(), scheduler));
      kernel.command(further);
      kernel.umr(further);
      kernel.tables(further);
    }
    root.translate_by(kernel.device(0).dma_mapper().io_page_table());
    device.cpus(cpus);
    device.kernel(kernel);
    device.memory(root);
    device.doorbells(nic);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    kernel.set_observer(this);
  }

  virtual ~HostRig() = default;

  void finished(const ports::RegistrationRecord& record) override { records.push_back(record); }

  /// Makes a call of the device and runs until nothing moves. `call(reply, caller)` returns its Progress.
  template <class Call>
  verbs::Reply ask(Call call) {
    Waiter waiter(scheduler);
    if (call(waiter.reply, waiter) == verbs::Progress::pending) {
      sc_core::sc_start();
      REQUIRE(waiter.done);
    }
    return waiter.reply;
  }
  void run() { sc_core::sc_start(); }

  Va mmap(Bytes length, verbs::PageKind page = verbs::PageKind::base_4k, bool populate = true, bool writable = true) {
    verbs::MmapRequest request;
    request.length = length;
    request.page = page;
    request.populate = populate;
    request.writable = writable;
    const verbs::Reply reply = ask([&](auto& r, auto& c) { return device.mmap(0, request, r, c); });
    REQUIRE(reply.error == 0);
    return Va(reply.value);
  }
  verbs::Handle pd(std::uint32_t number = 0) {
    return ask([&](auto& r, auto& c) { return device.alloc_pd(0, number, r, c); }).handle;
  }
  verbs::Reply reg_mr(verbs::Handle pd, Va address, Bytes length, verbs::Access access = verbs::Access::local_write) {
    verbs::RegMrRequest request{pd, address, length, access, Iova(address.raw)};
    return ask([&](auto& r, auto& c) { return device.reg_mr(0, request, r, c); });
  }
  verbs::Reply rereg_mr(const verbs::ReregMrRequest& request) {
    return ask([&](auto& r, auto& c) { return device.rereg_mr(0, request, r, c); });
  }
  int advise_mr(verbs::Handle pd, verbs::Prefetch advice, std::vector<verbs::Sge> sges, bool flush = true) {
    verbs::AdviseMrRequest request{pd, advice, flush, sges};
    return ask([&](auto& r, auto& c) { return device.advise_mr(0, request, r, c); }).error;
  }
  int munmap(Va address, Bytes length) {
    return ask([&](auto& r, auto& c) { return device.munmap(0, address, length, r, c); }).error;
  }
  int touch(Va address, Bytes length, bool write = true) {
    return ask([&](auto& r, auto& c) { return device.touch(0, address, length, write, r, c); }).error;
  }
  int madvise(Va address, Bytes length, verbs::Advice advice) {
    return ask([&](auto& r, auto& c) { return device.madvise(0, address, length, advice, r, c); }).error;
  }
  int mprotect(Va address, Bytes length, bool readable, bool writable) {
    return ask([&](auto& r, auto& c) { return device.mprotect(0, address, length, readable, writable, r, c); }).error;
  }
  verbs::Reply alloc_mw(verbs::Handle pd, std::uint8_t type) {
    return ask([&](auto& r, auto& c) { return device.alloc_mw(0, pd, type, r, c); });
  }
  int dealloc_mw(verbs::Handle mw) {
    return ask([&](auto& r, auto& c) { return device.dealloc_mw(0, mw, r, c); }).error;
  }
  int dealloc_pd(verbs::Handle pd) {
    return ask([&](auto& r, auto& c) { return device.dealloc_pd(0, pd, r, c); }).error;
  }
  verbs::Reply dereg_mr(verbs::Handle mr) {
    return ask([&](auto& r, auto& c) { return device.dereg_mr(0, mr, r, c); });
  }
  Time step(ports::RegistrationStep step) const { return records.back().cost.steps[unsigned(step)]; }
  Time latency() const { return records.back().end - records.back().begin; }

  FreshSystemC context;
  engine::Scheduler scheduler{"scheduler"};
  host::Cpus cpus;
  host::RootComplex root;
  StubNic nic;
  std::vector<std::unique_ptr<StubNic>> further_nics;  ///< those behind the first
  kernel::Kernel kernel;
  user::SimDevice device;
  std::vector<ports::RegistrationRecord> records;
};

}  // namespace mtsim::test
