// The contexts of QPs: they live in host memory, and in the NIC as far as one or two levels of caches hold them.
//
// A look-up keeps the pipe that asks for as long as the caches take; a miss of all levels does not: the QP waits aside while the pipe goes
// on with others. Fetches are bounded, and one serves all that wait for the same context. When it ends, its place is given on first, then
// those who merged with it go on in order of arrival, then the one that fetched.
//
// A context changes whenever it is used. It is written back when the last level that holds it gives it up.
#pragma once

#include <memory>
#include <vector>

#include "engine/scheduler.h"
#include "engine/semaphore.h"
#include "nic/cache.h"
#include "nic/context_params.h"
#include "nic/units.h"
#include "ports/dma.h"
#include "ports/memory.h"

namespace mtsim::nic {

/// What QP contexts have of a cache that they share with table lines: each takes several of its lines.
struct QpPoolShare {
  Cache* pool = nullptr;
  std::uint64_t first = 0;  ///< number of the first of these lines in the pool
  Bytes line;
  Time latency;
};

class QpContexts : public sc_core::sc_module, public ContextSource {
 public:
  sc_core::sc_port<ports::Dma> dma;
  sc_core::sc_port<ports::HostMemory> memory;

  /// `pool.pool` null: the second level is one of its own, if it has lines.
  QpContexts(sc_core::sc_module_name name, engine::Scheduler& scheduler, Clock clock, const QpCacheParams& first,
             const QpLevel2Params& second, const QpPoolShare& pool);

  /// Lines of a pool that contexts may take, counted from `QpPoolShare::first`.
  static std::uint64_t pool_lines(const QpCacheParams& params, Bytes line) { return most * ceil_div(params.context.raw, line.raw); }

  /// A new QP: its context gets a place in host memory.
  void add(const Qp& qp);
  /// The QP is gone, and its context with it.
  void drop(const Qp& qp);

  bool find(Qp& qp, Time& busy) override;
  engine::Task<int> fetch(Qp& qp, Time at, engine::Order order) override;

  struct Misses {
    std::uint64_t count = 0, merged = 0;
    Time total, longest;
    Time second;  ///< spent on look-ups in the second level, found there or not
  };
  const Misses& misses() const { return misses_; }
  const engine::Semaphore& fetches() const { return fetches_; }
  const Cache& first() const { return first_; }
  const Cache* second() const { return second_.get(); }  ///< null where there is none of its own
  std::uint64_t write_backs() const { return write_backs_; }
  std::uint64_t written_bytes() const { return written_bytes_; }
  Bytes context() const { return params_.context; }

 private:
  /// QPs whose contexts have lines of their own in a pool. Those of QPs that lie so many numbers apart would be the same lines.
  static constexpr std::uint64_t most = std::uint64_t{1} << 20;
  static constexpr Bytes chunk = KiB(256);

  struct FirstEvictions final : Cache::Evictions {
    QpContexts* unit = nullptr;
    void evicted(std::uint64_t tag) override { unit->left_first(tag); }
  };
  struct SecondEvictions final : Cache::Evictions {
    QpContexts* unit = nullptr;
    void evicted(std::uint64_t tag) override { unit->left_second(tag); }
  };

  Pa address(std::uint64_t number) const;
  std::uint64_t first_line(std::uint64_t number) const { return pool_.first + number % most * lines_; }
  bool second_finds(const Qp& qp);
  bool second_holds(std::uint64_t number) const;
  void fill_second(const Qp& qp);
  bool holds(const Qp& qp) const { return first_.holds(qp.number) || second_holds(qp.number); }
  void left_first(std::uint64_t number);
  void left_second(std::uint64_t tag);
  void write_back(Pa to, Bytes length);

  engine::Scheduler& scheduler_;
  Clock clock_;
  QpCacheParams params_;
  Time first_latency_, second_latency_;
  Cache first_;
  std::unique_ptr<Cache> second_;
  QpPoolShare pool_;
  std::uint64_t lines_ = 1;  ///< of the pool that a context takes
  Bytes stride_;             ///< from one context to the next in host memory
  engine::Semaphore fetches_;
  std::vector<Pa> chunks_;
  FirstEvictions first_evictions_;
  SecondEvictions second_evictions_;
  Misses misses_;
  std::uint64_t write_backs_ = 0, written_bytes_ = 0;
};

}  // namespace mtsim::nic
