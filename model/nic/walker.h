// The Walker: carries out look-ups step by step as the translation architecture says, from the line caches where it can and over PCIe
// where it must. Walks in flight are bounded; a line is fetched once for all that wait for it.
//
// Rules: a look-up probes every tag on its way at the edge on which it enters, since the pipe takes one look-up a cycle and never stalls
// on a hit (unless a cache has a CachePipe); a line's content is the table's when its fetch completes; when it does, those who merged with
// it go on first, in order of arrival, then the walk that fetched it.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/parameter.h"
#include "base/timeline.h"
#include "engine/flow.h"
#include "engine/scheduler.h"
#include "engine/semaphore.h"
#include "engine/waiters.h"
#include "nic/cache_pipe.h"
#include "nic/prefetcher.h"
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
  /// A second level for each kind that has one, in the same order.
  sc_core::sc_port<ports::LineCache, 0, sc_core::SC_ZERO_OR_MORE_BOUND> second;

  struct Settings {
    Clock clock;
    std::uint32_t walks = 1;    ///< in flight at most
    std::vector<Time> latency;  ///< of a look-up in each cache
    // By kind of line, as far as there are any.
    std::vector<std::optional<Time>> second_latency;  ///< of kinds with a second level
    std::vector<std::string> prefetch;                ///< registered names
    std::vector<const CacheParams*> pipes;            ///< whose banks, ports and stalls hold; read in the constructor only
    bool deepest_first = false;                       ///< of several lines that a look-up needs one after the other
  };
  Walker(sc_core::sc_module_name name, engine::Scheduler& scheduler, std::unique_ptr<translate::Architecture> architecture,
         Settings settings);

  bool probe(ports::Query& query, Time start) override;
  engine::Task<int> walk(ports::Query& query) override;
  translate::Architecture& architecture() override { return *architecture_; }
  void commit(const translate::TableWrites& writes) override;
  std::uint64_t windows_of(Key region) const override;

  /// Look-ups of one kind of line that had to wait for a fetch, and how long.
  struct Misses {
    std::uint64_t count = 0, merged = 0;
    Time total, longest;
    Time second;  ///< spent on look-ups in the second level, found there or not
  };
  const Misses& misses(std::uint32_t line_kind) const { return kinds_[line_kind].misses; }
  /// Null: its look-ups do not wait for each other.
  const CachePipe* pipe(std::uint32_t line_kind) const { return kinds_[line_kind].pipe.get(); }
  const engine::Semaphore& walks() const { return walks_; }
  /// The first look-up that could not be ended: the run has been asked to stop.
  const std::optional<ports::UnservedFault>& unserved_fault() const { return unserved_fault_; }
  /// Lines of a kind that were to be fetched ahead: those that came too late to be there when a look-up asked, and those left out because
  /// no place or no tag was free.
  struct Ahead {
    std::uint64_t late = 0, left_out = 0;
  };
  const Ahead& ahead(std::uint32_t line_kind) const { return kinds_[line_kind].ahead; }
  /// Look-ups that missed the same kinds of line, one after the other: each had to wait for the line before it could ask for the next.
  struct Chain {
    std::uint32_t shape = 0;  ///< four bits for each line: its kind and one, the first lowest
    std::uint64_t count = 0;
    Time total, longest;                       ///< from the look-up that missed first to the answer
    static constexpr unsigned most_lines = 8;  ///< further ones are not told apart
  };
  const std::vector<Chain>& chains() const { return chains_; }
  std::string kind_name(std::uint32_t line_kind) const { return architecture_->line_kinds()[line_kind].name; }
  /// Look-ups in all, and most that waited for lines at one time.
  std::uint64_t lookups() const { return lookups_; }
  std::uint64_t most_walking() const { return most_walking_; }
  /// Look-ups that wait for a line now.
  std::uint64_t walking() const { return walking_; }
  /// A line that is being fetched, for those who wait for it and for who asked first, or ahead of anybody.
  struct Fetch {
    std::uint32_t kind = 0;
    std::uint64_t tag = 0;
    engine::Waiters waiters;
    Fetch* next = nullptr;
  };
  /// The youngest; null: none. `next` leads on.
  const Fetch* first_fetch() const { return fetches_; }
  /// A look-up that waits for a line, and the next one under way. Null: none.
  struct Walking {
    const ports::Query* query = nullptr;
    const char* state = "";  ///< what it waits for
    Walking* before = nullptr;
    Walking* next = nullptr;
  };
  const Walking* first_walking() const { return first_walk_; }
  /// Draws look-ups that miss, and the fetches of lines, from now on.
  void draw(Timeline& timeline, const std::string& process);

 private:
  void end_of_elaboration() override;
  /// A range of lines that a commit has changed.
  struct Changed {
    std::uint32_t kind = 0;
    std::uint64_t first = 0, count = 0;
  };

  /// Judges and steps on until a line is missing or the look-up is over; true when it is over.
  bool advance(ports::Query& query, Time& clock);
  /// A kind of line: where it is looked up, and what became of that.
  struct Kind {
    Time latency, second_latency;
    ports::LineCache* cache = nullptr;                           ///< what `caches` is bound to
    ports::LineCache* second = nullptr;                          ///< null: no second level
    ports::AddressType type = ports::AddressType::untranslated;  ///< of a fetch
    std::unique_ptr<CachePipe> pipe;                             ///< null: look-ups do not wait for each other
    std::unique_ptr<Prefetcher> prefetcher;
    Misses misses;
    Ahead ahead;
    bool holds(std::uint64_t tag) const { return cache->holds(tag) || (second != nullptr && second->holds(tag)); }
  };
  /// Looks the line that the query asks for up in the second level and brings it to the first.
  static const translate::Content* find_second(Kind& kind, const ports::Query& query, Time& clock);
  /// Goes on with the last of the lines needed one after the other that a cache has.
  void deepen(ports::Query& query) const;
  /// When the look-up of the query's line begins that arrives at its cache, which has a CachePipe, at `at`.
  Time enter(const ports::Query& query, Time at);
  enum class Again : std::uint8_t { missing, found, over };
  /// Waits for a blocking cache to take the look-up. When the line is missing the turn is the look-up's, until it has the line.
  engine::Task<Again> look_again(ports::Query& query);
  Fetch* in_flight(std::uint32_t kind, std::uint64_t tag);
  void stop_at(const ports::Query& query, Time at);
  void list(Walking& walking);
  void unlist(const Walking& walking);
  void note_chain(std::uint32_t shape, Time span);
  void note(const ports::Query& query, ports::Cause cause, Time since) const;
  /// Whether it waits for a page fault to be served, which nobody does.
  static bool stuck(const ports::Query& query) { return query.fault && query.step.reason != translate::Fault::no_translation; }
  void go_through(ports::Query& query);
  static verbs::Verdict judge_region(const ports::Query& query);
  void note_window(const translate::TableWrites& writes);
  void begin_fetch(Fetch& fetch);
  void end_fetch(Fetch& fetch, Time asked, Key key);
  /// Asks the prefetcher what is to be fetched ahead after the query's read, and sees to it from `at` on.
  void look_ahead(const ports::Query& query, Time at);
  engine::Flow fetch_ahead(std::uint32_t kind, std::uint64_t tag, Pa address, ports::Query query, Time at);
  void lines(std::uint32_t line_kind, std::uint64_t first_tag, std::uint64_t count) override;

  engine::Scheduler& scheduler_;
  std::unique_ptr<translate::Architecture> architecture_;
  Settings settings_;
  engine::Semaphore walks_;
  Fetch* fetches_ = nullptr;
  Walking* first_walk_ = nullptr;  ///< the youngest
  std::vector<Kind> kinds_;
  std::vector<Changed> changed_;                            ///< by the commit under way
  std::unordered_map<std::uint32_t, Key> opens_;            ///< by index of a memory window's key: the MR that it is bound to
  std::unordered_map<std::uint32_t, std::uint64_t> bound_;  ///< by lkey of an MR: the windows that are bound to it
  engine::Flows flows_;
  std::vector<Chain> chains_;
  std::uint64_t lookups_ = 0, walking_ = 0, most_walking_ = 0;
  TimelineRow walk_row_;
  std::vector<TimelineRow> miss_rows_;  ///< by kind of line
  std::optional<ports::UnservedFault> unserved_fault_;
  std::vector<TimelineRow> fetch_rows_;  ///< by kind of line; empty: nobody draws
};

}  // namespace mtsim::nic
