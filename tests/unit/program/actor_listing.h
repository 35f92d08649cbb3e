// A program written as C++ calls, and a run of it on fake devices.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "program/actors.h"
#include "unit/program/actor_fake_device.h"

namespace mtsim::test {

using namespace mtsim::program;

class Listing final : public Program {
 public:
  /// `a.t0`; interned.
  ActorId actor(const std::string& name) { return names_.actor(name); }
  /// `a.mr`; interned.
  NameId object(const std::string& name, Space space = Space::memory) {
    const std::size_t dot = name.find('.');
    return names_.object(names_.host(name.substr(0, dot)), name.substr(dot + 1), space);
  }
  NameId qp(const std::string& name) { return object(name, Space::qp); }
  NameId cq(const std::string& name) { return object(name, Space::cq); }
  NameId pd(const std::string& name) { return object(name, Space::pd); }
  NameId srq(const std::string& name) { return object(name, Space::srq); }

  /// One more operation of an actor; its line is its place in the listing, from 1.
  Op& add(const std::string& actor_name, Kind kind, NameId id = 0) {
    auto& op = *ops_.emplace_back(std::make_unique<Op>());
    op.kind = kind;
    op.actor = actor(actor_name);
    op.id = id;
    op.line = ops_.size();
    return op;
  }
  Op& mmap(const std::string& by, const std::string& name, std::uint64_t length) {
    Op& op = add(by, Kind::mmap, object(name));
    op.mmap.length = Bytes(length);
    return op;
  }
  Op& reg_mr(const std::string& by, const std::string& name, const std::string& in_pd, const std::string& buffer, std::uint64_t length) {
    Op& op = add(by, Kind::reg_mr, object(name));
    op.pd = pd(in_pd);
    op.address = {object(buffer), 0};
    op.length = length;
    return op;
  }
  Op& create_qp(const std::string& by, const std::string& name, const std::string& in_pd, const std::string& to_cq) {
    Op& op = add(by, Kind::create_qp, qp(name));
    op.pd = pd(in_pd);
    op.cq = op.recv_cq = cq(to_cq);
    return op;
  }
  /// A signalled WRITE of 4 KiB.
  Op& post(const std::string& by, const std::string& to_qp, std::uint64_t wr, const std::string& from, const std::string& to) {
    Op& op = add(by, Kind::post_send, qp(to_qp));
    op.wr = wr;
    op.flags = verbs::Send::signaled;
    op.sges.push_back({{object(from), 0}, 4096, {}});
    op.has_to = true;
    op.to = {object(to), 0};
    return op;
  }
  /// A receive of 4 KiB.
  Op& receive(const std::string& by, const std::string& to_qp, std::uint64_t wr, const std::string& into) {
    return receive(by, Kind::post_recv, qp(to_qp), wr, into);
  }
  Op& share(const std::string& by, const std::string& to_srq, std::uint64_t wr, const std::string& into) {
    return receive(by, Kind::post_srq, srq(to_srq), wr, into);
  }
  Op& create_srq(const std::string& by, const std::string& name, const std::string& in_pd) {
    Op& op = add(by, Kind::create_srq, srq(name));
    op.pd = pd(in_pd);
    op.depth = 64;
    op.sge_limit = 1;
    return op;
  }
  Op& poll(const std::string& by, const std::string& of, std::uint32_t n = 1) {
    Op& op = add(by, Kind::poll, cq(of));
    op.count = n;
    return op;
  }
  Op& poll_wr(const std::string& by, const std::string& of, std::uint64_t wr) {
    Op& op = poll(by, of);
    op.wr = wr;
    op.has_wr = true;
    return op;
  }
  Op& barrier(const std::string& by, const std::string& name, std::uint32_t n) {
    Op& op = add(by, Kind::barrier);
    op.barrier = names_.barrier(name);
    op.count = n;
    return op;
  }
  /// PD, CQ, memory, MR and QP of a host, all with the host's name in front: `a.pd a.cq a.buf a.mr a.qp`.
  void furnish(const std::string& host) {
    const std::string by = host + ".t0";
    mmap(by, host + ".buf", 0x10000);
    add(by, Kind::alloc_pd, pd(host + ".pd"));
    add(by, Kind::create_cq, cq(host + ".cq")).depth = 64;
    create_qp(by, host + ".qp", host + ".pd", host + ".cq");
    reg_mr(by, host + ".mr", host + ".pd", host + ".buf", 0x10000);
  }

  const Names& names() const override { return names_; }
  const std::vector<Use>& uses() const override { return uses_; }
  std::uint32_t cpus(std::uint32_t) const override { return 0; }
  std::unique_ptr<Cursor> cursor(ActorId id) const override { return std::make_unique<Lines>(*this, id); }
  std::string title() const override { return "listing"; }
  std::string hash() const override { return {}; }
  std::uint64_t size() const override { return ops_.size(); }
  void use(const std::string& what, const std::string& place) { uses_.push_back({what, place}); }

 private:
  Op& receive(const std::string& by, Kind kind, NameId queue, std::uint64_t wr, const std::string& into) {
    Op& op = add(by, kind, queue);
    op.wr = wr;
    op.sges.push_back({{object(into), 0}, 4096, {}});
    return op;
  }

  class Lines final : public Cursor {
   public:
    Lines(const Listing& listing, ActorId actor) : listing_(listing), actor_(actor) {}
    bool next(Op& op) override {
      while (at_ < listing_.ops_.size())
        if (const Op& line = *listing_.ops_[at_++]; line.actor == actor_) {
          op = line;
          return true;
        }
      return false;
    }

   private:
    const Listing& listing_;
    ActorId actor_;
    std::size_t at_ = 0;
  };

  Names names_;
  std::vector<std::unique_ptr<Op>> ops_;
  std::vector<Use> uses_;
};

/// What a line expects: the words given.
inline void expect(Op& op, std::vector<std::int32_t> words) {
  op.expect.given = true;
  op.expect.words = std::move(words);
}
inline void expect(Op& op, verbs::Status status) { expect(op, {static_cast<std::int32_t>(status)}); }

/// A fake device for each host of a program, and the actors on them.
class FakeRun {
 public:
  FakeRun(const Program& program, bool deferred, ReplayTime time = ReplayTime::asap) : meeting_(later_) {
    std::vector<verbs::Device*> pointers;
    for (std::size_t h = 0; h < program.names().hosts().size(); ++h) {
      devices_.push_back(std::make_unique<FakeDevice>(later_, deferred));
      pointers.push_back(devices_.back().get());
    }
    actors_ = std::make_unique<Actors>(program, pointers, meeting_, tally, time);
  }

  void run() {
    actors_->start();
    later_.run();
  }
  FakeDevice& device(std::size_t host) { return *devices_[host]; }
  const Actors& actors() const { return *actors_; }
  /// `4 poll cq n=1: SUCCESS, not ...`: line, operation, what was expected and what came.
  std::vector<std::string> surprises() const {
    std::vector<std::string> out;
    for (const Surprise& s : tally.first_surprises())
      out.push_back(fmt::format("{} {}: {}, not {}", s.line, s.operation, s.expected, s.got));
    return out;
  }

  Tally tally;

 private:
  Later later_;
  FakeMeeting meeting_;
  std::vector<std::unique_ptr<FakeDevice>> devices_;
  std::unique_ptr<Actors> actors_;
};

}  // namespace mtsim::test
