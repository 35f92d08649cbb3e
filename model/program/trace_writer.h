// Operations as the text of a trace.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <ostream>
#include <string_view>

#include "program/op.h"
#include "program/trace_header.h"

namespace mtsim::program {

/// Writes canonical text: one order of keys, nothing that is a default, lengths in the largest unit that divides them. Read again, it
/// gives the same operations. Failure of the stream is for the caller to look at.
class TraceWriter {
 public:
  /// Begins the trace. `names` are those of the operations to come; names made later are seen.
  TraceWriter(std::ostream&, const Names& names);

  /// Header lines, before the first operation. Values of `meta` hold no quotes and no line ends.
  void meta(const Meta&);
  void host(std::string_view name, std::uint32_t cpus);  ///< cpus=0: not said
  void write(const Op&);

 private:
  void subject(const Op&);
  void objects(const Op&);
  void transfers(const verbs::DmaRequest&);
  void mapping(const verbs::MmapRequest&);
  void range(const Op&);
  void queue_pair(const Op&);
  void registration(const Op&);
  void request(const Op&);
  void poll(const Op&);
  void details(const Op&);
  void expectation(const Op&);

  void text(std::string_view);
  void own(std::string_view key, NameId);
  void number(std::string_view key, std::uint64_t);
  void number_unless(std::uint64_t usual, std::string_view key, std::uint64_t);
  void bytes(std::string_view key, std::uint64_t);
  void access(verbs::Access);
  void flags(const Op&);
  void sges(const Op&);
  void append_bytes(std::uint64_t);
  void append_name(NameId, bool with_host);
  void append_address(const AddressRef&);
  void append_key(const KeyRef&);
  void append_words(const std::vector<std::int32_t>&, Kind);
  void put_line();

  std::ostream& out_;
  const Names& names_;
  std::uint32_t host_ = 0;  ///< of the operation being written
  fmt::memory_buffer line_;
};

}  // namespace mtsim::program
