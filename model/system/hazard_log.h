// What is told of data that were wrong without an error: the first transfers of a run, and the operations that they belonged to.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ports/data_watch.h"
#include "ports/queues.h"
#include "results/report.h"

namespace mtsim::program {
class Program;
}

namespace mtsim::system {

class Host;

/// Whether data are followed: as the program asks for it, whatever the program, or never.
enum class Hazards : std::uint8_t { automatic, on, off };

/// Whether a program can make data wrong, or asks about it.
bool follows_data(const program::Program& program, Hazards hazards);

/// Of all hosts.
class HazardLog final : public ports::HazardNotes {
 public:
  static constexpr std::size_t most = 16;

  std::uint8_t keep(const ports::HazardNote& note) override;
  /// An operation with a hazard has ended with SUCCESS. Of a message that both ends complete the request is told.
  void ended(std::uint32_t port, std::uint32_t qpn, const ports::Wqe& wqe);
  /// `hosts` in the order of their ports.
  std::vector<results::HazardEvent> collect(const std::vector<std::unique_ptr<Host>>& hosts) const;

 private:
  struct Kept {
    ports::HazardNote note;
    bool ended = false;  ///< then the operation is known
    std::uint32_t port = 0, qpn = 0;
    verbs::Opcode opcode = verbs::Opcode::write;
    std::uint64_t wr = 0;
  };
  std::vector<Kept> kept_;
};

}  // namespace mtsim::system
