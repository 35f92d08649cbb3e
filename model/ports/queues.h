// Queues that live in host memory and are shared by the provider library and the NIC: plain state, no time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "base/units.h"
#include "ports/mishap.h"
#include "ports/waits.h"
#include "verbs/device.h"
#include "verbs/types.h"

namespace mtsim::ports {

/// A work queue element, as a ring in host memory holds it, with the marks that the simulator makes on it. A receive is one too; its life
/// begins when the first byte of its message has come, and of the steps it has those from `wire` on.
///
/// With many QPs a request comes to a cold place of a ring, and the lines of memory that it touches there cost more than all else.
struct alignas(64) Wqe {
  std::uint64_t wr = 0;
  verbs::Opcode opcode = verbs::Opcode::write;
  verbs::Send flags = verbs::Send::none;  ///< `signaled` is already set where the QP signals all
  Mishap mishap;                          ///< of its data so far
  std::uint32_t sge_count = 0;
  std::uint32_t basic_blocks = 1;  ///< 64-byte units that it takes in the ring
  std::uint64_t length = 0;        ///< sum of the SGE lengths; of a receive that has ended: bytes that came
  std::uint64_t remote_address = 0;
  Key rkey;
  std::uint32_t meant = 0;           ///< identity of the registration that the program means by `rkey`; 0: unknown
  const verbs::Sge* sges = nullptr;  ///< sge_count of them: `sge`, or in the ring's own storage

  Time begin;  ///< when the post call began
  std::array<Time, step_count> stamp{};
  std::uint64_t waited_for = 0;  ///< wr of the request before it on its QP, if that was still to be taken up when this one arrived; else 0
  verbs::Sge sge{};              ///< of a request with no more than one
  Waits waits;                   ///< of the last piece, as `stamp`
};

/// A bind lies in its request as in hardware, in the place of what requests that move data have there.
inline void put_bind(Wqe& wqe, const verbs::Bind& bind) {
  wqe.rkey = bind.window;
  wqe.remote_address = bind.length.raw;
  wqe.sge.address = bind.address.raw;
  wqe.sge.lkey = bind.region;
  wqe.sge.length = std::uint32_t(bind.access) << 9 | std::uint32_t(bind.by_call) << 8 | (bind.new_key.raw & 0xff);
}
inline verbs::Bind bind_of(const Wqe& wqe) {
  verbs::Bind bind;
  bind.window = wqe.rkey;
  bind.new_key = Key((wqe.rkey.raw & ~0xffu) | (wqe.sge.length & 0xff));
  bind.region = wqe.sge.lkey;
  bind.address = Iova(wqe.sge.address);
  bind.length = Bytes(wqe.remote_address);
  bind.access = static_cast<verbs::Access>(wqe.sge.length >> 9);
  bind.by_call = (wqe.sge.length >> 8 & 1) != 0;
  return bind;
}

/// The message that a receive has taken has had a key invalidated.
inline void note_invalidated(Wqe& receive, Key key) {
  receive.rkey = key;
  receive.remote_address = 1;
}
inline bool invalidates(const Wqe& receive) { return receive.opcode == verbs::Opcode::recv && receive.remote_address == 1; }

/// Places of a ring. Their memory is neither filled nor touched before they are used for the first time: most rings are never full.
template <class T>
class Places {
 public:
  static_assert(std::is_trivially_destructible_v<T>);
  explicit Places(std::size_t n) : places_(static_cast<T*>(::operator new(n * sizeof(T), alignment))) {}
  /// Has been written.
  T& operator[](std::size_t i) { return places_.get()[i]; }
  /// As newly made.
  T& anew(std::size_t i) { return *std::construct_at(places_.get() + i); }

