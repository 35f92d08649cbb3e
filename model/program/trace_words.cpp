#include "program/trace_words.h"

#include <bit>

#include "verbs/types.h"

namespace mtsim::program {
namespace {

template <class E>
std::vector<std::string_view> names_of(unsigned count) {
  std::vector<std::string_view> out;
  for (unsigned i = 0; i < count; ++i) out.push_back(verbs::name(static_cast<E>(i)));
  return out;
}

}  // namespace

Words::Words(std::vector<std::string_view> words) : words_(std::move(words)), slots_(std::bit_ceil(words_.size() * 4), -1) {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    std::size_t at = slot(words_[i]) & (slots_.size() - 1);
    while (slots_[at] >= 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<std::int16_t>(i);
  }
}

std::size_t Words::slot(std::string_view word) {
  const auto letter = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(word[i])); };
  return word.empty() ? 0 : word.size() * 5 + letter(0) * 7 + letter(word.size() / 2) * 31 + letter(word.size() - 1) * 3;
}

int Words::find(std::string_view word) const {
  for (std::size_t at = slot(word) & (slots_.size() - 1); slots_[at] >= 0; at = (at + 1) & (slots_.size() - 1))
    if (words_[static_cast<std::size_t>(slots_[at])] == word) return slots_[at];
  return -1;
}

std::string Words::choices() const {
  std::string out;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (i > 0) out += i + 1 < words_.size() ? ", " : " or ";
    out += words_[i];
  }
  return out;
}

const Words& kind_words() {
  static const Words words({"mmap",         "munmap",     "mprotect",    "touch",     "copy",     "migrate",    "swapout",    "memlock",
                            "cap_ipc_lock", "fork",       "fork_init",   "madvise",   "alloc_pd", "dealloc_pd", "reg_mr",     "rereg_mr",
                            "dereg_mr",     "advise_mr",  "dma",         "alloc_mr",  "alloc_mw", "bind_mw",    "dealloc_mw", "create_cq",
                            "destroy_cq",   "create_srq", "destroy_srq", "create_qp", "connect",  "modify_qp",  "destroy_qp", "post_send",
                            "post_recv",    "post_srq",   "poll",        "barrier",   "compute",  "sleep",      "query_qp",   "event"});
  return words;
}

const Words& key_words() {
  static const Words words({"pd",        "dev",       "qp",
                            "mr",        "mw",        "type",
                            "scq",       "rcq",       "srq",
                            "sq",        "rq",        "send_sge",
                            "recv_sge",  "inline",    "wr",
                            "addr",      "off",       "len",
                            "page",      "prot",      "share",
                            "backing",   "populate",  "align",
                            "at",        "write",     "limit",
                            "safe",      "advice",    "access",
                            "iova",      "key",       "sge",
                            "to",        "ud",        "imm",
                            "inv",       "cmp",       "swp",
                            "add",       "flags",     "flush",
                            "max",       "depth",     "sig_all",
                            "timeout",   "retry",     "rnr_retry",
                            "rnr_timer", "rd_atomic", "dest_rd_atomic",
                            "mtu",       "state",     "n",
                            "wait",      "idle",      "hazard",
                            "window",    "seed",      "cache",
                            "by",        "expect"});
  return words;
}

const Words& opcode_words() {
  // The last opcode, recv, exists in completions only.
  static const Words words(names_of<verbs::Opcode>(verbs::opcode_count - 1));
  return words;
}

const Words& status_words() {
  static const Words words(names_of<verbs::Status>(verbs::status_count));
  return words;
}

const Words& qp_type_words() {
  static const Words words(names_of<verbs::QpType>(3));
  return words;
}

const Words& qp_state_words() {
  static const Words words(names_of<verbs::QpState>(7));
  return words;
}

const Words& access_words() {
  static const Words words({"lw", "rr", "rw", "ra", "mw", "zb", "od", "ht", "ro", "fg", "fp"});
  return words;
}

const Words& flag_words() {
  static const Words words({"signaled", "inline", "fence", "solicited", "more"});
  return words;
}

const Words& page_words() {
  static const Words words({"4K", "2M", "1G", "thp"});
  return words;
}

const Words& prot_words() {
  static const Words words({"rw", "r", "none"});
  return words;
}

const Words& backing_words() {
  static const Words words({"anon", "file", "io"});
  return words;
}

const Words& madvise_words() {
  static const Words words({"dontfork", "dofork", "dontneed", "hugepage"});
  return words;
}

const Words& advise_mr_words() {
  static const Words words({"prefetch", "prefetch_write", "prefetch_no_fault"});
  return words;
}

const Words& dma_words() {
  static const Words words({"read", "write", "write_read"});
  return words;
}

const Words& cache_words() {
  static const Words words({"as_is", "warm", "cold"});
  return words;
}

const Words& event_words() {
  static const Words words({"CQ_ERR", "QP_FATAL", "QP_REQ_ERR", "QP_ACCESS_ERR", "COMM_EST", "SQ_DRAINED", "PATH_MIG", "PATH_MIG_ERR",
                            "DEVICE_FATAL", "PORT_ACTIVE", "PORT_ERR", "LID_CHANGE", "PKEY_CHANGE", "SM_CHANGE", "SRQ_ERR",
                            "SRQ_LIMIT_REACHED", "QP_LAST_WQE_REACHED", "CLIENT_REREGISTER", "GID_CHANGE"});
  return words;
}

const Words& hazard_words() {
  static const Words words({"none", "stale", "foreign"});
  return words;
}

}  // namespace mtsim::program
