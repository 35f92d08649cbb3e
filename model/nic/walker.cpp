#include "nic/walker.h"

#include <algorithm>

namespace mtsim::nic {
namespace {

/// One kind of an architecture's lines.
class Lines final : public ports::LineSource {
 public:
  Lines(const translate::Architecture& architecture, std::uint32_t kind) : architecture_(architecture), kind_(kind) {}
  translate::Content content(std::uint64_t tag) const override { return architecture_.content(kind_, tag); }

 private:
  const translate::Architecture& architecture_;
  std::uint32_t kind_;
};

}  // namespace

/// Waits for a fetch that another walk has under way.
class Walker::Merged : Waiter {
 public:
  explicit Merged(Fetch& fetch) : fetch_(fetch) {}
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    handle = waiter;
    (fetch_.first ? fetch_.last->next : fetch_.first) = this;
    fetch_.last = this;
  }
  void await_resume() const {}

 private:
  Fetch& fetch_;
};

// Not by a guard in the look-up's frame: frames of look-ups that never end outlive the Walker.
inline void Walker::list(Walking& walking) {
  walking.next = first_walk_;
  if (walking.next != nullptr) walking.next->before = &walking;
  first_walk_ = &walking;
}

inline void Walker::unlist(const Walking& walking) {
  (walking.before != nullptr ? walking.before->next : first_walk_) = walking.next;
  if (walking.next != nullptr) walking.next->before = walking.before;
}

Walker::Walker(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, std::unique_ptr<translate::Architecture> architecture,
               Settings settings)
    : sc_module(module_name),
      dma("dma"),
      caches("caches"),
      second("second"),
      scheduler_(scheduler),
      architecture_(std::move(architecture)),
      settings_(std::move(settings)),
      walks_(scheduler, settings_.walks),
      kinds_(architecture_->line_kinds().size()) {
  settings_.second_latency.resize(kinds_.size());
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    // A cache answers at an edge: a look-up takes whole cycles.
    kinds_[i].latency = settings_.clock.edge(settings_.latency[i]);
    kinds_[i].second_latency = settings_.clock.edge(settings_.second_latency[i].value_or(Time()));
    if (architecture_->line_kinds()[i].translation) kinds_[i].type = ports::AddressType::translation_request;
    if (i < settings_.pipes.size() && CachePipe::needed(*settings_.pipes[i]))
      kinds_[i].pipe = std::make_unique<CachePipe>(scheduler, settings_.clock, *settings_.pipes[i]);
    if (i < settings_.prefetch.size()) kinds_[i].prefetcher = Prefetchers::make(settings_.prefetch[i]);
  }
}

void Walker::end_of_elaboration() {
  int next = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    kinds_[i].cache = caches[static_cast<int>(i)];
    if (settings_.second_latency[i]) kinds_[i].second = second[next++];
  }
}

const translate::Content* Walker::find_second(Kind& kind, const ports::Query& query, Time& clock) {
  clock += kind.second_latency;
  kind.misses.second += kind.second_latency;
  const translate::Content* content = kind.second->find(query.step.tag);
  if (content != nullptr) kind.cache->fill(query.step.tag, *content, query.wish.pd);
  return content;
}

Walker::Fetch* Walker::in_flight(std::uint32_t kind, std::uint64_t tag) {
  for (Fetch* fetch = fetches_; fetch != nullptr; fetch = fetch->next)
    if (fetch->tag == tag && fetch->kind == kind) return fetch;
  return nullptr;
}

inline void Walker::begin_fetch(Fetch& fetch) {
  fetch.next = fetches_;
  fetches_ = &fetch;
}

[[gnu::always_inline]] inline void Walker::end_fetch(Fetch& fetch, Time asked, Key key) {
  for (Fetch** link = &fetches_;; link = &(*link)->next)
    if (*link == &fetch) {
      *link = fetch.next;
      break;
    }
  if (!fetch_rows_.empty()) [[unlikely]]
    fetch_rows_[fetch.kind].span("fetch", asked, scheduler_.now(), {{"line", fetch.tag}, {"key", key.raw}});
}

void Walker::resume_merged(Fetch& fetch) {
  for (Waiter* waiter = fetch.first; waiter != nullptr;) {
    Waiter* next = waiter->next;
    waiter->handle.resume();
    waiter = next;
  }
}

