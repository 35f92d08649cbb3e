// Who watches the actors of a run: told of every call and completion, and of each that its line did not expect.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "program/op.h"
#include "verbs/types.h"

namespace mtsim::program {

struct Object;

/// Something that a line did not expect.
struct Surprise {
  ActorId actor = 0;
  std::uint64_t line = 0;
  std::string operation;  ///< `poll cq wr=2`
  std::string expected;   ///< `SUCCESS`
  std::string got;        ///< `REM_ACCESS_ERR`
};

class Observer {
 public:
  virtual ~Observer() = default;
  /// An operation has ended; `error` is 0 or an errno value.
  virtual void called(Kind, int error) = 0;
  /// A line failed with EINVAL by itself, as the object it needs was never made or is gone; called() is told too.
  virtual void lacked_object(Kind) = 0;
  /// A request that was not posted since an earlier one of its list was refused.
  virtual void left_unposted(std::uint64_t wr) = 0;
  virtual void completed(verbs::Opcode, verbs::Status) = 0;
  /// A QP was made: the name that the program has for a QP number of its host's device, until the next that gets the name.
  virtual void made_qp(NameId, std::uint32_t /*qpn*/) {}
  /// What a name stands for has changed: made, failed, gone, or with other keys or another place.
  virtual void object_changed(NameId, const Object&) {}
  virtual void unexpected(const Surprise&) = 0;
};

/// Counts all of it and keeps the first few surprises.
class Tally final : public Observer {
 public:
  static constexpr std::size_t kept = 20;

  void called(Kind kind, int error) override;
  void lacked_object(Kind) override { ++lacking_; }
  void left_unposted(std::uint64_t) override { ++unposted_; }
  void completed(verbs::Opcode, verbs::Status status) override { ++by_status_[static_cast<std::size_t>(status)]; }
  void unexpected(const Surprise&) override;

  std::uint64_t operations() const { return operations_; }
  std::uint64_t operations(Kind kind) const { return by_kind_[static_cast<std::size_t>(kind)]; }
  /// Operations of that kind that failed, by errno.
  const std::map<int, std::uint64_t>& failures(Kind kind) const { return failures_[static_cast<std::size_t>(kind)]; }
  std::uint64_t failed_operations() const { return failed_; }
  std::uint64_t lacking_objects() const { return lacking_; }
  std::uint64_t unposted() const { return unposted_; }
  /// Completions that programs polled.
  std::uint64_t completions(verbs::Status status) const { return by_status_[static_cast<std::size_t>(status)]; }
  std::uint64_t surprises() const { return surprises_; }
  const std::vector<Surprise>& first_surprises() const { return first_; }

 private:
  std::array<std::uint64_t, kind_count> by_kind_{};
  std::array<std::uint64_t, verbs::status_count> by_status_{};
  std::array<std::map<int, std::uint64_t>, kind_count> failures_;
  std::uint64_t operations_ = 0, failed_ = 0, lacking_ = 0, unposted_ = 0, surprises_ = 0;
  std::vector<Surprise> first_;
};

}  // namespace mtsim::program
