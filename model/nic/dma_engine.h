// The NIC's DMA engine: splits bursts into TLPs, holds the tags of reads in flight, and keeps to the root complex's credits.
//
// Where memory answers in constant time the link is told that time with each burst. Where it keeps state (an IOMMU, a last-level cache),
// or writes have credits, each burst has a stop at the root complex (dma_stops.h): one event when it comes there, one when it goes on.
#pragma once

#include <array>
#include <deque>
#include <string>

#include "base/timeline.h"
#include "engine/usage.h"
#include "nic/credits.h"
#include "nic/dma_stops.h"
#include "nic/reuse_pool.h"
#include "ports/dma.h"
#include "ports/memory.h"
#include "ports/pcie.h"

namespace mtsim::nic {

class DmaEngine : public sc_core::sc_module, public ports::Dma, engine::Timer {
 public:
  sc_core::sc_port<ports::PcieUp> link;
  sc_core::sc_port<ports::HostMemory> memory;

  /// `write_buffer`: bytes of posted writes that may wait for the link.
  DmaEngine(sc_core::sc_module_name name, engine::Scheduler& scheduler, Bytes write_buffer, engine::Order by);
  /// What the host's root complex knows the NIC by: its number. Before the simulation starts.
  void set_device(std::uint32_t number) { device_ = number; }
  /// Addresses of payload are translated already (ATS). Before the simulation starts.
  void payload_is_translated() { translated_payload_ = true; }

  /// A read takes a tag for each MRRS-aligned piece, all at once, and as many credits; its bytes must fit in the completion buffer. Bursts
  /// wait for these in order of arrival. A burst that needs more than there are goes in parts.
  void read(ports::ReadBurst& burst) override;
  /// Writes that find no credits wait in order; one that needs more than there are goes in parts.
  void write(Pa address, Bytes length, engine::Notice* notice, ports::Posted posted = {}) override;
  bool has_tag() override { return first_ == nullptr && free_tags_ != 0; }
  bool has_write_room() override { return first_writer_ == nullptr && held_writes_.empty() && link->posted_backlog() < write_limit_; }
  void wait_for_write_room(ports::RoomWaiter& waiter) override;

  std::uint32_t tags() const { return limits_.tags; }
  std::uint32_t tags_in_use() const { return limits_.tags - free_tags_; }
  /// Tags that reads of that agent hold.
  std::uint32_t tags_in_use(ports::Agent agent) const { return held_[unsigned(agent)]; }
  /// The read that waits for tags first; `next` leads on. Null: none.
  const ports::ReadBurst* first_waiting() const { return first_; }
  /// Whether that one waits for credits or for room in the completion buffer.
  bool reads_held() const { return read_held_ >= Time(); }
  /// Who waits for room in the write buffer first; `next` leads on. Null: nobody.
  const ports::RoomWaiter* first_writer() const { return first_writer_; }
  /// A write, or what is left of it, that waits for credits.
  struct HeldWrite {
    Pa address;
    Bytes length;
    engine::Notice* notice;
    ports::Posted posted;
    Time since;
  };
  const std::deque<HeldWrite>& held_writes() const { return held_writes_; }
  /// Waits for room in the write buffer.
  const engine::Usage& write_usage() const { return write_usage_; }
  /// Waits of bursts for tags; `busy` is tag-time.
  engine::Usage tag_usage() const;
  /// Times that what was first in line had to wait for credits or for room in the completion buffer, and for how long: reads and writes.
  const engine::Usage& credit_usage() const { return credit_usage_; }
  struct Most {
    std::uint64_t read_credits = 0, write_credits = 0;
    Bytes write_data, completion_bytes;
  };
  /// Most that were ever in use, of those that are bounded.
  Most most() const { return {read_credits_.most(), write_credits_.most(), Bytes(write_data_.most() * credit_bytes), most_bytes_}; }
  /// Draws reads from now on: each from when it is asked for, waiting for tags included, to its last byte.
  void draw(Timeline& timeline, const std::string& process);

