// One direction of a link that carries trains of cells (TLPs): a FIFO for each agent, round robin among agents with something to send,
// one cell at a time. It is settled lazily: no event per cell, and yet exact. A train's notice is armed for the earliest time at which
// it can come; when that time is reached the channel works out what has really been sent, and arms again if others came in between.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/scheduler.h"
#include "engine/usage.h"

namespace mtsim::engine {

/// Who is told when cells of a train have arrived. Lives until told. `order`, of the timer that it is, is its sender's to set.
struct Notice : Timer {
  static constexpr unsigned agents = 4;
  void (*arrived)(Notice&) = nullptr;
  // Once told: what was sent before these cells from the moment at which they were submitted, in all and by agent (which has no meaning
  // where it is nothing in all).
  Time waited;
  std::array<std::int64_t, agents> behind;
  Notice() {
    fire = [](Timer& timer) {
      auto& self = static_cast<Notice&>(timer);
      self.arrived(self);
    };
  }
};

class Channel {
 public:
  static constexpr unsigned agents = Notice::agents;

  /// `latency` passes between the end of a cell on the wire and its arrival at the far end.
  Channel(Scheduler& scheduler, Time latency) : scheduler_(scheduler), latency_(latency) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// A train of `cells` cells of `cell` each, the last of `last`.
  struct Shape {
    std::uint32_t cells = 1;
    Time cell, last;
    Time length() const { return Time(cell.raw * (cells - 1)) + last; }
  };

  /// Is told of each train when it is submitted and when its last cell has been sent: those of one agent one after the other, in the order
  /// in which they were submitted, and perhaps only later when the channel works out what has been sent.
  class Watcher {
   public:
    virtual void submitted(unsigned agent) = 0;
    /// From the start of its first cell to the end of its last.
    virtual void sent(unsigned agent, Time begin, Time end) = 0;

   protected:
    ~Watcher() = default;
  };
  void watch(Watcher* watcher) { watcher_ = watcher; }

  /// Hands a train to the channel now. `notice`, if any, is told `extra` after the arrival of the first cell (`of_first`) or the last.
  void submit(unsigned agent, const Shape& shape, Notice* notice, Time extra = {}, bool of_first = false);

  /// Time that what an agent has submitted and the channel has not sent still takes by itself.
  Time backlog(unsigned agent);

  Time latency() const { return latency_; }
  /// Busy time of what has been sent so far, and waits of trains for their first cell.
  const Usage& usage();

 private:
  struct Train : Timer {
    Channel* channel;
    unsigned agent;
    std::uint32_t left;  ///< cells not sent yet
    bool of_first, begun, marked;
    Time cell, last;
    Time since;                               ///< when it was submitted
    Time start;                               ///< of its first cell, once begun
    Time mark;                                ///< end of the cell that the notice waits for, once sent
    Time extra;                               ///< from that end to the notice
    Time own;                                 ///< of the cells that the notice waits for
    std::array<std::int64_t, agents> before;  ///< what each agent had sent when it was submitted
    Notice* notice;
    Train* behind;  ///< next in its agent's queue, or in the free list
    Time rest() const { return Time(cell.raw * (left - 1)) + last; }
  };
  struct Queue {
    Train* head = nullptr;
    Train* tail = nullptr;
    Time bound;  ///< no earlier than this the queue can be empty
  };

  /// Puts a train without a notice behind what its agent has already submitted.
  Train& enqueue(unsigned agent, const Shape& shape);
  void settle(Time until);
  void send(Train& train, std::uint32_t cells);
  void finish(Queue& queue);
  void told(Train& train);
  Time earliest_mark(const Train& train) const;
  void mark(Train& train, Time at, Time counted);
  void more_trains();
  void recycle(Train& train);

  Scheduler& scheduler_;
  Time latency_;
  std::array<Queue, agents> queues_;
  unsigned active_ = 0;                      ///< bit set of agents with something to send
  unsigned turn_ = 0;                        ///< the agent whose turn is next
  Time free_;                                ///< end of the last cell sent
  unsigned sender_ = 0;                      ///< whose it was
  std::array<std::int64_t, agents> sent_{};  ///< by agent, the last cell whole
  Usage usage_;
  Watcher* watcher_ = nullptr;
  std::vector<std::unique_ptr<Train[]>> slabs_;
  Train* spare_ = nullptr;
};

}  // namespace mtsim::engine
