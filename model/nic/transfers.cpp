#include "nic/transfers.h"

#include <algorithm>

#include "base/sections.h"
#include "ports/rank.h"

namespace mtsim::nic {
namespace {

const Sections::Entrant<TransferParams> declared;

/// xorshift64* (Vigna 2016), reduced to [0, n) by one multiplication.
std::uint64_t draw(std::uint64_t& state, std::uint64_t n) {
  using Wide = unsigned __int128;
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return static_cast<std::uint64_t>(Wide{state * 0x2545F4914F6CDD1Du} * n >> 64);
}

}  // namespace

void TransferParams::declare(Declaration<TransferParams>& d) {
  d.section("nic.transfers", "Transfers that programs on the NIC make between its own memory and the host's (`dma` of a trace).");
  d.field("descriptor", &TransferParams::descriptor)
      .standard("0ns")
      .range("0ns", "100us")
      .means("What the DMA engine takes for a transfer beside moving its data: descriptor, scheduling, report of its end.")
      .source("modelling choice; about 150 ns on an NFP-6000 (P1)");
  d.field("copy", &TransferParams::copy)
      .standard("0ns")
      .range("0ns", "10us")
      .means(
          "Moving 64 B between the PCIe block's buffer and the device's memory, one transfer after the other, after a read or before a "
          "write.")
      .source("modelling choice; about 9 ns on an NFP-6000 (P1)");
  d.field("depth", &TransferParams::depth)
      .standard("64")
      .range("1", "65536")
      .means("Transfers in the DMA engine at most.")
      .source("modelling choice; about 38 on an NFP-6000 (P1)");
  d.field("core", &TransferParams::core)
      .standard("0ns")
      .range("0ns", "100us")
      .means("What a transfer takes beside moving its data when a processor of the device makes it itself, without the engine.")
      .source("modelling choice");
}

/// Waits for the last transfer of a job.
class TransferUnit::Done {
 public:
  explicit Done(Job& job) : job_(job) {}
  bool await_ready() const { return job_.flows == 0; }
  void await_suspend(std::coroutine_handle<> waiter) { job_.waiter = waiter; }
  void await_resume() const {}

 private:
  Job& job_;
};

TransferUnit::TransferUnit(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, const TransferParams& params,
                           std::uint32_t host_rank)
    : sc_module(module_name),
      dma("dma"),
      log("log"),
      scheduler_(scheduler),
      params_(params),
      host_rank_(host_rank),
      places_(scheduler, params.depth) {}

engine::Task<int> TransferUnit::transfer(const verbs::DmaRequest& request, const DmaMap& memory) {
  const Bytes unit(round_up(request.length.raw, 64));
  const std::uint64_t places = (request.window - request.length) / unit + 1;
  Job job{request, memory, places, unit, request.seed, 0, std::max(1u, std::min(request.depth, request.count)), {}};
  // Each flow is one transfer in flight, and then the next.
  for (std::uint32_t flow = 0, all = job.flows; flow < all; ++flow) scheduler_.spawn(carry_out(job, flow));
  co_await Done(job);
  co_return 0;
}

std::uint64_t TransferUnit::next_place(Job& job, std::uint32_t number) {
  return job.request.seed == 0 ? number % job.places : draw(job.random, job.places);
}

Time TransferUnit::copied(Bytes length) {
  return copier_.book(scheduler_.now(), Time(params_.copy.raw * static_cast<std::int64_t>(length.raw) / 64)).end;
}

engine::Flow TransferUnit::carry_out(Job& job, std::uint32_t flow) {
  using ports::Step;
  using Kind = verbs::DmaRequest::Kind;
  const verbs::DmaRequest& request = job.request;
  const engine::Order order = ports::order(host_rank_, ports::Unit::firmware, std::uint64_t{1} << 32 | flow);
  while (job.begun < request.count) {
    const std::uint32_t number = job.begun++;
    const Bytes offset = job.unit * next_place(job, number);
    ports::Wqe operation;
    operation.wr = number + 1;
    operation.opcode = request.kind == Kind::write ? verbs::Opcode::write : verbs::Opcode::read;
    operation.length = request.length.raw;
    operation.begin = scheduler_.now();
    if (!request.direct) co_await places_.take();
    operation.stamp[unsigned(Step::doorbell)] = scheduler_.now();
    co_await engine::Until(scheduler_, scheduler_.now() + (request.direct ? params_.core : params_.descriptor), order);
    operation.stamp[unsigned(Step::schedule)] = scheduler_.now();
    if (request.kind != Kind::read) {
      if (!request.direct) co_await engine::Until(scheduler_, copied(request.length), order);
      co_await write(job, offset, order, request.kind == Kind::write);
    }
    if (request.kind != Kind::write) co_await read(job, offset, order);
    operation.stamp[unsigned(Step::dma)] = scheduler_.now();
    if (request.kind != Kind::write && !request.direct) co_await engine::Until(scheduler_, copied(request.length), order);
    operation.stamp[unsigned(Step::completion)] = scheduler_.now();
    if (!request.direct) places_.give();
    log->ended(0, operation, verbs::Status::SUCCESS);
  }
  if (--job.flows == 0 && job.waiter) job.waiter.resume();
}

engine::Flow TransferUnit::fetch(Pa address, Bytes length, engine::Order order, ReadJoin& join) {
  join.begin();
  co_await ports::DmaRead(*dma.operator->(), address, length, ports::Agent::payload, order);
  join.end();
}

engine::Task<int> TransferUnit::read(const Job& job, Bytes offset, engine::Order order) {
  ReadJoin runs;
  for (Bytes done; done < job.request.length;) {
    const DmaRun run = job.memory.at(offset + done);
    const Bytes length = std::min(run.length, job.request.length - done);
    scheduler_.spawn(fetch(run.start, length, order, runs));
    done += length;
  }
  co_await runs;
  co_return 0;
}

engine::Task<int> TransferUnit::write(const Job& job, Bytes offset, engine::Order order, bool wait) {
  for (Bytes done; done < job.request.length;) {
    const DmaRun run = job.memory.at(offset + done);
    const Bytes length = std::min(run.length, job.request.length - done);
    done += length;
    co_await ports::WriteRoom(*dma.operator->());
    // Writes take effect in order: the last one's end is the end of all.
    if (wait && done == job.request.length) co_await ports::DmaWrite(*dma.operator->(), run.start, length, order, ports::Purpose::payload);
    else dma->write(run.start, length, nullptr);
  }
  co_return 0;
}

}  // namespace mtsim::nic