bool Walker::advance(ports::Query& query, Time& clock) {
  for (;;) {
    switch (query.step.kind) {
      case translate::Step::Kind::read: {
        Kind& kind = kinds_[query.step.line_kind];
        if (kind.pipe) [[unlikely]] {
          query.stalled = kind.pipe->closed(clock);
          if (query.stalled) return false;
          clock = enter(query, clock);
        }
        clock += kind.latency;
        const translate::Content* content = kind.cache->find(query.step.tag);
        if (content == nullptr) {
          if (kind.second != nullptr) [[unlikely]]
            content = find_second(kind, query, clock);
          if (content == nullptr) {
            if (kind.pipe && kind.pipe->blocks()) [[unlikely]]
              query.stalled = !kind.pipe->close(clock);
            return false;
          }
        } else if (kind.prefetcher && kind.cache->found_ahead()) [[unlikely]] {
          look_ahead(query, clock);
        }
        architecture_->step(query.walk, *content, query.step);
        break;
      }
      case translate::Step::Kind::judge:
        query.judged = clock;
        query.verdict = verbs::judge(query.step.grant, query.wish);
        if (query.verdict != verbs::Verdict::granted) {
          query.ready = clock;
          return true;
        }
        query.relaxed = verbs::has(query.step.grant->access, verbs::Access::relaxed_ordering);
        architecture_->step(query.walk, 0, query.step);
        if (settings_.deepest_first) [[unlikely]]
          deepen(query);
        break;
      case translate::Step::Kind::done:
        query.physical = query.step.address;
        query.length = query.step.length;
        query.ready = clock;
        return true;
      case translate::Step::Kind::fault:
        query.fault = true;
        query.judged = query.ready = clock;
        if (stuck(query)) [[unlikely]]
          stop_at(query, clock);
        return true;
    }
  }
}

void Walker::stop_at(const ports::Query& query, Time at) {
  scheduler_.request_stop();
  if (unserved_fault_) return;
  ports::UnservedFault fault;
  fault.at = at;
  fault.reason = query.step.reason;
  fault.key = query.wish.key;
  fault.address = query.address;
  fault.writes = query.walk.writes;
  fault.qpn = query.qpn;
  fault.local = query.packet == nullptr;
  if (query.wqe != nullptr) {
    fault.wr = query.wqe->wr;
    fault.opcode = query.wqe->opcode;
  }
  if (query.packet != nullptr) {
    fault.opcode = query.packet->opcode;
    fault.source_port = query.packet->source_port;
    fault.source_qpn = query.packet->source_qpn;
    fault.request = query.packet->request;
  }
  unserved_fault_ = fault;
}

bool Walker::probe(ports::Query& query, Time start) {
  ++lookups_;
  query.walk = {query.wish.key, query.address, 0, 0, verbs::writes(query.wish.access)};
  query.verdict = verbs::Verdict::granted;
  query.fault = false;
  architecture_->step(query.walk, 0, query.step);
  if (query.step.kind == translate::Step::Kind::fault) {
    // An architecture without a place for the key refuses it at once.
    query.verdict = verbs::Verdict::no_such_key;
    query.judged = query.ready = start;
    return true;
  }
  if (settings_.deepest_first) [[unlikely]]
    deepen(query);
  Time clock = start;
  const bool over = advance(query, clock);
  query.ready = clock;
  return over && !stuck(query);
}

void Walker::note_chain(std::uint32_t shape, Time span) {
  auto chain = std::find_if(chains_.begin(), chains_.end(), [shape](const Chain& c) { return c.shape == shape; });
  if (chain == chains_.end()) chain = chains_.insert(chain, Chain{shape, 0, {}, {}});
  ++chain->count;
  chain->total += span;
  chain->longest = std::max(chain->longest, span);
}

/// The query has waited from `since` up to now.
inline void Walker::note(const ports::Query& query, ports::Cause cause, Time since) const {
  if (query.waits != nullptr) query.waits->add(query.wait_step, cause, scheduler_.now() - since);
}

void Walker::deepen(ports::Query& query) const {
  translate::Walk walk = query.walk;
  translate::Step step = query.step;
  if (step.kind != translate::Step::Kind::read) return;
  for (std::uint32_t deeper = 1;; ++deeper) {
    translate::Walk further = walk;
    if (!architecture_->skip(further, deeper, step)) return;
    if (!kinds_[step.line_kind].holds(step.tag)) continue;
    query.walk = further;
    query.step = step;
  }
}

