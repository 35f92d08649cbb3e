// One line of a trace into one operation.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/op.h"
#include "program/trace_grammar.h"
#include "program/trace_problems.h"
#include "program/trace_tokens.h"
#include "program/trace_values.h"
#include "program/trace_words.h"

namespace mtsim::program {

class LineParser {
 public:
  /// `growing` is `names`, or null when all names must be known already. `rules` selects among `expect.RULES=`.
  LineParser(const Names& names, Names* growing, std::string rules, Problems& problems)
      : names_(names), growing_(growing), rules_(std::move(rules)), values_(names, growing, problems) {}

  /// Reads an operation. False after telling what is wrong; `op` then holds what could be read.
  bool parse(std::string_view line, std::uint64_t number, Op& op);

  // Of the line read last. Columns count from 1; 0 where there is no such thing.
  bool has_actor() const { return has_actor_; }
  bool has_kind() const { return has_kind_; }
  bool has(Key key) const { return (given_ & bit(key)) != 0; }
  std::uint32_t kind_column() const { return column_of(kind_text_); }
  std::uint32_t opcode_column() const { return column_of(word_); }
  std::uint32_t column(Key key) const { return has(key) ? column_of(value(key)) : 0; }
  /// The name of the object made or acted on, as written.
  std::string_view subject() const { return subject_; }
  std::uint32_t subject_column() const { return column_of(subject_); }
  const std::vector<Reference>& references() const { return values_.references(); }

 private:
  using Token = Tokens::Token;

  bool take_time(std::string_view text, Op& op);
  bool take_actor(std::string_view text, Op& op);
  bool take_kind(std::string_view text, Op& op);
  bool take_subject(std::string_view text, const Shape&, Op& op);
  bool take_word(std::string_view text, Kind);
  bool take_pair(Token);
  bool read_opcode(Op& op);
  bool check_keys(const Op& op);
  bool read_values(Op& op);
  bool read_expectations(Op& op);
  bool check_together(const Op& op);

  // By groups of keys, so that each function stays readable: each hands on to the next what it does not know. Requests come first,
  // since most lines are such.
  bool read_request(Key, std::string_view, Op& op);
  bool read_object(Key, std::string_view, Op& op);
  bool read_memory(Key, std::string_view, Op& op);
  bool read_qp(Key, std::string_view, Op& op);
  bool read_flags(std::string_view, Op& op);
  bool read_destination(std::string_view, Op& op);

  std::string_view value(Key key) const { return pairs_[static_cast<std::size_t>(key)]; }
  std::uint32_t column_of(std::string_view part) const { return part.data() ? values_.column(part) : 0; }

  const Names& names_;
  Names* growing_;
  std::string rules_;
  ValueReader values_;

  std::string actor_text_;  ///< of the last line with an actor, and its number
  ActorId actor_ = 0;
  std::string_view kind_text_, subject_, word_;
  bool has_actor_ = false, has_kind_ = false;
  Keys given_ = 0;
  std::array<std::string_view, key_count> pairs_;
  std::vector<std::pair<std::string_view, std::string_view>> rule_expectations_;  ///< RULES and value of each `expect.RULES=`
  Op scratch_;  ///< takes the expectations that do not hold under the rules of the run: they are checked all the same
};

}  // namespace mtsim::program
