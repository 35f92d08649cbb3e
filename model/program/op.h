// One operation of a program, as a line of `mtrace 1` says it or a workload makes it. Names stand for objects; addresses and keys are
// resolved when the operation runs. Plain data, reused from line to line: no allocation once its vectors have grown.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/units.h"
#include "verbs/device.h"
#include "verbs/types.h"

namespace mtsim::program {

enum class Kind : std::uint8_t {
  // memory
  mmap,
  munmap,
  mprotect,
  touch,
  copy,
  migrate,
  swapout,
  memlock,
  cap_ipc_lock,
  fork,
  fork_init,
  madvise,
  // objects
  alloc_pd,
  dealloc_pd,
  reg_mr,
  rereg_mr,
  dereg_mr,
  advise_mr,
  dma,
  alloc_mr,
  alloc_mw,
  bind_mw,
  dealloc_mw,
  create_cq,
  destroy_cq,
  create_srq,
  destroy_srq,
  create_qp,
  connect,
  modify_qp,
  destroy_qp,
  // work
  post_send,
  post_recv,
  post_srq,
  poll,
  // threads
  barrier,
  compute,
  sleep,
  // asking
  query_qp,
  event,
};
inline constexpr unsigned kind_count = unsigned(Kind::event) + 1;
std::string_view name(Kind);
/// Whether lines of the kind post a work request to a queue.
constexpr bool posts(Kind kind) { return kind == Kind::post_send || kind == Kind::post_recv || kind == Kind::post_srq; }

/// Index of an interned, host-qualified object name in the program's Names; 0 is "none".
using NameId = std::uint32_t;
/// Index of an actor in Program::actors().
using ActorId = std::uint32_t;

/// ADDR: relative to an object, or raw when `object` is 0. Offsets may be negative and wrap as addresses do.
struct AddressRef {
  NameId object = 0;
  std::uint64_t offset = 0;
};

/// KEY: of an object (which of its keys follows from the place unless said), or raw.
struct KeyRef {
  enum class Form : std::uint8_t { omitted, of_place, lkey, rkey, raw };
  Form form = Form::omitted;
  NameId object = 0;
  std::uint32_t add = 0, flip = 0;  ///< `+N`, `^N`
  std::uint32_t raw = 0;
};

struct SgeRef {
  AddressRef address;
  std::uint64_t length = 0;
  KeyRef key;
};

/// What a line expects. `any` accepts everything; words are statuses for polls, QpState values for query_qp and errno values (0 = ok)
/// for calls.
struct Expectation {
  bool given = false, any = false;
  std::vector<std::int32_t> words;                                         ///< alternatives `A|B`: Status values or errno values
  std::vector<std::pair<std::uint64_t, std::vector<std::int32_t>>> by_wr;  ///< `17:SUCCESS,18:REM_ACCESS_ERR`
};

struct Op {
  Kind kind = Kind::mmap;
  ActorId actor = 0;
  std::uint64_t line = 0;   ///< of the trace, from 1; for a workload the operation's number
  std::int64_t at_ns = -1;  ///< `@NS`, or -1

  /// The object made or acted on. Where the grammar's own field below says the same thing, both are set: `post_send QP` sets id and qp,
  /// `poll CQ` id and cq, `post_srq SRQ` id and srq.
  NameId id = 0;
  NameId pd = 0, qp = 0, cq = 0, recv_cq = 0, srq = 0, mr = 0, mw = 0;
  NameId peer = 0;            ///< connect: the other host's QP; copy: the destination
  std::uint32_t barrier = 0;  ///< index of the barrier's name
  std::uint32_t child = 0;    ///< fork: index of the copy's name
  std::uint32_t count = 0;    ///< barrier n=, poll n=
  AddressRef address;
  std::uint64_t length = 0, offset = 0;  ///< len= (0 with `whole`), off=
  bool whole = false;                    ///< no len= was given: from `offset` to the end of the mapping; reg_mr: len=all
  bool flag = false;                     ///< touch write=, fork_init safe=, cap_ipc_lock's value, advise_mr flush=, rereg_mr trans
  std::uint64_t number = 0;              ///< memlock limit (~0 unlimited), compute/sleep ns, poll idle ns, alloc_mr max
  std::uint64_t iova = 0;
  bool has_iova = false;
  verbs::Access access = verbs::Access::none;
  bool has_access = false;  ///< rereg_mr: access= was given
  std::string word;         ///< madvise and advise_mr advice, event's kinds (`A|B`), mprotect prot, alloc_pd dev

