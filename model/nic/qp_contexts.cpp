#include "nic/qp_contexts.h"

#include <algorithm>

namespace mtsim::nic {

QpContexts::QpContexts(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, Clock clock, const QpCacheParams& first,
                       const QpLevel2Params& second, const QpPoolShare& pool)
    : sc_module(module_name),
      dma("dma"),
      memory("memory"),
      scheduler_(scheduler),
      clock_(clock),
      params_(first),
      first_latency_(clock.edge(first.latency)),
      first_("first", first),
      pool_(pool),
      stride_(Bytes(round_up(first.context.raw, 64))),
      fetches_(scheduler, first.fetches) {
  if (pool.pool == nullptr && second.lines != 0) {
    second_ = std::make_unique<Cache>("second", second);
    second_latency_ = clock.edge(second.latency);
  } else if (pool.pool != nullptr) {
    lines_ = ceil_div(first.context.raw, pool.line.raw);
    second_latency_ = clock.edge(pool.latency);
  }
  if (!params_.write_back) return;
  first_evictions_.unit = second_evictions_.unit = this;
  first_.tell(first_evictions_);
  if (second_) second_->tell(second_evictions_);
  else if (pool.pool != nullptr) pool.pool->tell(second_evictions_);
}

void QpContexts::add(const Qp& qp) {
  while (chunks_.size() <= qp.number / (chunk / stride_)) chunks_.push_back(memory->allocate(chunk, page_bytes));
}

void QpContexts::drop(const Qp& qp) {
  first_.drop(qp.number, 1);
  if (second_) second_->drop(qp.number, 1);
  if (pool_.pool != nullptr) pool_.pool->drop(first_line(qp.number), lines_);
}

Pa QpContexts::address(std::uint64_t number) const {
  const std::uint64_t in_chunk = chunk / stride_;
  return chunks_[number / in_chunk] + stride_ * (number % in_chunk);
}

/// In a pool all lines of a context are looked up at once, and all must be there.
bool QpContexts::second_finds(const Qp& qp) {
  if (second_) return second_->find(qp.number) != nullptr;
  bool all = true;
  for (std::uint64_t line = first_line(qp.number), end = line + lines_; line != end; ++line) all &= pool_.pool->find(line) != nullptr;
  return all;
}

bool QpContexts::second_holds(std::uint64_t number) const {
  if (second_) return second_->holds(number);
  if (pool_.pool == nullptr) return false;
  for (std::uint64_t line = first_line(number), end = line + lines_; line != end; ++line)
    if (!pool_.pool->holds(line)) return false;
  return true;
}

void QpContexts::fill_second(const Qp& qp) {
  if (second_) second_->fill(qp.number, 0, qp.attributes.pd);
  if (pool_.pool == nullptr) return;
  for (std::uint64_t line = first_line(qp.number), end = line + lines_; line != end; ++line) pool_.pool->fill(line, 0, qp.attributes.pd);
}

bool QpContexts::find(Qp& qp, Time& busy) {
  busy = first_latency_;
  if (first_.find(qp.number) != nullptr) return true;
  if (second_ == nullptr && pool_.pool == nullptr) return false;
  busy += second_latency_;
  misses_.second += second_latency_;
  if (!second_finds(qp)) return false;
  first_.fill(qp.number, 0, qp.attributes.pd);
  return true;
}

engine::Task<int> QpContexts::fetch(Qp& qp, Time at, engine::Order order) {
  co_await engine::Until(scheduler_, at, order);
  const Time since = scheduler_.now();
  ++misses_.count;
  if (qp.context_fetch != nullptr) {
    ++misses_.merged;
    co_await qp.context_fetch->wait();
  } else if (!holds(qp)) {
    // It counts as under way while it waits for its place, so that nobody waits for a second one.
    engine::Waiters own;
    qp.context_fetch = &own;
    co_await fetches_.take();
    co_await ports::DmaRead(*dma.operator->(), address(qp.number), params_.context, params_.agent, order);
    qp.context_fetch = nullptr;
    if (!qp.destroyed) {
      fill_second(qp);
      first_.fill(qp.number, 0, qp.attributes.pd);
    }
    fetches_.give();
    own.resume_all();
  }
  const Time waited = scheduler_.now() - since;
  misses_.total += waited;
  misses_.longest = std::max(misses_.longest, waited);
  co_return 0;
}

/// The first level gave a context up: what the second does not hold of it goes to host memory.
void QpContexts::left_first(std::uint64_t number) {
  if (second_ || pool_.pool == nullptr) {
    if (!second_holds(number)) write_back(address(number), params_.context);
    return;
  }
  for (std::uint64_t i = 0; i < lines_;) {
    std::uint64_t end = i;
    while (end < lines_ && !pool_.pool->holds(first_line(number) + end)) ++end;
    if (end != i) write_back(address(number) + pool_.line * i, std::min(pool_.line * end, params_.context) - pool_.line * i);
    i = end + 1;
  }
}

/// The second level gave up a context, or the pool a line: perhaps of a context, of which the first level may still have it all.
void QpContexts::left_second(std::uint64_t tag) {
  if (second_) {
    if (!first_.holds(tag)) write_back(address(tag), params_.context);
    return;
  }
  if (tag - pool_.first >= most * lines_) return;
  const std::uint64_t number = (tag - pool_.first) / lines_, line = (tag - pool_.first) % lines_;
  if (!first_.holds(number)) write_back(address(number) + pool_.line * line, std::min(pool_.line, params_.context - pool_.line * line));
}

void QpContexts::write_back(Pa to, Bytes length) {
  ++write_backs_;
  written_bytes_ += length.raw;
  dma->write(to, length, nullptr);
}

}  // namespace mtsim::nic