 private:
  static constexpr std::align_val_t alignment{alignof(T)};
  struct Release {
    void operator()(T* places) const { ::operator delete(places, alignment); }
  };
  std::unique_ptr<T, Release> places_;
};

/// The send queue's ring. The program's library fills it at `producer`, the NIC reads it; indices run on and are taken modulo `depth`.
class SendRing {
 public:
  /// `depth` requests of at most `sges` SGEs; `base` is the physical address of its `depth * blocks * 64` bytes.
  SendRing(Pa base, std::uint32_t depth, std::uint32_t sges, std::uint32_t blocks)
      : base_(base),
        depth_(depth),
        sges_(sges),
        blocks_(blocks),
        mask_(std::bit_ceil(depth) - 1),
        wqes_(mask_ + 1),
        storage_((std::size_t(mask_) + 1) * sges) {}

  std::uint32_t depth() const { return depth_; }
  /// A request that has been posted.
  Wqe& at(std::uint32_t index) { return wqes_[index & mask_]; }
  /// The place of a request that is about to be, empty.
  Wqe& open(std::uint32_t index) { return wqes_.anew(index & mask_); }
  std::span<verbs::Sge> storage(std::uint32_t index) { return {&storage_[std::size_t(index & mask_) * sges_], sges_}; }
  /// Address of a request in the ring: each has room for the largest.
  Pa address(std::uint32_t index) const { return base_ + Bytes(std::uint64_t(index % depth_) * blocks_ * 64); }

 private:
  Pa base_;
  std::uint32_t depth_, sges_, blocks_;
  std::uint32_t mask_;  ///< contents are kept in a power of two of places, found without a division
  Places<Wqe> wqes_;
  Places<verbs::Sge> storage_;
};

/// A receive queue's ring, of one QP or shared by several. The library puts receives into slots and lines the slots up; the NIC takes them
/// in that order. Positions run on. A shared queue's slots are free again in another order than they were lined up.
class ReceiveRing {
 public:
  /// `depth` slots of `stride` bytes for at most `sges` SGEs each; `record` is the address of the doorbell record, the word in host memory
  /// that says how far the library has come.
  ReceiveRing(Pa base, Pa record, std::uint32_t depth, std::uint32_t sges, Bytes stride)
      : base_(base),
        record_(record),
        stride_(stride),
        sges_(sges),
        mask_(std::bit_ceil(depth) - 1),
        line_(mask_ + 1),
        depth_(depth),
        wqes_(depth),
        storage_(std::size_t(depth) * sges) {}

  std::uint32_t depth() const { return depth_; }
  std::uint32_t sges() const { return sges_; }
  /// A receive that has been posted.
  Wqe& at(std::uint32_t slot) { return wqes_[slot]; }
  /// The place of a receive that is about to be, empty.
  Wqe& open(std::uint32_t slot) { return wqes_.anew(slot); }
  std::span<verbs::Sge> storage(std::uint32_t slot) { return {&storage_[std::size_t(slot) * sges_], sges_}; }
  Pa address(std::uint32_t slot) const { return base_ + stride_ * slot; }
  Bytes stride() const { return stride_; }
  Pa record() const { return record_; }

  void line_up(std::uint32_t slot) { line_[producer_++ & mask_] = slot; }
  std::uint32_t producer() const { return producer_; }
  std::uint32_t slot(std::uint32_t position) const { return line_[position & mask_]; }

 private:
  Pa base_, record_;
  Bytes stride_;
  std::uint32_t sges_, mask_, producer_ = 0;
  std::vector<std::uint32_t> line_;
  std::uint32_t depth_;
  Places<Wqe> wqes_;
  Places<verbs::Sge> storage_;
};

/// A completion queue in host memory, seen by the NIC: the way into it of one QP's send or receive queue.
class CompletionQueue {
 public:
  virtual ~CompletionQueue() = default;
  /// Address of the slot that the next CQE goes to; each call takes one.
  virtual Pa next_slot() = 0;
  /// Whether a further CQE finds room. A device that cannot deliver one puts the CQ and its QPs in error.
  virtual bool has_room() const { return true; }
  /// The CQE for which a slot was taken is not going to be of any use to anybody.
  virtual void lapse() {}
  /// The CQE is visible to the CPU. `place` is the request's index in its send queue, or the receive's slot.
  virtual void arrive(const verbs::Completion& completion, std::uint32_t place) = 0;
};

}  // namespace mtsim::ports
