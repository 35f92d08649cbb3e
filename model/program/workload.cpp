#include "program/workload.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "program/workload_setup.h"

namespace mtsim::program {

namespace {

/// The set-up, the work and the clean-up of one actor, one after the other.
class ActorCursor final : public Cursor {
 public:
  ActorCursor(std::vector<Op> opening, std::unique_ptr<Cursor> work, std::vector<Op> closing)
      : opening_(std::move(opening)), closing_(std::move(closing)), work_(std::move(work)) {}

  bool next(Op& op) override {
    if (number_ >= opening_.size()) {
      if (work_ && work_->next(op)) {
        op.line = ++number_;
        return true;
      }
      if (work_) work_.reset();
      if (closed_ == closing_.size()) return false;
      op = closing_[closed_++];
    } else {
      op = opening_[number_];
    }
    op.line = ++number_;
    return true;
  }

 private:
  std::vector<Op> opening_, closing_;
  std::unique_ptr<Cursor> work_;
  std::uint64_t number_ = 0;
  std::size_t closed_ = 0;
};

/// All actors by turns. A turn ends with a post, so that the n-th post of each thread stands before the n+1-th of any: the order in
/// which the threads of a host number their requests. Nobody passes a barrier before all stand there.
class AllActors final : public Cursor {
 public:
  explicit AllActors(std::vector<std::unique_ptr<Cursor>> cursors) : cursors_(std::move(cursors)), states_(cursors_.size(), State::runs) {}

  bool next(Op& op) override {
    for (std::size_t idle = 0; idle < cursors_.size();) {
      if (states_[turn_] == State::runs && cursors_[turn_]->next(op)) {
        if (op.kind == Kind::barrier) wait_at_barrier(op);
        if (op.kind == Kind::barrier || op.kind == Kind::post_send) advance();
        return true;
      }
      if (states_[turn_] == State::runs) states_[turn_] = State::ended;
      ++idle;
      advance();
    }
    return false;
  }

 private:
  enum class State : std::uint8_t { runs, waits, ended };

  void wait_at_barrier(const Op& op) {
    states_[turn_] = State::waits;
    std::vector<std::size_t>& there = waiting_[op.barrier];
    there.push_back(turn_);
    if (there.size() < op.count) return;
    for (const std::size_t cursor : there) states_[cursor] = State::runs;
    there.clear();
  }
  void advance() { turn_ = turn_ + 1 == cursors_.size() ? 0 : turn_ + 1; }

  std::vector<std::unique_ptr<Cursor>> cursors_;
  std::vector<State> states_;
  std::map<std::uint32_t, std::vector<std::size_t>> waiting_;  ///< by barrier: the cursors that stand there
  std::size_t turn_ = 0;
};

}  // namespace

Workload::Workload(std::string kind, const Shape& shape, const Memory& memory) : kind_(std::move(kind)), shape_(shape), memory_(memory) {
  name_everything();
  list_uses();
}

void Workload::name_everything() {
  barriers_ = {names_.barrier("made"), names_.barrier("ready"), names_.barrier("start"), names_.barrier("end"), names_.barrier("idle")};
  for (std::uint32_t c = 0; c < shape_.clients; ++c) {
    const std::string host_name = fmt::format("{}{}", shape_.client, c);
    for (std::uint32_t t = 0; t < shape_.threads; ++t) {
      ClientThread thread;
      thread.client = c;
      thread.thread = t;
      thread.actor = names_.actor(fmt::format("{}.t{}", host_name, t));
      thread.host = names_.host(host_name);
      thread.pd = names_.object(thread.host, "pd", Space::pd);
      thread.buffer = names_.object(thread.host, "buf");
      thread.mr = names_.object(thread.host, "mr");
      thread.cq = names_.object(thread.host, fmt::format("cq{}", t), Space::cq);
      for (std::uint32_t q = 0; q < shape_.qps; ++q)
        thread.qps.push_back(names_.object(thread.host, fmt::format("qp{}_{}", t, q), Space::qp));
      threads_.push_back(std::move(thread));
    }
  }
  server_.actor = names_.actor(shape_.server + ".t0");
  const std::uint32_t host = names_.host(shape_.server);
  server_.pd = names_.object(host, "pd", Space::pd);
  server_.cq = names_.object(host, "cq", Space::cq);
  for (std::uint32_t r = 0; r < memory_.regions; ++r) {
    server_.buffers.push_back(names_.object(host, fmt::format("buf{}", r)));
    server_.regions.push_back(names_.object(host, fmt::format("mr{}", r)));
  }
  for (ClientThread& t : threads_)
    for (std::uint32_t q = 0; q < shape_.qps; ++q)
      t.server_qps.push_back(names_.object(host, fmt::format("qp{}_{}_{}", t.client, t.thread, q), Space::qp));
}

void Workload::list_uses() {
  for (const char* what : {"mmap", "touch", "alloc_pd", "reg_mr", "create_cq", "create_qp", "connect", "barrier", "post_send", "poll"})
    add_use(what);
  add_use(fmt::format("post_send {}", verbs::name(shape_.opcode)));
  if (shape_.wait == verbs::Wait::event) add_use("poll wait=event");
  if (!shape_.clean_up) return;
  for (const char* what : {"destroy_qp", "destroy_cq", "dereg_mr", "dealloc_pd", "munmap"}) add_use(what);
}

std::unique_ptr<Cursor> Workload::cursor(ActorId actor) const {
  const WorkloadSetup setup(*this);
  if (actor == server_.actor) return std::make_unique<ActorCursor>(setup.open_server(), nullptr, setup.close_server());
  const ClientThread& thread = threads_[actor];
  return std::make_unique<ActorCursor>(setup.open_client(thread), work(thread), setup.close_client(thread));
}

std::uint64_t Workload::size() const {
  const WorkloadSetup setup(*this);
  std::uint64_t sum = setup.open_server().size() + setup.close_server().size();
  for (const ClientThread& t : threads_) sum += setup.open_client(t).size() + work_size(t) + setup.close_client(t).size();
  return sum;
}

std::unique_ptr<Cursor> Workload::all() const {
  std::vector<std::unique_ptr<Cursor>> cursors;
  for (ActorId actor = 0; actor < names_.actors().size(); ++actor) cursors.push_back(cursor(actor));
  return std::make_unique<AllActors>(std::move(cursors));
}

}  // namespace mtsim::program
