// Bursts of DMA at the root complex, where they stop until the IOMMU has translated them and memory has answered. Each stop is a small
// object that waits in the wheel; they are used again and again.
#pragma once

#include <vector>

#include "engine/scheduler.h"
#include "ports/dma.h"

namespace mtsim::nic {

class DmaEngine;

/// Part of a read: its completions leave page by page, in order, as their data is there.
class ReadStop : engine::Timer {
 public:
  /// The first request of `burst` has come to the root complex.
  void begin(DmaEngine& engine, ports::ReadBurst& burst);
  ReadStop* next_free = nullptr;

 private:
  struct Piece {
    Pa address;
    Bytes length;
    Time at;
  };
  void ask(Time now);
  void ask_translation(Time now);
  void add(Pa address, Bytes length, Time at);
  void go_on();

  DmaEngine* engine_ = nullptr;
  ports::ReadBurst* burst_ = nullptr;
  std::vector<Piece> pieces_;
  std::size_t sent_ = 0;
};

/// A write, or a part of one that has its credits: the address is looked up when the first TLP comes, and it takes effect when that is done
/// and the last has come.
class WriteStop : engine::Timer {
 public:
  struct Part {
    Pa address;
    Bytes length;
    std::uint32_t tlps = 0;
    std::uint64_t data_credits = 0;
    engine::Notice* notice = nullptr;  ///< told when a CPU sees it
    ports::Posted posted;
  };
  /// Hands the part to the link.
  void begin(DmaEngine& engine, const Part& part);
  WriteStop* next_free = nullptr;

 private:
  struct Leg : engine::Notice {
    WriteStop* stop = nullptr;
  };
  void first_came();
  void last_came();
  void seen();
  void end();

  DmaEngine* engine_ = nullptr;
  Part part_;
  Leg first_, last_;
  Time effect_;  ///< no earlier than this
};

/// A time at which credits come back to somebody who waits for them.
class CreditReturn : engine::Timer {
 public:
  void begin(DmaEngine& engine, Time at);
  CreditReturn* next_free = nullptr;

 private:
  DmaEngine* engine_ = nullptr;
};

}  // namespace mtsim::nic