 private:
  friend class CreditReturn;
  friend class ReadStop;
  friend class WriteStop;
  static constexpr std::uint64_t credit_bytes = 16;  ///< that a data credit stands for

  void end_of_elaboration() override;
  bool fits(const ports::ReadBurst& burst);
  void stand_in_line(ports::ReadBurst& burst) const;
  Time held_so_far() const;
  void measure(ports::ReadBurst& burst) const;
  void issue(ports::ReadBurst& burst);
  void issue_waiting();
  void landed(ports::ReadBurst& burst);
  void account();
  void look_for_room();
  void arm_room(Time at);
  [[gnu::cold]] void draw_part(const ports::ReadBurst& burst) const;
  /// How many blocks of 2^unit_log bytes a range of at least one byte touches.
  static std::uint32_t pieces(Pa address, Bytes length, unsigned unit_log);

  bool translated(ports::AddressType type, ports::Purpose purpose) const {
    return type == ports::AddressType::translated || (translated_payload_ && purpose == ports::Purpose::payload);
  }
  /// A request for a translation asks what keeps state by its nature.
  bool stops(const ports::ReadBurst& burst) const { return keeps_state_ || burst.type == ports::AddressType::translation_request; }
  bool relaxes(const ports::Posted& posted) const {
    return posted.purpose == ports::Purpose::payload &&
           (limits_.relaxed == ports::RelaxedOrdering::always || (limits_.relaxed == ports::RelaxedOrdering::by_mr && posted.relaxed));
  }

  // Stops at the root complex, and credits (dma_stops.cpp).
  void came(ports::ReadBurst& burst);
  void read_served(Time at, std::uint32_t requests);
  void write_held();
  void post(const HeldWrite& write);
  void look_for_credits();
  void wake_for_credits(Time at);

  engine::Scheduler& scheduler_;
  ports::PcieLimits limits_;  ///< known once the link is bound
  unsigned payload_log_ = 8, request_log_ = 9, completion_log_ = 8;
  std::uint32_t free_tags_ = 0;
  std::array<std::uint32_t, engine::Channel::agents> held_{};  ///< tags in use, by agent
  std::uint32_t most_requests_ = 0;                            ///< of a part: as many as tags, credits and completion buffer allow
  bool keeps_state_ = false;                                   ///< memory does
  bool bounded_reads_ = false;                                 ///< by more than tags
  bool stops_writes_ = false;                                  ///< they stop at the root complex
  std::uint32_t device_ = 0;
  bool translated_payload_ = false;
  ports::ReadBurst* first_ = nullptr;  ///< waiting for tags
  ports::ReadBurst* last_ = nullptr;
  engine::Usage usage_;
  Time accounted_;
  Bytes write_buffer_;
  Time write_limit_;  ///< the buffer, as time on the link
  ports::RoomWaiter* first_writer_ = nullptr;
  ports::RoomWaiter* last_writer_ = nullptr;
  engine::Usage write_usage_;
  Credits read_credits_, write_credits_, write_data_;
  Bytes bytes_, most_bytes_;  ///< of reads in flight, counted if there is a completion buffer
  std::deque<HeldWrite> held_writes_;
  Time read_held_{-1};  ///< since when the first read has waited for credits; negative: it does not
  Time held_before_;    ///< for how long first reads had waited before that
  ReusePool<CreditReturn> credit_returns_;
  Time next_look_{INT64_MAX};  ///< the earliest time for which a look for credits is armed
  bool room_armed_ = false;
  engine::Usage credit_usage_;
  ReusePool<ReadStop> read_stops_;
  ReusePool<WriteStop> write_stops_;
  bool drawn_ = false;
  TimelineRow tag_row_;
  std::array<TimelineRow, engine::Channel::agents> rows_;  ///< by agent
};

}  // namespace mtsim::nic