Time Walker::enter(const ports::Query& query, Time at) {
  const Time begins = kinds_[query.step.line_kind].pipe->enter(query.step.tag, at);
  if (query.waits != nullptr) query.waits->add(query.wait_step, ports::Cause::cache, begins - at);
  return begins;
}

engine::Task<Walker::Again> Walker::look_again(ports::Query& query) {
  Kind& kind = kinds_[query.step.line_kind];
  const Time since = scheduler_.now();
  co_await kind.pipe->turn().take();
  note(query, ports::Cause::cache, since);
  Time clock = enter(query, settings_.clock.edge(scheduler_.now())) + kind.latency;
  const translate::Content* content = kind.cache->find(query.step.tag);
  if (content == nullptr && kind.second != nullptr) content = find_second(kind, query, clock);
  if (content == nullptr) {
    kind.pipe->keep(clock);
    co_await engine::Until(scheduler_, clock, query.order);
    co_return Again::missing;
  }
  architecture_->step(query.walk, *content, query.step);
  kind.pipe->turn().give();
  const bool over = advance(query, clock);
  query.ready = clock;
  if (stuck(query)) [[unlikely]]
    co_await std::suspend_always{};
  co_return over ? Again::over : Again::found;
}

// After a probe that missed: query.step is the read that missed and query.ready the time at which that is known.
engine::Task<int> Walker::walk(ports::Query& query) {
  if (stuck(query)) [[unlikely]]
    co_await std::suspend_always{};
  bool holds_place = false;
  const Time begin = query.ready;
  std::uint32_t shape = 0;
  unsigned lines = 0;
  most_walking_ = std::max(most_walking_, ++walking_);
  Walking listed;
  listed.query = &query;
  list(listed);
  for (;;) {
    co_await engine::Until(scheduler_, query.ready, query.order);
    const std::uint32_t kind = query.step.line_kind;
    const Time since = scheduler_.now();
    Kind& of = kinds_[kind];
    // A cache that stalls on a miss fetches one line at a time: that needs no place among the walks, and waits for none.
    const bool stalls = of.pipe && of.pipe->blocks();
    if (stalls && query.stalled) [[unlikely]] {
      const Again again = co_await look_again(query);
      if (again == Again::over) break;
      if (again == Again::found) continue;
    }
    const Time missed = scheduler_.now();
    Misses& misses = of.misses;
    ++misses.count;
    if (walk_row_) [[unlikely]]
      miss_rows_[kind].level(since, misses.count);
    if (lines != Chain::most_lines) shape |= (kind + 1) << (4 * lines++);
    if (Fetch* fetch = in_flight(kind, query.step.tag)) {
      ++misses.merged;
      listed.state = "another look-up's fetch of";
      co_await Merged(*fetch);
      note(query, ports::Cause::merged, missed);
    } else {
      bool waits = false;
      if (!holds_place && !stalls) {
        waits = walks_.in_use() == walks_.places() || walks_.has_waiters();
        listed.state = "a walk slot, to fetch";
        co_await walks_.take();
        holds_place = true;
        note(query, ports::Cause::walk_slot, missed);
      }
      const Time asked = scheduler_.now();
      // While this one waited for its place another walk may have fetched the line, or begun to.
      if (Fetch* other = waits ? in_flight(kind, query.step.tag) : nullptr) {
        ++misses.merged;
        listed.state = "another look-up's fetch of";
        co_await Merged(*other);
        note(query, ports::Cause::merged, asked);
      } else if (!of.holds(query.step.tag)) {
        Fetch own{kind, query.step.tag, nullptr, nullptr, nullptr};
        begin_fetch(own);
        listed.state = "its own fetch of";
        ports::DmaRead read(*dma.operator->(), query.step.address, architecture_->line_kinds()[kind].line, ports::Agent::tables,
                            query.order, ports::Purpose::tables, of.type);
        read.note_in(query.waits, query.wait_step);
        read.start();
        if (of.prefetcher) look_ahead(query, asked);
        co_await read;
        note(query, ports::Cause::fetch, asked + read.waited);
        end_fetch(own, asked, query.wish.key);
        const translate::Content content = architecture_->content_for(query.wish.key, kind, own.tag);
        of.cache->fill(own.tag, content, query.wish.pd);
        if (of.second != nullptr) of.second->fill(own.tag, content, query.wish.pd);
        resume_merged(own);
      }
    }
    if (stalls) [[unlikely]]
      of.pipe->turn().give();
    const Time waited = scheduler_.now() - since;
    misses.total += waited;
    misses.longest = std::max(misses.longest, waited);
    // The line is handed to the look-up as it came, whether or not the cache keeps it.
    architecture_->step(query.walk, architecture_->content_for(query.wish.key, kind, query.step.tag), query.step);
    Time clock = settings_.clock.edge(scheduler_.now());
    const bool over = advance(query, clock);
    query.ready = clock;
    if (stuck(query)) [[unlikely]]
      co_await std::suspend_always{};
    if (over) break;
  }
  if (walk_row_) [[unlikely]]
    walk_row_.span("walk", begin, query.ready, {{"key", query.wish.key.raw}, {"address", query.address.raw}});
  --walking_;
  unlist(listed);
  note_chain(shape, query.ready - begin);
  if (holds_place) walks_.give();
  co_return 0;
}

