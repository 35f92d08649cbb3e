// The values of a line, as text.
#include <algorithm>
#include <bit>
#include <cassert>
#include <iterator>

#include "program/trace_words.h"
#include "program/trace_writer.h"

namespace mtsim::program {

void TraceWriter::text(std::string_view part) { line_.append(part.data(), part.data() + part.size()); }

void TraceWriter::own(std::string_view key, NameId id) {
  // A key that the grammar leaves free may name nothing.
  if (id) fmt::format_to(std::back_inserter(line_), " {}={}", key, names_.object_name(id));
}

void TraceWriter::number(std::string_view key, std::uint64_t value) { fmt::format_to(std::back_inserter(line_), " {}={}", key, value); }

void TraceWriter::number_unless(std::uint64_t usual, std::string_view key, std::uint64_t value) {
  if (value != usual) number(key, value);
}

void TraceWriter::bytes(std::string_view key, std::uint64_t value) {
  fmt::format_to(std::back_inserter(line_), " {}=", key);
  append_bytes(value);
}

void TraceWriter::append_bytes(std::uint64_t value) {
  constexpr std::string_view units = "KMGT";
  const int unit = value == 0 ? 0 : std::min(std::countr_zero(value) / 10, static_cast<int>(units.size()));
  fmt::format_to(std::back_inserter(line_), "{}", value >> (10 * unit));
  if (unit > 0) line_.push_back(units[static_cast<std::size_t>(unit) - 1]);
}

void TraceWriter::access(verbs::Access flags) {
  text(" access=");
  if (flags == verbs::Access::none) text("0");
  bool first = true;
  for (std::size_t i = 0; i < access_words().size(); ++i) {
    if (!verbs::has(flags, static_cast<verbs::Access>(1 << i))) continue;
    if (!first) text(",");
    text(access_words()[i]);
    first = false;
  }
}

void TraceWriter::flags(const Op& op) {
  bool first = true;
  const std::size_t more = flag_words().size() - 1;
  for (std::size_t i = 0; i <= more; ++i) {
    if (i < more ? !verbs::has(op.flags, static_cast<verbs::Send>(1 << i)) : !op.more) continue;
    text(first ? " flags=" : ",");
    text(flag_words()[i]);
    first = false;
  }
}

void TraceWriter::sges(const Op& op) {
  text(" sge=");
  bool first = true;
  for (const SgeRef& sge : op.sges) {
    if (!first) text(",");
    append_address(sge.address);
    text(":");
    append_bytes(sge.length);
    if (sge.key.form != KeyRef::Form::omitted) text(":");
    append_key(sge.key);
    first = false;
  }
}

void TraceWriter::append_name(NameId id, bool with_host) {
  if (with_host || names_.host_of(id) != host_) fmt::format_to(std::back_inserter(line_), "{}.", names_.hosts()[names_.host_of(id)]);
  text(names_.object_name(id));
}

void TraceWriter::append_address(const AddressRef& address) {
  if (address.object == 0) {
    fmt::format_to(std::back_inserter(line_), "{:#x}", address.offset);
    return;
  }
  append_name(address.object, false);
  const bool before = (address.offset >> 63) != 0;
  const std::uint64_t distance = before ? 0 - address.offset : address.offset;
  if (distance == 0) return;
  text(before ? "-" : "+");
  append_bytes(distance);
}

void TraceWriter::append_key(const KeyRef& key) {
  switch (key.form) {
    case KeyRef::Form::omitted:
      return;
    case KeyRef::Form::raw:
      fmt::format_to(std::back_inserter(line_), "{:#x}", key.raw);
      return;
    case KeyRef::Form::of_place:
    case KeyRef::Form::lkey:
    case KeyRef::Form::rkey:
      break;
  }
  append_name(key.object, false);
  if (key.form == KeyRef::Form::lkey) text(".lkey");
  if (key.form == KeyRef::Form::rkey) text(".rkey");
  assert((key.add == 0 || key.flip == 0) && "a key is changed in one way or the other");
  if (key.add) fmt::format_to(std::back_inserter(line_), "+{}", key.add);
  if (key.flip) fmt::format_to(std::back_inserter(line_), "^{}", key.flip);
}

void TraceWriter::expectation(const Op& op) {
  if (!op.expect.given) return;
  text(" expect=");
  if (op.expect.any) text("any");
  else if (op.expect.by_wr.empty()) append_words(op.expect.words, op.kind);
  bool first = true;
  for (const auto& [wr, words] : op.expect.by_wr) {
    fmt::format_to(std::back_inserter(line_), "{}{}:", first ? "" : ",", wr);
    append_words(words, op.kind);
    first = false;
  }
}

void TraceWriter::append_words(const std::vector<std::int32_t>& words, Kind kind) {
  if (kind == Kind::poll && words.size() == verbs::status_count) {
    text("any");
    return;
  }
  bool first = true;
  for (const std::int32_t word : words) {
    if (!first) text("|");
    if (kind == Kind::poll) text(verbs::name(static_cast<verbs::Status>(word)));
    else if (kind == Kind::query_qp) text(verbs::name(static_cast<verbs::QpState>(word)));
    else if (kind == Kind::event) text(event_words()[static_cast<std::size_t>(word)]);
    else text(verbs::errno_name(word));
    first = false;
  }
}

void TraceWriter::put_line() {
  line_.push_back('\n');
  out_.write(line_.data(), static_cast<std::streamsize>(line_.size()));
  line_.clear();
}

}  // namespace mtsim::program
