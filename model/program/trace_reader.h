// Traces as programs: checked as a whole when opened, then read again line by line for each actor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "program/op.h"
#include "program/trace_file.h"
#include "program/trace_header.h"

namespace mtsim::program {

struct TraceOptions {
  /// Which `expect.RULES=` win over `expect=`.
  std::string rules = "ib";
};

class Trace final : public Program {
 public:
  /// Reads the whole file once. Throws UserError with all that is wrong with it (the first Problems::limit in full).
  Trace(const std::string& path, TraceOptions);

  const Names& names() const override { return names_; }
  const std::vector<Use>& uses() const override { return uses_; }
  std::vector<NicUse> nics() const override { return nics_; }
  std::uint32_t cpus(std::uint32_t host) const override { return cpus_[host]; }
  /// Reads the file again; must not outlive the trace.
  std::unique_ptr<Cursor> cursor(ActorId) const override;
  std::string title() const override;
  /// Of the text as it is without compression: 16 hexadecimal digits. It tells traces apart; it is no protection against forgery.
  std::string hash() const override { return hash_; }
  std::uint64_t size() const override { return operations_; }

  const std::vector<Meta>& meta() const { return meta_; }
  /// All lines: operations, comments, blank ones.
  std::uint64_t lines() const { return lines_; }

 private:
  class FirstPass;
  TraceFile file_;
  TraceOptions options_;
  Names names_;
  std::vector<Use> uses_;
  std::vector<NicUse> nics_;
  std::vector<std::uint32_t> cpus_;
  std::vector<Meta> meta_;
  std::uint64_t operations_ = 0, lines_ = 0;
  std::string hash_;
};

/// `path` may be compressed (.zst, .gz), a pipe, or `-` for standard input.
std::unique_ptr<Trace> open_trace(const std::string& path, const TraceOptions& = {});

}  // namespace mtsim::program
