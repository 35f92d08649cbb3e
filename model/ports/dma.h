// The NIC's way to host memory: bursts of PCIe reads and writes. Every burst has an address.
#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <systemc>

#include "base/units.h"
#include "engine/channel.h"
#include "ports/memory.h"
#include "ports/waits.h"

namespace mtsim::ports {

/// Who uses the link: each has its own queue before the link and its turn at it. Where memory answers all in the same time, reads of one
/// agent come back in order.
enum class Agent : unsigned { posted, payload, tables, control };

/// What bytes on the link are for: a host counts them by that.
enum class Purpose : std::uint8_t { payload, tables, wqes, cqes, commands, doorbells };
inline constexpr unsigned purpose_count = unsigned(Purpose::doorbells) + 1;
/// For people; `commands` are those of the driver with their mailboxes, lists and events.
inline constexpr std::array<const char*, purpose_count> purpose_names{"payload", "tables", "wqes", "cqes", "commands", "doorbells"};
/// What reads of an agent are for, unless they say otherwise.
constexpr Purpose purpose_of(Agent agent) {
  return agent == Agent::tables ? Purpose::tables : agent == Agent::control ? Purpose::wqes : Purpose::payload;
}

/// What a TLP's address is to the IOMMU (the field AT of its header): to be translated; translated already, by an earlier request of the
/// device; or itself a request for a translation (ATS).
enum class AddressType : std::uint8_t { untranslated, translated, translation_request };

class Dma;

struct ReadBurst {
  Pa address;
  Bytes length;
  Agent agent = Agent::payload;
  Purpose purpose = Purpose::payload;
  AddressType type = AddressType::untranslated;
  engine::Order order;
  void (*done)(ReadBurst&) = nullptr;  ///< called when the last byte has reached the NIC
  Waits* waits = nullptr;              ///< where its waits are noted, as of that step; null: nowhere
  Step step = Step::dma;
  Time waited;              ///< all of them so far
  Translation translation;  ///< the answer to a request for one

  // Kept by the DMA engine while the burst is under way.
  struct Leg : engine::Notice {
    ReadBurst* burst = nullptr;
  };
  Leg request, data;
  std::uint32_t tags = 0;
  Bytes asked;  ///< bytes of the part that is under way
  Time since;
  Time held;  ///< for how long whoever was first in line had waited for credits before that
  Dma* owner = nullptr;
  ReadBurst* next = nullptr;
};

/// What a posted write is beside its bytes.
struct Posted {
  Purpose purpose = Purpose::payload;
  bool relaxed = false;  ///< it may take effect before earlier ones
  AddressType type = AddressType::untranslated;
  Time* held = nullptr;  ///< where it is told for how long the write waited for credits; null: nowhere
};

/// Waits until the write buffer has room; kept by who waits.
struct RoomWaiter {
  std::coroutine_handle<> waiter;
  Time since;
  Cause cause = Cause::write_room;  ///< or the credits that writes before it wait for
  RoomWaiter* next = nullptr;
};

class Dma : public virtual sc_core::sc_interface {
 public:
  /// Whether the buffer of posted writes that the link has not taken has room. A write is accepted whole once there is any.
  virtual bool has_write_room() = 0;
  virtual void wait_for_write_room(RoomWaiter& waiter) = 0;
  /// Whether a read of one tag would not wait for it.
  virtual bool has_tag() = 0;
  /// Starts a read; `burst` lives until `done`.
  virtual void read(ReadBurst& burst) = 0;
  /// Starts a posted write. `notice` (may be null) is told when a CPU would see the last byte.
  virtual void write(Pa address, Bytes length, engine::Notice* notice, Posted posted = {}) = 0;
};

/// Notes what a transfer waited for on the way up or down the link.
inline void note_up(Waits& waits, Step step, const engine::Notice& notice) {
  if (notice.waited.raw == 0) return;
  for (unsigned agent = 0; agent < engine::Notice::agents; ++agent)
    waits.add(step, Cause(unsigned(Cause::up_writes) + agent), Time(notice.behind[agent]));
}
inline void note_down(Waits& waits, Step step, const engine::Notice& notice) {
  if (notice.waited.raw == 0) return;
  for (unsigned agent = 0; agent < 2; ++agent)
    waits.add(step, Cause(unsigned(Cause::down_completions) + agent), Time(notice.behind[agent]));
}

/// `co_await DmaRead(dma, address, length, agent, order)`, or `start()` now and `co_await` it later.
class DmaRead : protected ReadBurst {
 public:
  DmaRead(Dma& engine, Pa from, Bytes n, Agent by, engine::Order o) : DmaRead(engine, from, n, by, o, purpose_of(by)) {}
  /// Its waits are noted.
  DmaRead(Dma& engine, Pa from, Bytes n, Agent by, engine::Order o, Waits* noted, Step during = Step::dma)
      : DmaRead(engine, from, n, by, o, purpose_of(by)) {
    note_in(noted, during);
  }
  DmaRead(Dma& engine, Pa from, Bytes n, Agent by, engine::Order o, Purpose what_for, AddressType address_type = AddressType::untranslated)
      : dma_(engine) {
    address = from;
    length = n;
    agent = by;
    order = o;
    purpose = what_for;
    type = address_type;
    done = [](ReadBurst& burst) {
      auto& self = static_cast<DmaRead&>(burst);
      self.state_ = State::finished;
      if (self.waiter_) self.waiter_.resume();
    };
  }
  /// Before it starts: where its waits are noted, as of that step; null: nowhere.
  void note_in(Waits* noted, Step during) {
    waits = noted;
    step = during;
  }
  void start() {
    state_ = length.raw == 0 ? State::finished : State::started;
    if (state_ == State::started) dma_.read(*this);
  }
  /// For tags and on the link, once it is over.
  using ReadBurst::waited;
  bool await_ready() {
    if (state_ == State::fresh) start();
    return state_ == State::finished;
  }
  void await_suspend(std::coroutine_handle<> waiter) { waiter_ = waiter; }
  void await_resume() const {}

