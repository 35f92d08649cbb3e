#include "program/trace_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "program/trace_expect.h"

namespace mtsim::program {
namespace {

bool is_actor(std::string_view text) {
  const std::size_t dot = text.find('.');
  return dot != std::string_view::npos && is_name(text.substr(0, dot)) && is_name(text.substr(dot + 1));
}

/// The keys of a set, as words.
std::vector<std::string> words_of(Keys set) {
  std::vector<std::string> out;
  for (unsigned i = 0; i < key_count; ++i)
    if (set & bit(static_cast<Key>(i))) out.emplace_back(key_words()[i]);
  return out;
}

/// Values that the grammar gives where a key is left out, beyond those of Op itself.
void set_defaults(Op& op) {
  switch (op.kind) {
    case Kind::touch:
    case Kind::fork_init:
      op.flag = true;
      break;
    case Kind::create_cq:
      op.depth = 256;
      break;
    case Kind::create_srq:
      op.depth = 128;
      op.sge_limit = 4;
      break;
    case Kind::poll:
      op.count = 1;
      break;
    case Kind::munmap:
    case Kind::mprotect:
    case Kind::migrate:
    case Kind::swapout:
    case Kind::madvise:
      op.whole = true;
      break;
    default:
      break;
  }
  if (op.kind == Kind::touch) op.whole = true;
}

}  // namespace

bool LineParser::parse(std::string_view line, std::uint64_t number, Op& op) {
  op.clear();
  op.line = number;
  values_.start(line, number);
  kind_text_ = subject_ = word_ = {};
  has_actor_ = has_kind_ = false;
  given_ = 0;
  rule_expectations_.clear();

  Tokens tokens(line);
  Token token = tokens.next();
  bool good = true;
  if (token.text.starts_with('@')) {
    good = take_time(token.text.substr(1), op);
    token = tokens.next();
    if (token.text.empty()) return values_.fail(line, [] { return "the line ends after its time: an actor and an operation are missing"; });
  }
  const std::string_view actor = token.text;
  good = take_actor(actor, op) && good;
  token = tokens.next();
  if (token.text.empty()) return values_.fail(actor, [&] { return fmt::format("no operation follows {}", quote(actor)); });
  if (!take_kind(token.text, op)) {
    subject_ = tokens.next().text;  // what the misspelt operation may have made
    return false;
  }
  set_defaults(op);

  const Shape& form = shape(op.kind);
  if (form.subject != Subject::none) {
    token = tokens.next();
    if (token.text.empty() || token.equals != std::string_view::npos)
      return values_.fail(token.text.empty() ? kind_text_ : token.text,
                          [&] { return fmt::format("{} lacks what it is about; its form is {}", kind_text_, form.form); });
    good = take_subject(token.text, form, op) && good;
  }
  for (token = tokens.next(); !token.text.empty(); token = tokens.next())
    good = (token.equals == std::string_view::npos ? take_word(token.text, op.kind) : take_pair(token)) && good;
  if (tokens.rest().find('\0') != std::string_view::npos)
    good = values_.fail(tokens.rest(), [] { return "a NUL byte in the comment: this is not text"; });
  if (!good || !read_opcode(op) || !check_keys(op)) return false;
  good = read_values(op);
  return read_expectations(op) && good && check_together(op);
}

bool LineParser::take_time(std::string_view text, Op& op) { return values_.number(text, op.at_ns, {.high = longest_ns}); }

bool LineParser::take_actor(std::string_view text, Op& op) {
  // Most lines are of the same actor as the line before.
  if (text == actor_text_) op.actor = actor_;
  else if (const auto known = names_.find_actor(text)) op.actor = *known;
  else if (!is_actor(text))
    return values_.fail(text, [&] { return fmt::format("{} is not an actor: HOST.THREAD, such as a.t0", quote(text)); });
  else if (growing_) op.actor = growing_->actor(text);
  else return values_.fail(text, [&] { return fmt::format("{} was not there when the trace was checked", quote(text)); });
  if (actor_text_.empty() || op.actor != actor_) {
    actor_ = op.actor;
    actor_text_ = text;
  }
  has_actor_ = true;
  values_.set_host(names_.actors()[op.actor].host);
  return true;
}

bool LineParser::take_kind(std::string_view text, Op& op) {
  kind_text_ = text;
  const int found = kind_words().find(text);
  if (found < 0)
    return values_.fail(text, [&] { return fmt::format("unknown operation {}{}", quote(text), did_you_mean(text, kind_words().list())); });
  op.kind = static_cast<Kind>(found);
  has_kind_ = true;
  return has_actor_;
}

bool LineParser::take_subject(std::string_view text, const Shape& form, Op& op) {
  subject_ = text;
  switch (form.subject) {
    case Subject::none:
      return true;
    case Subject::makes:
    case Subject::uses:
      if (!values_.own(text, form.wanted, op.id)) return false;
      // The same object under the name that its own field has, for those who look there.
      if (op.kind == Kind::post_send || op.kind == Kind::post_recv) op.qp = op.id;
      if (op.kind == Kind::poll) op.cq = op.id;
      if (op.kind == Kind::post_srq) op.srq = op.id;
      return true;
    case Subject::child:
      if (const auto known = names_.find_child(names_.actors()[op.actor].host, text)) op.child = *known;
      else if (!is_name(text)) break;
      else if (growing_) op.child = growing_->child(names_.actors()[op.actor].host, text);
      else return values_.fail(text, [&] { return fmt::format("{} was not there when the trace was checked", quote(text)); });
      return true;
    case Subject::barrier:
      if (const auto known = names_.find_barrier(text)) op.barrier = *known;
      else if (!is_name(text)) break;
      else if (growing_) op.barrier = growing_->barrier(text);
      else return values_.fail(text, [&] { return fmt::format("{} was not there when the trace was checked", quote(text)); });
      return true;
    case Subject::span:
      return values_.number(text, op.number, {.high = longest_ns});
    case Subject::flag:
      return values_.flag(text, op.flag);
    case Subject::advice: {
      int found = 0;
      if (!values_.word(text, advise_mr_words(), "an advice", found)) return false;
      op.word = text;
      return true;
    }
  }
  return values_.fail(text, [&] { return fmt::format("{} is not a name: letters, digits and _, not a digit first", quote(text)); });
}

bool LineParser::take_word(std::string_view text, Kind kind) {
  const bool taken = kind == Kind::post_send || (kind == Kind::rereg_mr && text == "trans");
  if (!taken || word_.data())
    return values_.fail(text, [&] { return fmt::format("unexpected word {}; the form is {}", quote(text), shape(kind).form); });
  word_ = text;
  return true;
}

bool LineParser::take_pair(Token token) {
  const std::string_view name = token.text.substr(0, token.equals), text = token.text.substr(token.equals + 1);
  constexpr std::string_view for_rules = "expect.";
  const auto twice = [&] { return fmt::format("{}= stands twice on the line", name); };
  if (text.empty()) return values_.fail(name, [&] { return fmt::format("{}= has no value", name); });
  if (name.starts_with(for_rules)) {
    const std::string_view rules = name.substr(for_rules.size());
    if (rules.empty()) return values_.fail(name, [] { return "expect. must name the rules: expect.RULES=WORD"; });
    for (const auto& [known, other] : rule_expectations_)
      if (known == rules) return values_.fail(name, twice);
    rule_expectations_.emplace_back(rules, text);
    return true;
  }
  const int found = key_words().find(name);
  if (found < 0) {
    const Kind kind = static_cast<Kind>(kind_words().find(kind_text_));
    if (name == "kind" || name == "of")
      return values_.fail(name, [&] { return fmt::format("{}= is reserved: this version carries out no other kinds of memory", name); });
    return values_.fail(name, [&] {
      Keys known = shape(kind).required | shape(kind).optional;
      if (kind == Kind::post_send)
        for (unsigned i = 0; i < verbs::opcode_count; ++i)
          known |= shape(static_cast<verbs::Opcode>(i)).required | shape(static_cast<verbs::Opcode>(i)).optional;
      return fmt::format("unknown key {} of {}{}", quote(name), kind_text_, did_you_mean(name, words_of(known)));
    });
  }
  const Key key = static_cast<Key>(found);
  if (has(key)) return values_.fail(name, twice);
  given_ |= bit(key);
  pairs_[static_cast<std::size_t>(key)] = text;
  return true;
}

bool LineParser::read_opcode(Op& op) {
  if (op.kind == Kind::rereg_mr) op.flag = word_.data() != nullptr;
  if (op.kind != Kind::post_send) return true;
  if (!word_.data())
    return values_.fail(kind_text_, [&] { return fmt::format("post_send needs an opcode: {}", opcode_words().choices()); });
  const int found = opcode_words().find(word_);
  if (found < 0)
    return values_.fail(word_, [&] {
      const std::string guess = did_you_mean(word_, opcode_words().list());
      return fmt::format("unknown opcode {}{}", quote(word_), guess.empty() ? "; known are " + opcode_words().choices() : guess);
    });
  op.opcode = static_cast<verbs::Opcode>(found);
  return true;
}

bool LineParser::check_keys(const Op& op) {
  const bool posts = op.kind == Kind::post_send;
  const Shape& form = shape(op.kind);
  const Shape& detail = shape(op.opcode);
  const Keys required = form.required | (posts ? detail.required : 0);
  const Keys known = required | form.optional | (posts ? detail.optional : 0);
  const auto what = [&] { return posts ? fmt::format("post_send {}", word_) : std::string(kind_text_); };
  const std::string_view usage = posts ? detail.form : form.form;
  bool good = true;
  for (Keys wrong = given_ & ~known; wrong; wrong &= wrong - 1) {
    const Key key = static_cast<Key>(std::countr_zero(wrong));
    const std::string_view name = key_words()[static_cast<std::size_t>(key)];
    const std::string_view at(value(key).data() - 1 - name.size(), name.size());
    good = values_.fail(at, [&] {
      return fmt::format("{} takes no {}={}; its form is {}", what(), name, did_you_mean(name, words_of(known & ~given_)), usage);
    });
  }
  if (!rule_expectations_.empty() && (known & bit(Key::expect)) == 0)
    good = values_.fail(rule_expectations_[0].second, [&] { return fmt::format("{} takes no expectation", what()); });
  if (const Keys missing = required & ~given_) {
    std::string list;
    for (const std::string& name : words_of(missing)) list += (list.empty() ? "" : ", ") + name + "=";
    good = values_.fail(kind_text_, [&] { return fmt::format("{} lacks {}; its form is {}", what(), list, usage); });
  }
  return good;
}

bool LineParser::read_values(Op& op) {
  bool good = true;
  // Whether keys may be left out of sge= and to= depends on flags=, wherever on the line it stands.
  if (has(Key::flags)) good = read_flags(value(Key::flags), op);
  for (Keys left = given_ & ~keys(Key::flags, Key::expect); left; left &= left - 1) {
    const Key key = static_cast<Key>(std::countr_zero(left));
    good = read_request(key, value(key), op) && good;
  }
  return good;
}

bool LineParser::read_expectations(Op& op) {
  bool good = true, chosen = false;
  for (const auto& [rules, text] : rule_expectations_) {
    const bool holds = rules == rules_;
    chosen = chosen || holds;
    good = read_expectation(values_, text, op.kind, holds ? op : scratch_) && good;
  }
  if (has(Key::expect)) good = read_expectation(values_, value(Key::expect), op.kind, chosen ? scratch_ : op) && good;
  return good;
}

bool LineParser::check_together(const Op& op) {
  const auto fail = [&](Key key, std::string_view text) { return values_.fail(value(key), [&] { return std::string(text); }); };
  const bool pair = has(Key::off) == has(Key::len);
  switch (op.kind) {
    case Kind::munmap:
    case Kind::mprotect:
    case Kind::migrate:
    case Kind::swapout:
    case Kind::madvise:
      return pair || fail(has(Key::off) ? Key::off : Key::len, "off= and len= stand together or not at all");
    case Kind::reg_mr:
      return !op.whole || (op.address.object == 0 && op.address.offset == 0) || fail(Key::len, "len=all goes with addr=0 only");
    case Kind::rereg_mr:
      if (op.flag != has(Key::addr) || op.flag != has(Key::len))
        return values_.fail(kind_text_, [] { return "trans, addr= and len= stand together or not at all"; });
      return true;
    case Kind::poll:
      if (has(Key::n) + has(Key::wr) + has(Key::idle) > 1)
        return fail(has(Key::n) ? Key::n : Key::wr, "a poll has one of n=, wr= and idle=");
      return !(has(Key::idle) && has(Key::wait)) || fail(Key::wait, "wait= does not go with idle=");
    default:
      return true;
  }
}

}  // namespace mtsim::program
