#include "nic/walker.h"

#include <algorithm>

namespace mtsim::nic {

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

Walker::Walker(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, std::unique_ptr<translate::Architecture> architecture,
               Settings settings)
    : sc_module(module_name),
      dma("dma"),
      caches("caches"),
      scheduler_(scheduler),
      architecture_(std::move(architecture)),
      settings_(std::move(settings)),
      walks_(scheduler, settings_.walks),
      misses_(architecture_->line_kinds().size()) {
  // A cache answers at an edge: a look-up takes whole cycles.
  for (Time& latency : settings_.latency) latency = settings_.clock.edge(latency);
}

void Walker::end_of_elaboration() {
  for (int i = 0; i < caches.size(); ++i) lines_.push_back(caches[i]);
}

Walker::Fetch* Walker::in_flight(std::uint32_t kind, std::uint64_t tag) {
  for (Fetch* fetch = fetches_; fetch != nullptr; fetch = fetch->next)
    if (fetch->tag == tag && fetch->kind == kind) return fetch;
  return nullptr;
}

bool Walker::advance(ports::Query& query, Time& clock) {
  for (;;) {
    switch (query.step.kind) {
      case translate::Step::Kind::read: {
        clock += settings_.latency[query.step.line_kind];
        const translate::Content* content = lines_[query.step.line_kind]->find(query.step.tag);
        if (content == nullptr) return false;
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
        architecture_->step(query.walk, 0, query.step);
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
  Time clock = start;
  const bool over = advance(query, clock);
  query.ready = clock;
  return over && !stuck(query);
}

// After a probe that missed: query.step is the read that missed and query.ready the time at which that is known.
engine::Task<int> Walker::walk(ports::Query& query) {
  if (stuck(query)) [[unlikely]]
    co_await std::suspend_always{};
  bool holds_place = false;
  const Time begin = query.ready;
  for (;;) {
    co_await engine::Until(scheduler_, query.ready, query.order);
    const std::uint32_t kind = query.step.line_kind;
    const Time since = scheduler_.now();
    Misses& misses = misses_[kind];
    ++misses.count;
    if (Fetch* fetch = in_flight(kind, query.step.tag)) {
      ++misses.merged;
      co_await Merged(*fetch);
    } else {
      if (!holds_place) {
        co_await walks_.take();
        holds_place = true;
      }
      // While this one waited for its place another walk may have fetched the line, or begun to.
      if (Fetch* other = in_flight(kind, query.step.tag)) {
        ++misses.merged;
        co_await Merged(*other);
      } else if (!lines_[kind]->holds(query.step.tag)) {
        const Time asked = scheduler_.now();
        Fetch own{kind, query.step.tag, nullptr, nullptr, fetches_};
        fetches_ = &own;
        co_await ports::DmaRead(*dma.operator->(), query.step.address, architecture_->line_kinds()[kind].line, ports::Agent::tables,
                                query.order);
        for (Fetch** link = &fetches_;; link = &(*link)->next)
          if (*link == &own) {
            *link = own.next;
            break;
          }
        if (!fetch_rows_.empty()) [[unlikely]]
          fetch_rows_[kind].span("fetch", asked, scheduler_.now(), {{"line", own.tag}, {"key", query.wish.key.raw}});
        lines_[kind]->fill(own.tag, architecture_->content(kind, own.tag));
        for (Waiter* waiter = own.first; waiter != nullptr;) {
          Waiter* next = waiter->next;
          waiter->handle.resume();
          waiter = next;
        }
      }
    }
    const Time waited = scheduler_.now() - since;
    misses.total += waited;
    misses.longest = std::max(misses.longest, waited);
    // The line is handed to the look-up as it came, whether or not the cache keeps it.
    architecture_->step(query.walk, architecture_->content(kind, query.step.tag), query.step);
    Time clock = settings_.clock.edge(scheduler_.now());
    const bool over = advance(query, clock);
    query.ready = clock;
    if (stuck(query)) [[unlikely]]
      co_await std::suspend_always{};
    if (over) break;
  }
  if (walk_row_) [[unlikely]]
    walk_row_.span("walk", begin, query.ready, {{"key", query.wish.key.raw}, {"address", query.address.raw}});
  if (holds_place) walks_.give();
  co_return 0;
}

void Walker::draw(Timeline& timeline, const std::string& process) {
  walk_row_ = TimelineRow(timeline, process, "NIC walks (look-ups that miss)", Timeline::Kind::overlapping);
  for (const translate::LineKind& kind : architecture_->line_kinds())
    fetch_rows_.emplace_back(timeline, process, "NIC fetches of " + kind.name + " lines", Timeline::Kind::overlapping);
}

void Walker::commit(const translate::TableWrites& writes) { architecture_->commit(writes, *this); }

void Walker::lines(std::uint32_t line_kind, std::uint64_t first_tag, std::uint64_t count) { lines_[line_kind]->drop(first_tag, count); }

}  // namespace mtsim::nic