  verbs::MmapRequest mmap;
  verbs::CreateQpRequest create_qp;  ///< handles unset; names in pd, cq, recv_cq, srq
  verbs::QpState state = verbs::QpState::init;
  verbs::DmaRequest dma;  ///< mr unset; its name is `id`

  // Work requests.
  std::uint64_t wr = 0;
  bool has_wr = false;  ///< poll wr=
  bool idle = false;    ///< poll idle=
  verbs::Wait wait = verbs::Wait::spin;
  verbs::Opcode opcode = verbs::Opcode::write;
  verbs::Send flags = verbs::Send::none;
  bool more = false;
  std::vector<SgeRef> sges;
  AddressRef to;
  bool has_to = false;
  KeyRef to_key, inv, new_key;
  NameId ud = 0;
  std::uint32_t immediate = 0;
  bool has_immediate = false;
  std::uint64_t compare = 0, swap = 0, add = 0;
  std::uint32_t depth = 0, sge_limit = 0;  ///< create_cq, create_srq
  std::uint8_t mw_type = 0;

  Expectation expect;  ///< already the one that holds under the rule set of the run
  enum class Hazard : std::uint8_t { unsaid, none, stale, foreign } hazard = Hazard::unsaid;

  /// Back to the defaults of the grammar, keeping capacity.
  void clear();
};

/// What the NIC of that number is called, `nic0`, and the number of the NIC of that name; nothing for any other name.
std::string nic_name(std::uint32_t number);
std::optional<std::uint32_t> nic_number(std::string_view name);

/// Kinds of objects with names of their own: a PD and a CQ may both be called `x`. Buffers, MRs and windows share one space, since all
/// three stand for addresses.
enum class Space : std::uint8_t { memory, pd, cq, qp, srq };
inline constexpr unsigned space_count = unsigned(Space::srq) + 1;

/// Names of hosts, actors, objects and barriers, interned once. Object names are per host: `a.mr0` and `b.mr0` differ.
class Names {
 public:
  struct Actor {
    std::uint32_t host = 0;    ///< index into hosts()
    std::uint32_t thread = 0;  ///< index within its host, in order of first appearance
    std::string name;          ///< `a.t0`
  };

  std::uint32_t host(std::string_view name);                                        ///< interns
  ActorId actor(std::string_view host_dot_thread);                                  ///< interns; also its host
  NameId object(std::uint32_t host, std::string_view name, Space = Space::memory);  ///< interns
  std::uint32_t barrier(std::string_view name);                                     ///< interns
  std::uint32_t child(std::uint32_t host, std::string_view name);  ///< interns: a copy that a fork makes of the host's process

  /// The same without making anything; nothing (for an object: 0) when the name is not known.
  std::optional<std::uint32_t> find_host(std::string_view name) const;
  std::optional<ActorId> find_actor(std::string_view host_dot_thread) const;
  NameId find_object(std::uint32_t host, std::string_view name, Space = Space::memory) const;
  std::optional<std::uint32_t> find_barrier(std::string_view name) const;
  std::optional<std::uint32_t> find_child(std::uint32_t host, std::string_view name) const;
  /// The copy in which an actor runs: that with the longest name which the actor's thread begins with, and then `_`. Nothing: the process
  /// that is there from the start. Known once all names have been interned.
  std::optional<std::uint32_t> child_of(ActorId) const;

