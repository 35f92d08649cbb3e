// Draws a run: what each CPU, thread, unit, link and operation did when.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/network.h"
#include "kernel/call.h"
#include "program/op.h"
#include "results/timeline_file.h"
#include "system/logs.h"
#include "system/operation_flows.h"
#include "system/qp_names.h"
#include "system/watched_device.h"

namespace mtsim::system {

class Host;

class TimelineRecorder final : public OperationWatcher, public CallWatcher, public fabric::PacketWatcher {
 public:
  /// Makes the rows, in the order in which a viewer shows them. `hosts` in the order of their ports; all must outlive this.
  TimelineRecorder(results::TimelineFile& file, const QpNames& qps, const program::Names& names,
                   const std::vector<std::unique_ptr<Host>>& hosts, const std::vector<std::uint32_t>& port_of, fabric::Switch& network);
  ~TimelineRecorder();

  /// What the program's actors of that host call in place of its device.
  verbs::Device& device(std::uint32_t port);
  /// After elaboration: puts itself between the kernels and their logs.
  void begin();
  /// Draws what is under way when the run has ended.
  void finish();

  void ended(std::uint32_t port, std::uint32_t qpn, const ports::Wqe& request, verbs::Status status) override;
  void called(std::uint32_t port, const WatchedCall& call) override;
  void leaves(const ports::Packet& packet, Time begin, Time end) override;
  void comes(const ports::Packet& packet, Time begin, Time end) override;

 private:
  using Row = Timeline::Row;
  struct Lap {
    ports::RegistrationStep step{};
    Time begin, end;
  };
  struct Scene;  ///< one host's rows, and what is remembered of it

  void lap(Scene& scene, verbs::Thread thread, const Lap& lap);
  void pinned(Scene& scene);
  void posted(Scene& scene, const WatchedCall& call);
  void packet(const ports::Packet& packet, Row row, Time begin, Time end);
  /// The QP has that many more requests outstanding; never fewer than none.
  void outstanding(Scene& scene, std::uint32_t qpn, std::int64_t change);
  Row queue_row(Scene& scene, std::uint32_t qpn);
  /// The operation that a packet is about, or none when its QP is gone.
  std::optional<OperationKey> operation_of(const ports::Packet& packet) const;

  results::TimelineFile& file_;
  const QpNames& qps_;
  const std::vector<std::unique_ptr<Host>>& hosts_;
  std::vector<std::unique_ptr<Scene>> scenes_;  ///< by port
  OperationFlows flows_;
};

}  // namespace mtsim::system
