// The words of the trace format: operations, keys and the values that are words. Reader and writer share these tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mtsim::program {

/// A closed set of words, numbered in the order given. Finding one costs a hash of a few letters and one comparison.
class Words {
 public:
  explicit Words(std::vector<std::string_view> words);

  /// The number of `word`, or -1.
  int find(std::string_view word) const;
  std::string_view operator[](std::size_t number) const { return words_[number]; }
  std::size_t size() const { return words_.size(); }
  std::vector<std::string> list() const { return {words_.begin(), words_.end()}; }
  /// `rc, uc or ud`.
  std::string choices() const;

 private:
  static std::size_t slot(std::string_view word);
  std::vector<std::string_view> words_;
  std::vector<std::int16_t> slots_;
};

/// The keys of `key=value`, in the order in which the writer puts them on a line.
enum class Key : std::uint8_t {
  pd,
  dev,
  qp,
  mr,
  mw,
  type,
  scq,
  rcq,
  srq,
  sq,
  rq,
  send_sge,
  recv_sge,
  inline_,
  wr,
  addr,
  off,
  len,
  page,
  prot,
  share,
  backing,
  populate,
  align,
  at,
  write,
  limit,
  safe,
  advice,
  access,
  iova,
  key,
  sge,
  to,
  ud,
  imm,
  inv,
  cmp,
  swp,
  add,
  flags,
  flush,
  max,
  depth,
  sig_all,
  timeout,
  retry,
  rnr_retry,
  rnr_timer,
  rd_atomic,
  dest_rd_atomic,
  mtu,
  state,
  n,
  wait,
  idle,
  hazard,
  window,
  seed,
  cache,
  by,
  expect,
};
inline constexpr unsigned key_count = unsigned(Key::expect) + 1;

/// A set of keys.
using Keys = std::uint64_t;
static_assert(key_count <= 64);
constexpr Keys bit(Key key) { return Keys{1} << unsigned(key); }
template <class... K>
constexpr Keys keys(K... key) {
  return (Keys{0} | ... | bit(key));
}

const Words& kind_words();      ///< in the order of Kind
const Words& key_words();       ///< in the order of Key
const Words& opcode_words();    ///< of post_send, in the order of verbs::Opcode
const Words& status_words();    ///< in the order of verbs::Status
const Words& qp_type_words();   ///< in the order of verbs::QpType
const Words& qp_state_words();  ///< in the order of verbs::QpState
const Words& access_words();    ///< lw rr ...: word i is bit i of verbs::Access
const Words& flag_words();      ///< signaled inline fence solicited more: word i but the last is bit i of verbs::Send
const Words& page_words();      ///< in the order of verbs::PageKind
const Words& prot_words();      ///< rw r none
const Words& backing_words();   ///< in the order of verbs::Backing
const Words& madvise_words();
const Words& advise_mr_words();
const Words& dma_words();     ///< in the order of verbs::DmaRequest::Kind
const Words& cache_words();   ///< in the order of verbs::DmaRequest::Cache
const Words& event_words();   ///< asynchronous events, as ibv_event_type without its prefix
const Words& hazard_words();  ///< none stale foreign

}  // namespace mtsim::program
