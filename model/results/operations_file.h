// The operations of a run, one line each, in the order in which they end: `--ops FILE`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "results/block_writer.h"
#include "verbs/types.h"

namespace mtsim::results {

/// A work request that has ended.
struct Operation {
  std::string_view queue;  ///< OperationsFile::queue() of its host and QP
  std::uint64_t wr = 0;
  verbs::Opcode opcode = verbs::Opcode::write;
  std::uint64_t bytes = 0;
  verbs::Status status = verbs::Status::SUCCESS;
  bool measured = true;         ///< ended within the measured window, so it counts in the report
  Time begin;                   ///< when the call that posted it began
  std::span<const Time> ends;   ///< of its steps, by the rule of LatencyTable::add_path: a skipped one has an earlier time
  std::span<const Time> waits;  ///< by cause: what is left is service
  std::uint64_t waited_for = 0;
  bool cqe = true;  ///< a completion told of it; success that nobody asked to hear of has none
};

/// A table in CSV, with a header. Written in blocks: what it holds does not grow with the number of operations.
class OperationsFile {
 public:
  /// `steps` names the steps in the order in which an operation passes them, `causes` what it may wait for. `file` must outlive this.
  OperationsFile(OutputFile& file, const std::vector<std::string>& steps, std::span<const char* const> causes);

  /// The columns that tell a QP, made once for all of its operations.
  static std::string queue(const std::string& host, const std::string& name, std::uint32_t qpn);
  void add(const Operation& operation);
  /// Throws UserError when a line could not be written. The caller commits the file.
  void finish() { out_.finish(); }

 private:
  BlockWriter out_;
  std::vector<Time> spans_;  ///< of the steps of one line
};

}  // namespace mtsim::results
