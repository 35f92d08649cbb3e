#include "nic/dma_stops.h"

#include <algorithm>

#include "nic/dma_engine.h"

namespace mtsim::nic {

void ReadStop::begin(DmaEngine& engine, ports::ReadBurst& burst) {
  engine_ = &engine;
  burst_ = &burst;
  order = burst.order;
  fire = [](engine::Timer& timer) { static_cast<ReadStop&>(timer).go_on(); };
  pieces_.clear();
  sent_ = 0;
  const Time now = engine.scheduler_.now();
  if (burst.type == ports::AddressType::translation_request) ask_translation(now);
  else ask(now);
  engine.scheduler_.arm(*this, pieces_.front().at);
}

void ReadStop::add(Pa address, Bytes length, Time at) {
  // What is there no later than what comes before it leaves with that.
  if (pieces_.empty() || at > pieces_.back().at) pieces_.push_back({address, length, at});
  else pieces_.back().length += length;
}

void ReadStop::ask(Time now) {
  ports::MemoryAccess access;
  access.device = engine_->device_;
  access.address = burst_->address;
  access.length = burst_->asked;
  access.translated = engine_->translated(burst_->type, burst_->purpose);
  access.just_written = burst_->agent == ports::Agent::control;
  while (access.length.raw != 0) {
    const auto served = engine_->memory->read(access, now);
    add(access.address, served.length, served.at);
    access.address += served.length;
    access.length -= served.length;
  }
  if (engine_->bounded_reads_) engine_->read_served(pieces_.back().at, burst_->tags);
}

void ReadStop::ask_translation(Time now) {
  burst_->translation = engine_->memory->translate(engine_->device_, burst_->address, now);
  add(burst_->address, burst_->asked, burst_->translation.at);
  if (engine_->bounded_reads_) engine_->read_served(burst_->translation.at, burst_->tags);
}

void ReadStop::go_on() {
  DmaEngine& engine = *engine_;
  const Piece& piece = pieces_[sent_++];
  const bool last = sent_ == pieces_.size();
  engine.link->complete(burst_->purpose, {DmaEngine::pieces(piece.address, piece.length, engine.completion_log_), piece.length},
                        last ? &burst_->data : nullptr);
  if (last) engine.read_stops_.give(*this);
  else engine.scheduler_.arm(*this, pieces_[sent_].at);
}

void WriteStop::begin(DmaEngine& engine, const Part& part) {
  engine_ = &engine;
  part_ = part;
  first_.stop = last_.stop = this;
  first_.order = last_.order = order = part.notice != nullptr ? part.notice->order : engine.order;
  first_.arrived = [](engine::Notice& notice) { static_cast<Leg&>(notice).stop->first_came(); };
  last_.arrived = [](engine::Notice& notice) { static_cast<Leg&>(notice).stop->last_came(); };
  fire = [](engine::Timer& timer) { static_cast<WriteStop&>(timer).seen(); };
  const Bytes unit = engine.limits_.max_payload;
  const Bytes head = std::min(part.length, unit - Bytes(part.address.raw & (unit.raw - 1)));
  engine.link->post(part.posted.purpose, {1, head}, Time(), &first_);
  if (part.tlps > 1) engine.link->post(part.posted.purpose, {part.tlps - 1, part.length - head}, Time(), &last_);
}

void WriteStop::first_came() {
  ports::MemoryAccess access;
  access.device = engine_->device_;
  access.address = part_.address;
  access.length = part_.length;
  access.translated = engine_->translated(part_.posted.type, part_.posted.purpose);
  access.relaxed = engine_->relaxes(part_.posted);
  effect_ = engine_->memory->write(access, engine_->scheduler_.now());
  if (part_.tlps == 1) last_came();
}

void WriteStop::last_came() {
  DmaEngine& engine = *engine_;
  effect_ = std::max(effect_, engine.scheduler_.now());
  const Time back = effect_ + engine.limits_.credit_return;
  engine.write_credits_.give_at(back, part_.tlps);
  engine.write_data_.give_at(back, part_.data_credits);
  if (!engine.held_writes_.empty()) engine.wake_for_credits(back);
  if (part_.notice == nullptr) return end();
  engine.scheduler_.arm(*this, effect_ + engine.memory->write_latency(part_.address));
}

void WriteStop::seen() {
  engine::Notice& notice = *part_.notice;
  notice.waited = first_.waited;
  notice.behind = first_.behind;
  end();
  notice.arrived(notice);
}

void WriteStop::end() { engine_->write_stops_.give(*this); }

void CreditReturn::begin(DmaEngine& engine, Time at) {
  engine_ = &engine;
  order = engine.order;
  fire = [](engine::Timer& timer) {
    auto& self = static_cast<CreditReturn&>(timer);
    DmaEngine& of = *self.engine_;
    if (self.when == of.next_look_) of.next_look_ = Time(INT64_MAX);
    of.credit_returns_.give(self);
    of.look_for_credits();
  };
  engine.scheduler_.arm(*this, at);
}

/// Whether credits and completion buffer have room for the next part of the first read in line. If not, what frees them wakes it.
bool DmaEngine::fits(const ports::ReadBurst& burst) {
  const Time now = scheduler_.now();
  const bool room = limits_.completion_buffer.raw == 0 || bytes_ + burst.asked <= limits_.completion_buffer;
  const bool credits = read_credits_.has(burst.tags, now);
  if (room && credits) {
    if (read_held_ >= Time()) {
      credit_usage_.wait(now - read_held_);
      held_before_ += now - read_held_;
    }
    read_held_ = Time(-1);
    return true;
  }
  if (read_held_ < Time()) read_held_ = now;
  if (!credits && read_credits_.any_due()) wake_for_credits(read_credits_.next_due());
  return false;
}

void DmaEngine::stand_in_line(ports::ReadBurst& burst) const {
  burst.since = scheduler_.now();
  if (bounded_reads_) burst.held = held_so_far();
}

/// For how long whoever was first in line has waited for credits: a read waits for them while the first does, and else for tags.
Time DmaEngine::held_so_far() const { return read_held_ >= Time() ? held_before_ + (scheduler_.now() - read_held_) : held_before_; }

void DmaEngine::read_served(Time at, std::uint32_t requests) {
  read_credits_.give_at(at + limits_.credit_return, requests);
  if (read_held_ >= Time() && read_credits_.any_due()) wake_for_credits(read_credits_.next_due());
}

void DmaEngine::wake_for_credits(Time at) {
  at = std::max(at, scheduler_.now());
  if (next_look_ <= at) return;
  next_look_ = at;
  credit_returns_.take().begin(*this, at);
}

void DmaEngine::look_for_credits() {
  issue_waiting();
  write_held();
}

/// Sends writes on, in order, as far as there are credits.
void DmaEngine::write_held() {
  const Time now = scheduler_.now();
  while (!held_writes_.empty()) {
    HeldWrite& first = held_writes_.front();
    HeldWrite part = first;
    const std::uint64_t unit = limits_.max_payload.raw;
    // A part ends at an MPS boundary, or with the write.
    std::uint64_t tlps = pieces(first.address, first.length, payload_log_);
    if (write_credits_.bounded()) tlps = std::min(tlps, write_credits_.all());
    if (write_data_.bounded()) tlps = std::min(tlps, write_data_.all() * credit_bytes / unit);
    part.length = std::min(first.length, Bytes(tlps * unit - (first.address.raw & (unit - 1))));
    const std::uint64_t data = ceil_div(part.length.raw, credit_bytes);
    if (!write_credits_.has(tlps, now) || !write_data_.has(data, now)) {
      for (Credits* credits : {&write_credits_, &write_data_})
        if (credits->any_due()) wake_for_credits(credits->next_due());
      return;
    }
    write_credits_.take(tlps);
    write_data_.take(data);
    first.address += part.length;
    first.length -= part.length;
    const bool last = first.length.raw == 0;
    if (last) {
      credit_usage_.wait(now - part.since);
      if (part.posted.held != nullptr) *part.posted.held = now - part.since;
      held_writes_.pop_front();
    }
    write_stops_.take().begin(
        *this, {part.address, part.length, static_cast<std::uint32_t>(tlps), data, last ? part.notice : nullptr, part.posted});
  }
  if (first_writer_ != nullptr) arm_room(now + ps(1));
}

}  // namespace mtsim::nic
