// The Walker: carries out look-ups step by step as the translation architecture says, from the line caches where it can and over PCIe
// where it must. Walks in flight are bounded; a line is fetched once for all that wait for it.
//
// Rules: a look-up probes every tag on its way at the edge on which it enters, since the pipe takes one look-up a cycle and never stalls
// on a hit; a line's content is the table's when its fetch completes; when it does, those who merged with it go on first, in order of
// arrival, then the walk that fetched it.
#pragma once

#include <optional>
#include <vector>

#include "base/parameter.h"
#include "base/timeline.h"
#include "engine/scheduler.h"
#include "engine/semaphore.h"
#include "ports/dma.h"
#include "ports/line_cache.h"
#include "ports/nic.h"
#include "ports/translator.h"

namespace mtsim::nic {

class Walker : public sc_core::sc_module, public ports::Translator, public ports::Tables, private translate::Architecture::Stale {
 public:
  sc_core::sc_port<ports::Dma> dma;
  /// One for each kind of line of the architecture, in its order.
  sc_core::sc_port<ports::LineCache, 0> caches;

  struct Settings {
    Clock clock;
    std::uint32_t walks = 1;    ///< in flight at most
    std::vector<Time> latency;  ///< of a look-up in each cache
  };
  Walker(sc_core::sc_module_name name, engine::Scheduler& scheduler, std::unique_ptr<translate::Architecture> architecture,
         Settings settings);

  bool probe(ports::Query& query, Time start) override;
  engine::Task<int> walk(ports::Query& query) override;
  translate::Architecture& architecture() override { return *architecture_; }
  void commit(const translate::TableWrites& writes) override;

  /// Misses of one cache: how long a look-up that missed waited for its line.
  struct Misses {
    std::uint64_t count = 0, merged = 0;
    Time total, longest;
  };
  const Misses& misses(std::uint32_t line_kind) const { return misses_[line_kind]; }
  const engine::Semaphore& walks() const { return walks_; }
  /// The first look-up that could not be ended: the run has been asked to stop.
  const std::optional<ports::UnservedFault>& unserved_fault() const { return unserved_fault_; }
  /// Draws look-ups that miss, and the fetches of lines, from now on.
  void draw(Timeline& timeline, const std::string& process);

 private:
  void end_of_elaboration() override;
  struct Waiter {
    std::coroutine_handle<> handle;
    Waiter* next = nullptr;
  };
  struct Fetch {
    std::uint32_t kind = 0;
    std::uint64_t tag = 0;
    Waiter* first = nullptr;
    Waiter* last = nullptr;
    Fetch* next = nullptr;
  };
  class Merged;

  /// Judges and steps on until a line is missing or the look-up is over; true when it is over.
  bool advance(ports::Query& query, Time& clock);
  Fetch* in_flight(std::uint32_t kind, std::uint64_t tag);
  void stop_at(const ports::Query& query, Time at);
  /// Whether it waits for a page fault to be served, which nobody does.
  static bool stuck(const ports::Query& query) { return query.fault && query.step.reason != translate::Fault::no_translation; }
  void lines(std::uint32_t line_kind, std::uint64_t first_tag, std::uint64_t count) override;

  engine::Scheduler& scheduler_;
  std::unique_ptr<translate::Architecture> architecture_;
  Settings settings_;
  engine::Semaphore walks_;
  Fetch* fetches_ = nullptr;
  std::vector<Misses> misses_;
  std::vector<ports::LineCache*> lines_;  ///< what `caches` is bound to
  TimelineRow walk_row_;
  std::optional<ports::UnservedFault> unserved_fault_;
  std::vector<TimelineRow> fetch_rows_;  ///< by kind of line; empty: nobody draws
};

}  // namespace mtsim::nic
