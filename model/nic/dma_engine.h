// The NIC's DMA engine: splits bursts into TLPs and holds the tags of reads in flight.
#pragma once

#include <array>
#include <string>

#include "base/timeline.h"
#include "engine/usage.h"
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

  /// A read takes a tag for each MRRS-aligned piece, all at once; bursts wait for tags in order of arrival. A burst that needs more
  /// than there are goes in parts.
  void read(ports::ReadBurst& burst) override;
  void write(Pa address, Bytes length, engine::Notice* notice) override;
  bool has_tag() override { return first_ == nullptr && free_tags_ != 0; }
  bool has_write_room() override { return first_writer_ == nullptr && link->posted_backlog() < write_limit_; }
  void wait_for_write_room(ports::RoomWaiter& waiter) override;

  std::uint32_t tags() const { return limits_.tags; }
  std::uint32_t tags_in_use() const { return limits_.tags - free_tags_; }
  /// Tags that reads of that agent hold.
  std::uint32_t tags_in_use(ports::Agent agent) const { return held_[unsigned(agent)]; }
  /// The read that waits for tags first; `next` leads on. Null: none.
  const ports::ReadBurst* first_waiting() const { return first_; }
  /// Who waits for room in the write buffer first; `next` leads on. Null: nobody.
  const ports::RoomWaiter* first_writer() const { return first_writer_; }
  /// Waits for room in the write buffer.
  const engine::Usage& write_usage() const { return write_usage_; }
  /// Waits of bursts for tags; `busy` is tag-time.
  engine::Usage tag_usage() const;
  /// Draws reads from now on: each from when it is asked for, waiting for tags included, to its last byte.
  void draw(Timeline& timeline, const std::string& process);

 private:
  void end_of_elaboration() override;
  void issue(ports::ReadBurst& burst);
  void landed(ports::ReadBurst& burst);
  void account();
  void look_for_room();
  [[gnu::cold]] void draw_part(const ports::ReadBurst& burst) const;
  /// How many blocks of 2^unit_log bytes a range of at least one byte touches.
  static std::uint32_t pieces(Pa address, Bytes length, unsigned unit_log);

  engine::Scheduler& scheduler_;
  ports::PcieLimits limits_;  ///< known once the link is bound
  unsigned payload_log_ = 8, request_log_ = 9;
  std::uint32_t free_tags_ = 0;
  std::array<std::uint32_t, engine::Channel::agents> held_{};  ///< tags in use, by agent
  ports::ReadBurst* first_ = nullptr;                          ///< waiting for tags
  ports::ReadBurst* last_ = nullptr;
  engine::Usage usage_;
  Time accounted_;
  Bytes write_buffer_;
  Time write_limit_;  ///< the buffer, as time on the link
  ports::RoomWaiter* first_writer_ = nullptr;
  ports::RoomWaiter* last_writer_ = nullptr;
  engine::Usage write_usage_;
  bool drawn_ = false;
  TimelineRow tag_row_;
  std::array<TimelineRow, engine::Channel::agents> rows_;  ///< by agent
};

}  // namespace mtsim::nic
