// Writes the operations of a run to a file as they end.
#pragma once

#include <string>
#include <vector>

#include "results/operations_file.h"
#include "system/logs.h"
#include "system/qp_names.h"

namespace mtsim::system {

class OperationsRecorder final : public OperationWatcher {
 public:
  /// `hosts` are the names in the order of their ports. `measured`: what ends from now on counts in the report.
  OperationsRecorder(results::OperationsFile& file, const QpNames& qps, std::vector<std::string> hosts, bool measured)
      : file_(file), qps_(qps), hosts_(std::move(hosts)), queues_(hosts_.size()), measured_(measured) {}

  void ended(std::uint32_t port, std::uint32_t qpn, const ports::Wqe& request, verbs::Status status) override;
  void measure(bool on) { measured_ = on; }

 private:
  results::OperationsFile& file_;
  const QpNames& qps_;
  std::vector<std::string> hosts_;
  std::vector<std::vector<std::string>> queues_;  ///< by port and QP number: the columns that name it
  bool measured_;
};

}  // namespace mtsim::system