void Walker::look_ahead(const ports::Query& query, Time at) {
  const std::uint32_t kind = query.step.line_kind;
  const std::optional<std::uint64_t> tag = kinds_[kind].prefetcher->ahead(query.wish.key, query.step.tag);
  if (!tag || *tag >= architecture_->lines(kind)) return;
  const std::uint64_t line = architecture_->line_kinds()[kind].line.raw;
  flows_.adopt(fetch_ahead(kind, *tag, Pa(query.step.address.raw + (*tag - query.step.tag) * line), query, at));
}

// What the look-up that occasions it has of its own (its key, its protection domain, its order) stands in `query`, a copy.
engine::Flow Walker::fetch_ahead(std::uint32_t kind, std::uint64_t tag, Pa address, ports::Query query, Time at) {
  co_await engine::Until(scheduler_, at, query.order);
  Kind& of = kinds_[kind];
  if (of.holds(tag) || in_flight(kind, tag) != nullptr) co_return;
  if (walks_.in_use() == walks_.places() || !dma->has_tag()) {
    ++of.ahead.left_out;
    co_return;
  }
  co_await walks_.take();
  const Time asked = scheduler_.now();
  Fetch own{kind, tag, nullptr, nullptr, nullptr};
  begin_fetch(own);
  co_await ports::DmaRead(*dma.operator->(), address, architecture_->line_kinds()[kind].line, ports::Agent::tables, query.order);
  end_fetch(own, asked, query.wish.key);
  const translate::Content content = architecture_->content(kind, tag);
  // Somebody has come to wait for it: then it is no longer ahead of anybody.
  if (own.first != nullptr) {
    ++of.ahead.late;
    of.cache->fill(tag, content, query.wish.pd);
  } else {
    of.cache->fill_ahead(tag, content, query.wish.pd);
  }
  if (of.second != nullptr) of.second->fill(tag, content, query.wish.pd);
  resume_merged(own);
  walks_.give();
}

void Walker::draw(Timeline& timeline, const std::string& process) {
  walk_row_ = TimelineRow(timeline, process, "NIC walks (look-ups that miss)", Timeline::Kind::overlapping);
  walks_.draw(TimelineRow(timeline, process, "NIC walk slots in_use", Timeline::Kind::level),
              TimelineRow(timeline, process, "NIC look-ups without_slot", Timeline::Kind::level));
  for (const translate::LineKind& kind : architecture_->line_kinds())
    miss_rows_.emplace_back(timeline, process, "NIC " + kind.name + " lines missed", Timeline::Kind::level);
  for (const translate::LineKind& kind : architecture_->line_kinds())
    fetch_rows_.emplace_back(timeline, process, "NIC fetches of " + kind.name + " lines", Timeline::Kind::overlapping);
}

// Caches look at the lines' new content, which is there once the whole change is.
void Walker::commit(const translate::TableWrites& writes) {
  architecture_->commit(writes, *this);
  for (const Changed& changed : changed_) {
    const Lines table(*architecture_, changed.kind);
    const Kind& of = kinds_[changed.kind];
    of.cache->written(changed.first, changed.count, table);
    if (of.second != nullptr) of.second->written(changed.first, changed.count, table);
  }
  changed_.clear();
}

void Walker::lines(std::uint32_t line_kind, std::uint64_t first_tag, std::uint64_t count) {
  changed_.push_back({line_kind, first_tag, count});
}

}  // namespace mtsim::nic
