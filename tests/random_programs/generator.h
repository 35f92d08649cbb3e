// Draws verbs programs from a seed. A program goes in rounds: hosts change their objects, make broken connections anew, post receives, then
// some connections carry requests, right ones and wrong ones, and every completion is polled. Barriers stand between these, so that no
// answer depends on timing; the oracle says what each answer is.
#pragma once

#include <map>
#include <set>

#include "dice.h"
#include "oracle.h"

namespace mtsim::random_programs {

struct Options {
  std::uint64_t seed = 1;
  unsigned operations = 10'000;
  Rules rules;
  bool racy = false;
  /// What programs may contain.
  bool windows = true, uc_local_errors = true, queries = true, events = true;
  /// Acknowledgement timeout (code of verbs) of all QPs: beyond what an answer takes where the program is to run.
  unsigned timeout = 8;
  unsigned largest_mtu = 4096;  ///< of the path, bytes
  /// For a real rxe of Linux 6.1: what it always answers alike, however fast the machine is. for_rxe() sets the rest to match.
  bool on_rxe = false;
};

/// Makes it a program for a real rxe of Linux 6.1 on a machine that may be slow.
void for_rxe(Options& options);

/// Takes a feature out, by its name. Throws std::invalid_argument for an unknown one.
void without(Options& options, const std::string& feature);

Program generate(const Options& options);

class Generator {
 public:
  explicit Generator(const Options& options);
  Program run();

 private:
  struct Pair {
    Id left, right;
  };
  struct Flow {
    Id from, to;
    unsigned requests;
    bool begun = false, answer_failed = false, last_signaled = true;
    bool outstanding = false;     ///< some of its requests may not have ended yet
    bool fenced_retries = false;  ///< a fenced request found no peer
  };
  /// Who uses a window in a burst.
  struct Use {
    std::set<Id> users, changers;  ///< QPs that send
    bool by_read = false;
  };
  struct Host {
    std::vector<Id> buffers, pds, cqs, mrs, gone_mrs, windows, gone_windows;
    Id read_only = nobody, srq = nobody;
    std::map<Id, std::vector<Id>> anchors;  ///< by PD: MRs that stay
    std::uint64_t wr = 0;
  };

  // Lines. Each knows the oracle's answer.
  Operation operation(int host, Kind kind, Id id = nobody) const;
  std::string call(Operation o);
  bool post(Operation o);
  void barrier();
  void sleep_all(std::uint64_t ns);
  void pause(int host);
  /// Polls whatever has completed on the host's CQs.
  void settle(int host, bool all_has_come = true);
  void poll_in_order(int host, Id cq, const std::vector<Completion>& all);
  bool polled_by_number(Id cq) const { return options_.racy || cq % 3 != 0; }
  void poll_number(int host, Id cq, const Completion& c);
  std::uint64_t next_wr(int host);

  // Objects.
  void set_up();
  void set_up_host(int host);
  void set_up_pairs();
  Id make_qp(int host, Id pd, QpType type, Id srq, unsigned mtu);
  Id reg_mr(int host, Id pd, Id buffer, Rights rights, std::uint64_t offset, std::uint64_t length, bool iova = false);
  void forget_mr(int host, Id mr);

  // Changes between bursts.
  void change(int host);
  void change_mr(int host);
  void register_badly(int host);
  void rereg(int host);
  void change_window(int host);
  void alloc_window(int host);
  void bind_by_call(int host);
  void try_busy(int host);
  void probe_qp(int host);
  void end_connection(int host);
  void end_window(int host, Id window);
  void end_windows_of(Id qp);

  // Connections.
  void recover();
  void bring_down(Id qp);
  bool broken(const Pair& pair) const;
  void post_receives(int host);
  bool post_receive(Id qp, Id srq);

  // Bursts.
  void burst();
  std::vector<Flow> choose_flows();
  void post_one(Flow& flow);
  void finish_flow(Flow& flow);
  bool fits(const Flow& flow, const Operation& o, const Course& course);
  void claim(const Flow& flow, const Operation& o, const Course& course);
  void look_around();

  // Of programs for a real rxe.
  bool rxe_is_sure(const Flow& flow, const Operation& o, const Course& course) const;
  bool rxe_may_invalidate(const Operation& o) const;
  bool waits_for_others(const Operation& o) const { return o.fence || o.opcode == Opcode::bind_mw || o.opcode == Opcode::local_inv; }
  void let_end(Flow& flow);
  void go_on(Flow& flow);
  bool affordable(const Course& course) const;
  void spend(const Course& course);
  bool refused_by_state(const Operation& o) const;
  void keep_inline_data_readable(Operation& o);
  /// Requests that were refused lie in its queue, and what ERR would make of them cannot be polled by the numbers of requests.
  bool keeps_refused(Id id) const { return !qp(id).kept.empty() && polled_by_number(qp(id).settings.send_cq); }
  void wind_up();

  // Requests.
  Operation request(const Flow& flow);
  Operation empty_write(const Flow& flow, Operation o);
  Operation bind_request(const Flow& flow, Operation o);
  Operation inv_request(const Flow& flow, Operation o);
  std::uint64_t message_length(const Flow& flow, Opcode opcode);
  std::vector<Sge> elements(int host, Id pd, std::uint64_t length, unsigned most, Rights needed, bool wrong);
  Sge good_element(int host, Id pd, std::uint32_t length, Rights needed);
  Sge bad_element(int host, Id pd, std::uint32_t length, Rights needed);
  void aim(Operation& o, const Flow& flow, std::uint64_t length, bool wrong);
  bool aim_at_window(Operation& o, const Flow& flow, std::uint64_t length);
  void aim_wrong(Operation& o, const Flow& flow, std::uint64_t length);
  Id mr_with(int host, Id pd, Rights rights, std::uint64_t length);
  Id mr_of_other_pd(int host, Id pd);
  KeyRef key_of(Id mr);
  void spoil(KeyRef& key);

  // Races.
  using Verdicts = std::map<std::uint64_t, std::set<Status>>;  ///< by request, of one host
  bool try_orders(const Flow& flow, const std::vector<Operation>& requests, const std::vector<Operation>& ways, Oracle& last,
                  std::map<int, Verdicts>& verdicts) const;
  void racy_round();
  std::optional<Flow> choose_racy_flow();
  std::vector<Operation> racy_requests(const Flow& flow, Id victim, bool as_source, bool as_target);

  Host& host(int number) { return hosts_.at(static_cast<std::size_t>(number)); }
  const Mr& mr(Id id) const { return World::at(oracle_.world().mrs, id); }
  const Qp& qp(Id id) const { return World::at(oracle_.world().qps, id); }
  const Window& window(Id id) const { return World::at(oracle_.world().windows, id); }
  int host_count() const { return static_cast<int>(hosts_.size()); }

  Options options_;
  Dice dice_;
  Oracle oracle_;
  Program program_;
  std::vector<Host> hosts_;
  std::vector<Pair> pairs_;
  std::map<Id, Use> uses_;
  /// What a packet that nobody waits for takes at most, as the TIMEWAIT of a connection.
  static constexpr std::uint64_t stray_ns = 500'000;
  /// The same for a real device: threads that spin on few CPUs hold up its soft interrupts.
  static constexpr std::uint64_t settling_ns = 20'000'000;
  unsigned counted_ = 0, exhausted_ = 0;
  bool strays_ = false;  ///< packets may still be under way that nobody waits for
};

}  // namespace mtsim::random_programs
