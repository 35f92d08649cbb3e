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
  completion_log_ = static_cast<unsigned>(std::countr_zero(limits_.completion.raw));
  read_credits_ = Credits(limits_.read_credits);
  write_credits_ = Credits(limits_.write_credits);
  write_data_ = Credits(limits_.write_data_credits.raw / credit_bytes);
  keeps_state_ = memory->keeps_state();
  bounded_reads_ = read_credits_.bounded() || limits_.completion_buffer.raw != 0;
  stops_writes_ = keeps_state_ || write_credits_.bounded() || write_data_.bounded();
  most_requests_ = limits_.tags;
  if (read_credits_.bounded()) most_requests_ = std::min(most_requests_, limits_.read_credits);
  if (limits_.completion_buffer.raw != 0)
    most_requests_ =
        std::min<std::uint32_t>(most_requests_, static_cast<std::uint32_t>(limits_.completion_buffer / limits_.max_read_request));
}

std::uint32_t DmaEngine::pieces(Pa address, Bytes length, unsigned unit_log) {
  const std::uint64_t last = address.raw + length.raw - 1;
  return static_cast<std::uint32_t>((last >> unit_log) - (address.raw >> unit_log) + 1);
}

/// How many tags the next part takes, and up to where it goes: an MRRS boundary, or the end of the burst.
[[gnu::always_inline]] inline void DmaEngine::measure(ports::ReadBurst& burst) const {
  burst.tags = std::min(pieces(burst.address, burst.length, request_log_), most_requests_);
  const std::uint64_t reach = burst.tags * limits_.max_read_request.raw - (burst.address.raw & (limits_.max_read_request.raw - 1));
  burst.asked = std::min(burst.length, Bytes(reach));
}

[[gnu::always_inline]] inline void DmaEngine::came(ports::ReadBurst& burst) {
  burst.waited += burst.request.waited;
  if (burst.waits != nullptr) note_up(*burst.waits, burst.step, burst.request);
  if (stops(burst)) [[unlikely]]
    return read_stops_.take().begin(*this, burst);
  // Completions break at aligned addresses, as the read completion boundary demands.
  link->complete(burst.purpose, {pieces(burst.address, burst.asked, completion_log_), burst.asked}, &burst.data);
  if (bounded_reads_) [[unlikely]]
    read_served(scheduler_.now(), burst.tags);
}

void DmaEngine::read(ports::ReadBurst& burst) {
  burst.since = scheduler_.now();
  burst.next = nullptr;
  burst.request.order = burst.data.order = burst.order;
  burst.request.burst = burst.data.burst = &burst;
  burst.request.arrived = [](engine::Notice& notice) {
    ports::ReadBurst& self = *static_cast<ports::ReadBurst::Leg&>(notice).burst;
    static_cast<DmaEngine*>(self.owner)->came(self);
  };
  burst.data.arrived = [](engine::Notice& notice) {
    ports::ReadBurst& self = *static_cast<ports::ReadBurst::Leg&>(notice).burst;
    self.waited += notice.waited;
    if (self.waits != nullptr) note_down(*self.waits, self.step, notice);
    static_cast<DmaEngine*>(self.owner)->landed(self);
  };
  burst.owner = this;
  ++usage_.requests;
  measure(burst);
  if (first_ == nullptr && burst.tags <= free_tags_ && (!bounded_reads_ || fits(burst))) return issue(burst);
  (first_ ? last_->next : first_) = &burst;
  last_ = &burst;
  stand_in_line(burst);
}

void DmaEngine::issue(ports::ReadBurst& burst) {
  account();
  free_tags_ -= burst.tags;
  held_[unsigned(burst.agent)] += burst.tags;
  usage_.most = std::max<std::uint64_t>(usage_.most, tags_in_use());
  if (drawn_) [[unlikely]]
    tag_row_.level(scheduler_.now(), tags_in_use());
  if (bounded_reads_) [[unlikely]] {
    read_credits_.take(burst.tags);
    bytes_ += burst.asked;
    most_bytes_ = std::max(most_bytes_, bytes_);
  }
  link->request(burst.agent, burst.purpose, burst.tags, stops(burst) ? Time() : memory->read_latency(burst.address), burst.request);
}

void DmaEngine::landed(ports::ReadBurst& burst) {
  if (drawn_) [[unlikely]]
    draw_part(burst);
  account();
  free_tags_ += burst.tags;
  held_[unsigned(burst.agent)] -= burst.tags;
  if (bounded_reads_) [[unlikely]]
    bytes_ -= burst.asked;
  burst.address += burst.asked;
  burst.length -= burst.asked;
  const bool over = burst.length.raw == 0;
  if (!over) {
    measure(burst);
    burst.next = first_;
    if (first_ == nullptr) last_ = &burst;
    first_ = &burst;
    stand_in_line(burst);
  }
  issue_waiting();
  if (over) burst.done(burst);
}

void DmaEngine::issue_waiting() {
  while (first_ != nullptr && first_->tags <= free_tags_ && (!bounded_reads_ || fits(*first_))) {
    ports::ReadBurst& waiting = *first_;
    first_ = waiting.next;
    const Time waited = scheduler_.now() - waiting.since;
    usage_.wait(waited);
    waiting.waited += waited;
    if (waiting.waits != nullptr) {
      const Time held = bounded_reads_ ? held_so_far() - waiting.held : Time();
      waiting.waits->add(waiting.step, ports::Cause::pcie_credits, held);
      waiting.waits->add(waiting.step, ports::Cause::tags, waited - held);
    }
    issue(waiting);
  }
  if (drawn_) [[unlikely]]
    tag_row_.level(scheduler_.now(), tags_in_use());
}

void DmaEngine::write(Pa address, Bytes length, engine::Notice* notice, ports::Posted posted) {
  ++write_usage_.requests;
  if (stops_writes_) [[unlikely]] {
    held_writes_.push_back({address, length, notice, posted, scheduler_.now()});
    if (held_writes_.size() == 1) write_held();
    return;
  }
  link->post(posted.purpose, {pieces(address, length, payload_log_), length}, memory->write_latency(address), notice);
}

// The link tells how much it still has to send; that there is room again is known at the earliest when the excess has gone.
void DmaEngine::wait_for_write_room(ports::RoomWaiter& waiter) {
  waiter.since = scheduler_.now();
  if (!held_writes_.empty()) waiter.cause = ports::Cause::pcie_credits;
  const bool alone = first_writer_ == nullptr;
  (alone ? first_writer_ : last_writer_->next) = &waiter;
  last_writer_ = &waiter;
  // While writes wait for credits, the last of them to go looks for room.
  if (alone && held_writes_.empty()) arm_room(scheduler_.now() + std::max(link->posted_backlog() - write_limit_, ps(0)) + ps(1));
}

void DmaEngine::arm_room(Time at) {
  if (room_armed_) return;
  room_armed_ = true;
  scheduler_.arm(*this, at);
}

void DmaEngine::look_for_room() {
  room_armed_ = false;
  while (first_writer_ != nullptr && held_writes_.empty()) {
    const Time backlog = link->posted_backlog();
    if (backlog >= write_limit_) return arm_room(scheduler_.now() + (backlog - write_limit_) + ps(1));
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
