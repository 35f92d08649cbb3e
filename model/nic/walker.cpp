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
        if (query.context_only) [[unlikely]] {
          query.ready = clock;
          return true;
        }
        query.verdict = query.through_window ? judge_region(query) : verbs::judge(query.step.grant, query.wish);
        if (query.verdict != verbs::Verdict::granted) {
          query.ready = clock;
          return true;
        }
        if (verbs::is_window(*query.step.grant)) [[unlikely]] {
          go_through(query);
          break;
        }
        query.relaxed = verbs::has(query.step.grant->access, verbs::Access::relaxed_ordering);
        query.identity = query.step.grant->identity;
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

/// A memory window has granted the wish: the look-up goes on with the key of the MR that it opens, at the addresses of that.
void Walker::go_through(ports::Query& query) {
  query.through_window = true;
  query.region = query.step.grant->region;
  query.region_pd = query.step.grant->region_pd;
  query.shift = query.step.grant->shift;
  query.walk = {query.region, Iova(query.address.raw + query.shift), 0, 0, query.walk.writes};
  architecture_->step(query.walk, 0, query.step);
}

verbs::Verdict Walker::judge_region(const ports::Query& query) {
  return verbs::judge(query.step.grant, verbs::through_window(query.region, query.region_pd, query.shift, query.wish));
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
  query.fault = query.through_window = false;
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
  if (writes.window.raw != 0) [[unlikely]]
    note_window(writes);
  architecture_->commit(writes, *this);
  for (const Changed& changed : changed_) {
    const Lines table(*architecture_, changed.kind);
    const Kind& of = kinds_[changed.kind];
    of.cache->written(changed.first, changed.count, table);
    if (of.second != nullptr) of.second->written(changed.first, changed.count, table);
  }
  changed_.clear();
}

void Walker::note_window(const translate::TableWrites& writes) {
  Key& opens = opens_[writes.window.index()];
  if (opens.raw != 0 && --bound_[opens.raw] == 0) bound_.erase(opens.raw);
  opens = writes.opens;
  if (opens.raw != 0) ++bound_[opens.raw];
}

std::uint64_t Walker::windows_of(Key region) const {
  const auto found = bound_.find(region.raw);
  return found == bound_.end() ? 0 : found->second;
}

void Walker::lines(std::uint32_t line_kind, std::uint64_t first_tag, std::uint64_t count) {
  changed_.push_back({line_kind, first_tag, count});
}

}  // namespace mtsim::nic
