// What the program calls the QPs of a run, for those who list operations.
#pragma once

#include <string>
#include <vector>

#include "program/actor_observer.h"

namespace mtsim::system {

/// Stands before another observer and notes the names of QPs as they are made. QP numbers are not used again.
class QpNames final : public program::Observer {
 public:
  /// `port_of` gives the port on the switch of each of the program's hosts. All three must outlive this.
  QpNames(program::Observer& next, const program::Names& names, const std::vector<std::uint32_t>& port_of)
      : next_(next), names_(names), port_of_(port_of), by_port_(port_of.size()) {}

  void called(program::Kind kind, int error) override { next_.called(kind, error); }
  void lacked_object(program::Kind kind) override { next_.lacked_object(kind); }
  void left_unposted(std::uint64_t wr) override { next_.left_unposted(wr); }
  void completed(verbs::Opcode opcode, verbs::Status status) override { next_.completed(opcode, status); }
  void made_qp(program::NameId name, std::uint32_t qpn) override;
  void unexpected(const program::Surprise& surprise) override { next_.unexpected(surprise); }

  /// The name without its host; of a QP that the program did not make the number.
  std::string name(std::uint32_t port, std::uint32_t qpn) const;

 private:
  program::Observer& next_;
  const program::Names& names_;
  const std::vector<std::uint32_t>& port_of_;
  std::vector<std::vector<program::NameId>> by_port_;  ///< by QP number, 0 for none
};

}  // namespace mtsim::system
