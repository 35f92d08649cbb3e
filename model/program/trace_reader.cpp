#include "program/trace_reader.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "program/trace_check.h"
#include "program/trace_hash.h"
#include "program/trace_parser.h"
#include "program/trace_uses.h"

namespace mtsim::program {
namespace {

/// Whether an operation's line is `actor`'s, without reading more of it than that.
bool is_line_of(std::string_view line, std::string_view actor) {
  const auto skip_blanks = [&] {
    std::size_t n = 0;
    while (n < line.size() && (line[n] == ' ' || line[n] == '\t')) ++n;
    line.remove_prefix(n);
  };
  skip_blanks();
  if (line.starts_with('@')) {
    std::size_t n = 1;
    while (n < line.size() && line[n] != ' ' && line[n] != '\t') ++n;
    line.remove_prefix(n);
    skip_blanks();
  }
  return line.starts_with(actor) && (line.size() == actor.size() || line[actor.size()] == ' ' || line[actor.size()] == '\t');
}

class TraceCursor final : public Cursor {
 public:
  TraceCursor(const TraceFile& file, const Names& names, const std::string& rules, ActorId actor)
      : lines_(file.read()), problems_(file.name()), parser_(names, nullptr, rules, problems_), actor_(names.actors()[actor].name) {}

  bool next(Op& op) override {
    std::string_view line;
    while (lines_.next(line)) {
      if (!is_line_of(line, actor_)) continue;
      if (!parser_.parse(line, lines_.number(), op)) problems_.raise();
      return true;
    }
    return false;
  }

 private:
  LineReader lines_;
  Problems problems_;
  LineParser parser_;
  std::string actor_;
};

}  // namespace

/// Reads every line, keeps names and what is wrong.
class Trace::FirstPass {
 public:
  explicit FirstPass(Trace& trace)
      : trace_(trace),
        problems_(trace.file_.name()),
        check_(trace.names_, problems_),
        uses_(trace.file_.name(), trace.names_),
        parser_(trace.names_, &trace.names_, trace.options_.rules, problems_) {}

  void run() {
    // Damage ends the reading at once: lines that a broken decompressor made up are not worth telling about.
    read_lines();
    check_.finish();
    if (problems_.any()) problems_.raise();
    trace_.uses_ = uses_.take();
    trace_.nics_ = uses_.take_nics();
    trace_.cpus_.resize(trace_.names_.hosts().size());
    trace_.hash_ = fmt::format("{:016x}", hash_.value());
  }

 private:
  void read_lines() {
    LineReader lines = trace_.file_.read();
    std::string_view line;
    if (!lines.next(line)) throw UserError(place(trace_.file_.name(), 1, 1) + ": the file is empty; a trace begins with 'mtrace 1'");
    hash_.add(line);
    if (!read_version(line, problems_)) problems_.raise();
    while (lines.next(line)) {
      hash_.add(line);
      read_line(line, lines.number());
    }
    trace_.lines_ = lines.number();
  }

  void read_line(std::string_view line, std::uint64_t number) {
    switch (kind_of_line(line)) {
      case LineKind::blank:
        if (line.find('\0') != std::string_view::npos)
          problems_.add(number, line.find('\0') + 1, [] { return "a NUL byte in the comment: this is not text"; });
        return;
      case LineKind::meta:
        if (in_header(number, "meta")) read_meta(line, number, problems_, trace_.meta_.emplace_back());
        return;
      case LineKind::host:
        if (in_header(number, "host")) take_host(line, number);
        return;
      case LineKind::operation:
        break;
    }
    ++trace_.operations_;
    if (parser_.parse(line, number, op_)) {
      check_.operation(parser_, op_);
      uses_.note(parser_, op_);
    } else {
      check_.broken_line(parser_, op_);
    }
  }

  bool in_header(std::uint64_t number, std::string_view what) {
    if (trace_.operations_ > 0)
      problems_.add(number, 1, [&] { return fmt::format("{} stands after the first operation: it belongs to the header", what); });
    return trace_.operations_ == 0;
  }

  void take_host(std::string_view line, std::uint64_t number) {
    HostLine said;
    if (!read_host(line, number, problems_, said)) return;
    if (trace_.names_.find_host(said.name)) {
      problems_.add(number, 1, [&] { return fmt::format("host {} is declared twice", quote(said.name)); });
      return;
    }
    check_.host_declared(trace_.names_.host(said.name));
    trace_.cpus_.push_back(said.cpus);
  }

  Trace& trace_;
  Problems problems_;
  TraceCheck check_;
  UseList uses_;
  LineParser parser_;
  TraceHash hash_;
  Op op_;
};

Trace::Trace(const std::string& path, TraceOptions options) : file_(path), options_(std::move(options)) { FirstPass(*this).run(); }

std::unique_ptr<Cursor> Trace::cursor(ActorId actor) const { return std::make_unique<TraceCursor>(file_, names_, options_.rules, actor); }

std::string Trace::title() const { return std::filesystem::path(file_.name()).filename().string(); }

std::unique_ptr<Trace> open_trace(const std::string& path, const TraceOptions& options) { return std::make_unique<Trace>(path, options); }

}  // namespace mtsim::program
