// What becomes of look-ups that miss, and of the lines that are fetched for them or ahead of anybody.
#include <algorithm>

#include "nic/walker.h"

namespace mtsim::nic {

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
      co_await fetch->waiters.wait();
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
        co_await other->waiters.wait();
        note(query, ports::Cause::merged, asked);
      } else if (!of.holds(query.step.tag)) {
        Fetch own{kind, query.step.tag, {}, nullptr};
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
        own.waiters.resume_all();
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
  Fetch own{kind, tag, {}, nullptr};
  begin_fetch(own);
  co_await ports::DmaRead(*dma.operator->(), address, architecture_->line_kinds()[kind].line, ports::Agent::tables, query.order);
  end_fetch(own, asked, query.wish.key);
  const translate::Content content = architecture_->content(kind, tag);
  // Somebody has come to wait for it: then it is no longer ahead of anybody.
  if (!own.waiters.empty()) {
    ++of.ahead.late;
    of.cache->fill(tag, content, query.wish.pd);
  } else {
    of.cache->fill_ahead(tag, content, query.wish.pd);
  }
  if (of.second != nullptr) of.second->fill(tag, content, query.wish.pd);
  own.waiters.resume_all();
  walks_.give();
}

}  // namespace mtsim::nic