  const std::vector<std::string>& hosts() const { return hosts_; }
  const std::vector<Actor>& actors() const { return actors_; }
  /// One more than the highest NameId: the size of a table indexed by it.
  std::size_t object_count() const { return objects_.size(); }
  std::size_t barrier_count() const { return barriers_.size(); }
  std::uint32_t host_of(NameId) const;
  /// `mr0`, without its host.
  const std::string& object_name(NameId) const;
  const std::string& barrier_name(std::uint32_t index) const { return barriers_[index]; }
  std::size_t child_count() const { return children_.size(); }
  const std::string& child_name(std::uint32_t index) const { return children_[index].name; }

 private:
  struct Object {
    std::uint32_t host = 0;
    std::string name;
  };
  /// Lets a std::string_view be looked up without making a std::string of it.
  struct TextHash {
    using is_transparent = void;
    /// Names are short and looked up several times a line: mixing eight letters at a step costs a third of std::hash.
    std::size_t operator()(std::string_view text) const noexcept {
      std::size_t hash = text.size();
      for (; text.size() >= 8; text.remove_prefix(8)) hash = mixed(hash, word(text, 8));
      return mixed(hash, word(text, text.size()));
    }

   private:
    static std::uint64_t word(std::string_view text, std::size_t letters) {
      std::uint64_t out = 0;
      for (std::size_t i = 0; i < letters; ++i) out = out << 8 | static_cast<unsigned char>(text[i]);
      return out;
    }
    static std::size_t mixed(std::size_t hash, std::uint64_t word) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15;
      return hash ^ hash >> 32;
    }
  };
  using Index = std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>>;

  std::vector<std::string> hosts_;
  std::vector<Actor> actors_;
  std::vector<std::uint32_t> threads_;  ///< of each host
  std::vector<Object> objects_{1};      ///< the first is the name that stands for none
  std::vector<std::string> barriers_;
  std::vector<Object> children_;    ///< copies of processes
  std::vector<Index> child_index_;  ///< of each host
  Index host_index_, actor_index_, barrier_index_;
  std::vector<Index> object_index_;  ///< of each host and space
};

/// The operations of one actor, in order.
class Cursor {
 public:
  virtual ~Cursor() = default;
  /// Fills `op` with the next operation; false at the end. Throws UserError for a file that changed or is damaged.
  virtual bool next(Op& op) = 0;
};

/// A trace or a workload: the same to actors.
class Program {
 public:
  virtual ~Program() = default;
  virtual const Names& names() const = 0;
  /// Kinds of operations (and opcodes) that occur, each with the place of its first use: what a device must be able to carry out.
  struct Use {
    std::string what;   ///< "post_send send", "advise_mr", "create_qp type=uc"
    std::string place;  ///< "file.mtrace:12:9" or the workload's name
  };
  virtual const std::vector<Use>& uses() const = 0;
  /// NICs that the program names: each name once a host, with its first place.
  struct NicUse {
    std::uint32_t host = 0;  ///< index into names().hosts()
    std::string name;        ///< `nic1`
    std::string place;
  };
  virtual std::vector<NicUse> nics() const { return {}; }
  /// CPUs that a `host` line gives a host, or 0: as many as it has actors.
  virtual std::uint32_t cpus(std::uint32_t host) const = 0;
  virtual std::unique_ptr<Cursor> cursor(ActorId) const = 0;
  /// Base name and content hash for reports; a workload gives its kind and an empty hash.
  virtual std::string title() const = 0;
  virtual std::string hash() const = 0;
  /// Number of operations in all if known beforehand, else 0 (progress needs it).
  virtual std::uint64_t size() const = 0;
  /// Barriers that every actor passes as the measured phase begins and as it ends (indices of their names), or no_barrier: then all of
  /// the run is measured. A workload leaves its set-up and clean-up outside.
  static constexpr std::uint32_t no_barrier = ~std::uint32_t{0};
  virtual std::uint32_t start_barrier() const { return no_barrier; }
  virtual std::uint32_t end_barrier() const { return no_barrier; }
  /// Parts of the measured phase that are timed by themselves: each from the last arrival at one barrier to that at another, as often as
  /// they are passed.
  struct Phase {
    std::string name;
    std::uint32_t begin = no_barrier, end = no_barrier;
  };
  virtual std::vector<Phase> phases() const { return {}; }
};

}  // namespace mtsim::program