 private:
  enum class State : std::uint8_t { fresh, started, finished };
  Dma& dma_;
  std::coroutine_handle<> waiter_;
  State state_ = State::fresh;
};

/// `co_await DmaTranslate(dma, address, order)`: asks the IOMMU for the translation of a page (ATS): one read request, 8 bytes of answer.
class DmaTranslate : public DmaRead {
 public:
  DmaTranslate(Dma& engine, Pa page, engine::Order o)
      : DmaRead(engine, page, Bytes(8), Agent::tables, o, Purpose::tables, AddressType::translation_request) {}
  const Translation& await_resume() const { return translation; }
};

/// `co_await WriteRoom(dma)`: goes on when a write would be accepted, in order of arrival. Its result is what it waited for, if it did.
class WriteRoom : RoomWaiter {
 public:
  explicit WriteRoom(Dma& engine) : dma_(engine) {}
  bool await_ready() const { return dma_.has_write_room(); }
  void await_suspend(std::coroutine_handle<> handle) {
    waiter = handle;
    dma_.wait_for_write_room(*this);
  }
  Cause await_resume() const { return cause; }

 private:
  Dma& dma_;
};

/// `co_await DmaWrite(dma, address, length, order, purpose)`: goes on when a CPU would see the last byte.
class DmaWrite : engine::Notice {
 public:
  DmaWrite(Dma& engine, Pa to, Bytes n, engine::Order o, Purpose purpose = Purpose::payload)
      : dma_(engine), address_(to), length_(n), purpose_(purpose) {
    order = o;
  }
  bool await_ready() const { return length_.raw == 0; }
  void await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    arrived = [](engine::Notice& notice) { static_cast<DmaWrite&>(notice).waiter_.resume(); };
    dma_.write(address_, length_, this, {.purpose = purpose_, .held = &held_});
  }
  void await_resume() const {}
  /// Once it is over: what it waited for, credits and on the link.
  void note(Waits& to, Step step) const {
    to.add(step, Cause::pcie_credits, held_);
    note_up(to, step, *this);
  }

 private:
  Dma& dma_;
  Pa address_;
  Bytes length_;
  Purpose purpose_;
  Time held_;
  std::coroutine_handle<> waiter_;
};

}  // namespace mtsim::ports
