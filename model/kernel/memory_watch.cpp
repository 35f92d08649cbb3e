#include "kernel/memory_watch.h"

#include <algorithm>
#include <utility>

namespace mtsim::kernel {
namespace {

using verbs::Hazard;
using Why = ports::HazardNote::Why;

/// Byte `offset` of the range, counted on through the numbers of frames, and how many of `most` follow it there.
std::pair<std::uint64_t, std::uint64_t> place(const DmaMap& frames, std::uint64_t offset, std::uint64_t most) {
  const std::uint64_t at = frames.lead().raw + offset, in_page = at % page_bytes.raw;
  return {frames.frame(at / page_bytes.raw).first * page_bytes.raw + in_page, std::min(most, page_bytes.raw - in_page)};
}

}  // namespace

MemoryWatch::MemoryWatch(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, FramePool& frames, std::uint32_t port,
                         ports::HazardNotes* notes)
    : sc_module(module_name), scheduler_(scheduler), frames_(frames), port_(port), notes_(notes) {
  frames_.follow(&contents_);
}

MemoryWatch::~MemoryWatch() { frames_.follow(nullptr); }

void MemoryWatch::begin(std::uint32_t identity, Registration registration) { registrations_[identity] = std::move(registration); }

void MemoryWatch::end(std::uint32_t identity) { registrations_.erase(identity); }

void MemoryWatch::written(const AddressSpace& process, Va address, Bytes length) {
  for (const SeenPart& part : process.see(address, length))
    if (part.kind == SeenPart::Kind::frames) contents_.write(part.first, part.length);
}

std::uint64_t MemoryWatch::sound(const Registration& of, std::uint64_t offset, std::uint64_t length, bool writes, Why& why) const {
  std::uint64_t done = 0;
  for (const SeenPart& seen : of.process->see(of.memory + Bytes(offset), Bytes(length))) {
    why = seen.kind == SeenPart::Kind::nothing ? Why::unmapped : Why::other_page;
    if (seen.kind == SeenPart::Kind::nothing) return done;
    for (const std::uint64_t end = done + seen.length; done < end;) {
      const auto [frame, bytes] = place(*of.frames, offset + done, end - done);
      const std::uint64_t there = seen.first + seen.length - (end - done);
      const bool in_place = seen.kind == SeenPart::Kind::frames && there == frame;
      const Contents& its = seen.kind == SeenPart::Kind::frames ? contents_ : of.process->stored();
      if (!in_place && (writes || !contents_.same(frame, bytes, its, there))) return done;
      done += bytes;
    }
  }
  return done;
}

void MemoryWatch::store(const Registration& of, std::uint64_t offset, std::uint64_t length) {
  if (of.frames == nullptr) return written(*of.process, of.memory + Bytes(offset), Bytes(length));
  while (length != 0) {
    const auto [frame, bytes] = place(*of.frames, offset, length);
    contents_.write(frame, bytes);
    offset += bytes;
    length -= bytes;
  }
}

void MemoryWatch::judge(const ports::Query& query, Bytes length, bool writes, ports::Mishap& mishap) {
  const auto found = registrations_.find(query.identity);
  ports::HazardNote note;
  const std::uint32_t meant = query.packet != nullptr ? query.packet->meant : 0;
  std::uint64_t sound_bytes = length.raw;
  if (found != registrations_.end()) {
    const Registration& of = found->second;
    const std::uint64_t offset = query.address.raw + (query.through_window ? query.shift : 0) - of.start.raw;
    if (of.frames != nullptr) sound_bytes = sound(of, offset, length.raw, writes, note.why);
    if (writes) store(of, offset, length.raw);
    note.memory = of.memory + Bytes(offset);
  }
  if (meant != 0 && query.identity != meant) {
    note.kind = Hazard::foreign;
    note.why = Why::other_key;
    sound_bytes = 0;
    ++transfers_.foreign;
  } else if (sound_bytes != length.raw) {
    ++transfers_.stale;
  } else {
    return;
  }
  // Of an operation the first transfer is told.
  if (note.kind <= mishap.kind) return;
  mishap = {note.kind, 0};
  if (notes_ == nullptr) return;
  note.at = scheduler_.now();
  note.port = port_;
  note.qpn = query.qpn;
  note.opcode = query.packet != nullptr ? query.packet->opcode : query.wqe->opcode;
  note.writes = writes;
  note.address = query.address.raw + sound_bytes;
  note.memory += Bytes(sound_bytes);
  note.key = query.wish.key;
  mishap.note = notes_->keep(note);
}

}  // namespace mtsim::kernel
