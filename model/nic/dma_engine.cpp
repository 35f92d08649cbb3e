#include "nic/dma_engine.h"

#include <algorithm>
#include <bit>

namespace mtsim::nic {

DmaEngine::DmaEngine(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, Bytes write_buffer, engine::Order by)
    : sc_module(module_name), link("link"), memory("memory"), scheduler_(scheduler), write_buffer_(write_buffer) {
  order = by;
  fire = [](engine::Timer& timer) { static_cast<DmaEngine&>(timer).look_for_room(); };
}

void DmaEngine::end_of_elaboration() {
  limits_ = link->limits();
  free_tags_ = limits_.tags;
  write_limit_ = link->time_of(write_buffer_);
  payload_log_ = static_cast<unsigned>(std::countr_zero(limits_.max_payload.raw));
  request_log_ = static_cast<unsigned>(std::countr_zero(limits_.max_read_request.raw));
}

std::uint32_t DmaEngine::pieces(Pa address, Bytes length, unsigned unit_log) {
  const std::uint64_t last = address.raw + length.raw - 1;
  return static_cast<std::uint32_t>((last >> unit_log) - (address.raw >> unit_log) + 1);
}

void DmaEngine::read(ports::ReadBurst& burst) {
  burst.since = scheduler_.now();
  burst.asked = Bytes{};
  burst.next = nullptr;
  burst.request.order = burst.data.order = burst.order;
  burst.request.burst = burst.data.burst = &burst;
  burst.request.arrived = [](engine::Notice& notice) {
    ports::ReadBurst& self = *static_cast<ports::ReadBurst::Leg&>(notice).burst;
    auto& engine = *static_cast<DmaEngine*>(self.owner);
    // Completions break at MPS-aligned addresses, as the read completion boundary demands.
    self.waited += notice.waited;
    if (self.waits != nullptr) note_up(*self.waits, self.step, notice);
    engine.link->complete({pieces(self.address, self.asked, engine.payload_log_), self.asked}, self.data);
  };
  burst.data.arrived = [](engine::Notice& notice) {
    ports::ReadBurst& self = *static_cast<ports::ReadBurst::Leg&>(notice).burst;
    self.waited += notice.waited;
    if (self.waits != nullptr) note_down(*self.waits, self.step, notice);
    static_cast<DmaEngine*>(self.owner)->landed(self);
  };
  burst.owner = this;
  ++usage_.requests;
  burst.tags = std::min(pieces(burst.address, burst.length, request_log_), limits_.tags);
  if (first_ == nullptr && burst.tags <= free_tags_) return issue(burst);
  (first_ ? last_->next : first_) = &burst;
  last_ = &burst;
}

void DmaEngine::issue(ports::ReadBurst& burst) {
  account();
  free_tags_ -= burst.tags;
  held_[unsigned(burst.agent)] += burst.tags;
  usage_.most = std::max<std::uint64_t>(usage_.most, tags_in_use());
  if (drawn_) [[unlikely]]
    tag_row_.level(scheduler_.now(), tags_in_use());
  // The part that these tags cover ends at an MRRS boundary, or with the burst.
  const std::uint64_t reach = burst.tags * limits_.max_read_request.raw - (burst.address.raw & (limits_.max_read_request.raw - 1));
  burst.asked = std::min(burst.length, Bytes(reach));
  link->request(burst.agent, burst.tags, memory->read_latency(burst.address), burst.request);
}

void DmaEngine::landed(ports::ReadBurst& burst) {
  if (drawn_) [[unlikely]]
    draw_part(burst);
  account();
  free_tags_ += burst.tags;
  held_[unsigned(burst.agent)] -= burst.tags;
  burst.address += burst.asked;
  burst.length -= burst.asked;
  const bool over = burst.length.raw == 0;
  if (!over) {
    burst.tags = std::min(pieces(burst.address, burst.length, request_log_), limits_.tags);
    burst.next = first_;
    if (first_ == nullptr) last_ = &burst;
    first_ = &burst;
    burst.since = scheduler_.now();
  }
  while (first_ != nullptr && first_->tags <= free_tags_) {
    ports::ReadBurst& waiting = *first_;
    first_ = waiting.next;
    const Time waited = scheduler_.now() - waiting.since;
    usage_.wait(waited);
    waiting.waited += waited;
    if (waiting.waits != nullptr) waiting.waits->add(waiting.step, ports::Cause::tags, waited);
    issue(waiting);
  }
  if (drawn_) [[unlikely]]
    tag_row_.level(scheduler_.now(), tags_in_use());
  if (over) burst.done(burst);
}

void DmaEngine::write(Pa address, Bytes length, engine::Notice* notice) {
  ++write_usage_.requests;
  link->post({pieces(address, length, payload_log_), length}, memory->write_latency(address), notice);
}

// The link tells how much it still has to send; that there is room again is known at the earliest when the excess has gone.
void DmaEngine::wait_for_write_room(ports::RoomWaiter& waiter) {
  waiter.since = scheduler_.now();
  const bool alone = first_writer_ == nullptr;
  (alone ? first_writer_ : last_writer_->next) = &waiter;
  last_writer_ = &waiter;
  if (alone) scheduler_.arm(*this, scheduler_.now() + std::max(link->posted_backlog() - write_limit_, ps(0)) + ps(1));
}

void DmaEngine::look_for_room() {
  while (first_writer_ != nullptr) {
    const Time backlog = link->posted_backlog();
    if (backlog >= write_limit_) return scheduler_.arm(*this, scheduler_.now() + (backlog - write_limit_) + ps(1));
    ports::RoomWaiter& next_writer = *first_writer_;
    first_writer_ = next_writer.next;
    write_usage_.wait(scheduler_.now() - next_writer.since);
    next_writer.waiter.resume();
  }
}

void DmaEngine::draw_part(const ports::ReadBurst& burst) const {
  rows_[static_cast<unsigned>(burst.agent)].span("read", burst.since, scheduler_.now(),
                                                 {{"address", burst.address.raw}, {"bytes", burst.asked.raw}});
}

void DmaEngine::draw(Timeline& timeline, const std::string& process) {
  drawn_ = true;
  tag_row_ = TimelineRow(timeline, process, "PCIe tags in_use", Timeline::Kind::level);
  for (const auto& [agent, name] :
       {std::pair{ports::Agent::payload, "DMA reads of payload"}, std::pair{ports::Agent::tables, "DMA reads of tables"},
        std::pair{ports::Agent::control, "DMA reads of queues"}})
    rows_[static_cast<unsigned>(agent)] = TimelineRow(timeline, process, name, Timeline::Kind::overlapping);
}

void DmaEngine::account() {
  usage_.busy += Time(static_cast<std::int64_t>(tags_in_use()) * (scheduler_.now() - accounted_).raw);
  accounted_ = scheduler_.now();
}

engine::Usage DmaEngine::tag_usage() const {
  engine::Usage usage = usage_;
  usage.busy += Time(static_cast<std::int64_t>(tags_in_use()) * (scheduler_.now() - accounted_).raw);
  return usage;
}

}  // namespace mtsim::nic
