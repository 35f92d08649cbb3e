#include "nic/firmware.h"

#include <coroutine>

#include "ports/rank.h"

namespace mtsim::nic {
namespace {

constexpr Bytes command_entry{64}, mailbox{512}, event_entry{64}, completion_entry{64}, context{64};
constexpr Bytes umr_wqe{192};                 // control, UMR control, mkey and data segments: three basic blocks
constexpr std::uint64_t mailbox_pool = 2048;  // addresses in turn; the firmware is done with one long before it comes round
constexpr std::uint64_t event_slots = 4096, umr_slots = 128;

/// `co_await` a store to the NIC's registers.
class MmioStore : engine::Notice {
 public:
  MmioStore(ports::Mmio& mmio, Bytes length, engine::Order by) : mmio_(mmio), length_(length) { order = by; }
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    arrived = [](engine::Notice& notice) { static_cast<MmioStore&>(notice).waiter_.resume(); };
    mmio_.store(length_, *this);
  }
  void await_resume() const {}

 private:
  ports::Mmio& mmio_;
  Bytes length_;
  std::coroutine_handle<> waiter_;
};

}  // namespace

Firmware::Firmware(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, Clock clock, const FirmwareParams& params,
                   std::uint32_t host_rank)
    : sc_module(module_name),
      mmio("mmio"),
      dma("dma"),
      memory("memory"),
      tables("tables"),
      scheduler_(scheduler),
      clock_(clock),
      params_(params),
      host_rank_(host_rank),
      slots_(scheduler, params.command_slots) {}

void Firmware::end_of_elaboration() {
  queue_ = memory->allocate(page_bytes, page_bytes);
  mailboxes_ = memory->allocate(mailbox * mailbox_pool, page_bytes);
  events_ = memory->allocate(event_entry * event_slots, page_bytes);
  umr_ring_ = memory->allocate(umr_wqe * umr_slots, page_bytes);
}

void Firmware::write_tables(const translate::TableWrites& writes) {
  if (writes.in_device) {
    tables->commit(writes);
    return;
  }
  if (!writes.keeps_context) dma->write(writes.context, context, nullptr, {ports::Purpose::tables});
  if (writes.entries != 0) dma->write(writes.table, writes.table_bytes(), nullptr, {ports::Purpose::tables});
  counts_.table_bytes += (writes.keeps_context ? 0 : context.raw) + writes.table_bytes().raw;
  tables->commit(writes);
}

// cmd_work_handler: entry and mailboxes stand in memory, the doorbell is rung; the firmware reads the entry, follows the chain of
// mailboxes (each names the next, so they are read one after the other), works, and reports by an event.
engine::Task<int> Firmware::execute(const ports::Command::Request& request) {
  const Time begin = scheduler_.now();
  co_await slots_.take();
  const std::uint64_t serial = serial_++;
  const engine::Order order = ports::order(host_rank_, ports::Unit::firmware, serial);
  ++counts_.commands;
  co_await MmioStore(*mmio.operator->(), Bytes(8), order);
  co_await ports::DmaRead(*dma.operator->(), queue_ + command_entry * (serial % (slots_.places() + 1)), command_entry,
                          ports::Agent::control, order, ports::Purpose::commands);
  for (std::uint64_t i = 0, chain = ceil_div(request.input.raw, mailbox.raw); i < chain; ++i) {
    const std::uint64_t slot = counts_.mailboxes++ % mailbox_pool;
    co_await ports::DmaRead(*dma.operator->(), mailboxes_ + mailbox * slot, mailbox, ports::Agent::control, order,
                            ports::Purpose::commands);
  }
  const auto work = processor_.book(clock_.edge(scheduler_.now()), request.execution);
  co_await engine::Until(scheduler_, clock_.edge(work.end + request.latency), order);
  if (request.writes != nullptr) write_tables(*request.writes);
  co_await ports::DmaWrite(*dma.operator->(), events_ + event_entry * (serial % event_slots), event_entry, order, ports::Purpose::commands);
  if (command_row_) [[unlikely]]
    command_row_.span("command", begin, scheduler_.now(), {{"input_bytes", request.input.raw}});
  slots_.give();
  co_return 0;
}

// Nothing overlaps within one WQE: it is fetched, then its list, then the tables are written.
engine::Task<int> Firmware::post(const ports::Umr::Request& request) {
  const Time begin = scheduler_.now();
  const std::uint64_t serial = serial_++;
  const engine::Order order = ports::order(host_rank_, ports::Unit::firmware, serial);
  ++counts_.umr_wqes;
  co_await MmioStore(*mmio.operator->(), Bytes(8), order);
  co_await ports::DmaRead(*dma.operator->(), umr_ring_ + umr_wqe * (counts_.umr_wqes % umr_slots), umr_wqe, ports::Agent::control, order,
                          ports::Purpose::commands);
  co_await ports::DmaRead(*dma.operator->(), request.list, request.list_bytes, ports::Agent::control, order, ports::Purpose::commands);
  const auto work = umr_unit_.book(clock_.edge(scheduler_.now()), params_.umr);
  co_await engine::Until(scheduler_, clock_.edge(work.end), order);
  if (request.writes != nullptr) write_tables(*request.writes);
  co_await ports::DmaWrite(*dma.operator->(), events_ + event_entry * (serial % event_slots), completion_entry, order,
                           ports::Purpose::commands);
  if (umr_row_) [[unlikely]]
    umr_row_.span("UMR", begin, scheduler_.now(), {{"list_bytes", request.list_bytes.raw}});
  co_return 0;
}

void Firmware::draw(Timeline& timeline, const std::string& process) {
  command_row_ = TimelineRow(timeline, process, "NIC commands", Timeline::Kind::overlapping);
  umr_row_ = TimelineRow(timeline, process, "NIC UMR requests", Timeline::Kind::overlapping);
  processor_.draw(TimelineRow(timeline, process, "NIC firmware"), "command");
  umr_unit_.draw(TimelineRow(timeline, process, "NIC UMR unit"), "table update");
}

}  // namespace mtsim::nic
