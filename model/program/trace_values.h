// The values of a line of a trace: numbers, names, addresses, keys, scatter lists, flags.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "program/op.h"
#include "program/trace_problems.h"
#include "program/trace_words.h"

namespace mtsim::program {

/// What a name must stand for where it is used. The name of another kind of object is as wrong as none.
enum class Wanted : std::uint8_t {
  buffer,
  region,
  window,
  address,        ///< a buffer, an MR or a window
  keyed_address,  ///< an MR or a window: the key is left out
  key,            ///< an MR or a window
  pd,
  cq,
  qp,
  srq,
};
Space space_of(Wanted);

/// A name used on a line, to be checked against the names made once the whole trace has been read.
struct Reference {
  NameId name = 0;
  Wanted wanted = Wanted::address;
  std::uint32_t column = 0;
};

/// The most nanoseconds that a Time in picoseconds holds.
inline constexpr std::uint64_t longest_ns = std::numeric_limits<std::int64_t>::max() / 1000;

/// Numbers that may be written.
struct Range {
  std::uint64_t low = 0, high = std::numeric_limits<std::uint64_t>::max();
  bool units = false;  ///< K, M, G and T may follow
};

/// Reads values of one line after the other. Each function returns false after telling what is wrong; texts are parts of the line.
class ValueReader {
 public:
  /// `growing` is `names`, or null when the names must all be known already.
  ValueReader(const Names& names, Names* growing, Problems& problems) : names_(names), growing_(growing), problems_(problems) {}

  void start(std::string_view line, std::uint64_t number) {
    line_ = line;
    number_ = number;
    references_.clear();
  }
  void set_host(std::uint32_t host) { host_ = host; }

  template <class Text>
  bool fail(std::string_view at, Text text) {
    problems_.add(number_, column(at), text);
    return false;
  }
  std::uint32_t column(std::string_view at) const { return static_cast<std::uint32_t>(at.data() - line_.data()) + 1; }

  bool number(std::string_view, std::uint64_t& out, Range = {});
  template <class T>
  bool number(std::string_view text, T& out, Range range = {}) {
    range.high = std::min<std::uint64_t>(range.high, std::numeric_limits<T>::max());
    std::uint64_t wide = 0;
    if (!number(text, wide, range)) return false;
    out = static_cast<T>(wide);
    return true;
  }
  bool flag(std::string_view, bool& out);  ///< 0 or 1
  /// One of `words`; `what` names the set in the message ("a page size").
  bool word(std::string_view, const Words& words, std::string_view what, int& out);
  template <class E>
  bool word(std::string_view text, const Words& words, std::string_view what, E& out) {
    int found = 0;
    if (!word(text, words, what, found)) return false;
    out = static_cast<E>(found);
    return true;
  }

  /// An object of the line's own host: another process's objects cannot be used.
  bool own(std::string_view, Wanted, NameId& out);
  /// An object of any host: `mr0` or `b.mr0`.
  bool any(std::string_view, Wanted, NameId& out);
  /// HOST.QP, the host spelt out.
  bool peer(std::string_view, NameId& out);

  bool address(std::string_view, AddressRef& out, Wanted = Wanted::address);
  bool key(std::string_view, KeyRef& out);
  /// ADDR[:KEY]; `may_omit_key` when nothing will ask for the key.
  bool remote(std::string_view, AddressRef& out, KeyRef& key, bool may_omit_key);
  /// ADDR:LEN[:KEY],...
  bool sges(std::string_view, std::vector<SgeRef>& out, bool may_omit_key);

  bool access(std::string_view, verbs::Access& out);
  bool send_flags(std::string_view, verbs::Send& flags, bool& more);

  const std::vector<Reference>& references() const { return references_; }

 private:
  bool host_named(std::string_view, std::uint32_t& out);
  bool intern(std::string_view, std::uint32_t host, Wanted, NameId& out);
  bool sge(std::string_view, SgeRef& out, bool may_omit_key);

  const Names& names_;
  Names* growing_;
  Problems& problems_;
  std::string_view line_;
  std::uint64_t number_ = 0;
  std::uint32_t host_ = 0;
  std::vector<Reference> references_;
};

/// Whether `text` is `[A-Za-z_][A-Za-z0-9_]*`.
bool is_name(std::string_view text);

/// Where the first of `letters` stands in `text`, or its size. Values are a few bytes long: a call of memchr costs more than the search.
template <class... Letter>
std::size_t position(std::string_view text, Letter... letters) {
  std::size_t at = 0;
  while (at < text.size() && ((text[at] != letters) && ...)) ++at;
  return at;
}

/// Takes the part before the first `separator` off `text`, and the separator.
std::string_view take_until(std::string_view& text, char separator);

}  // namespace mtsim::program
