// Builds a list of operations, call by call.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "program/op.h"

namespace mtsim::program {

class Script {
 public:
  explicit Script(ActorId actor) : actor_(actor) {}

  /// What a mapping of so many bytes is rounded up to.
  static Bytes page_size(verbs::PageKind page);
  /// Maps whole pages and touches them, so that no page fault falls into the work.
  void map(NameId buffer, Bytes length, verbs::PageKind page);
  void munmap(NameId buffer);
  void reg_mr(NameId mr, NameId pd, NameId buffer, Bytes length, verbs::Access access);
  void create_cq(NameId cq, std::uint32_t depth);
  void create_qp(NameId qp, NameId pd, NameId cq, const verbs::CreateQpRequest& request);
  void connect(NameId qp, NameId peer);
  void barrier(std::uint32_t index, std::uint32_t n);
  /// Kinds that take nothing but the object: alloc_pd and everything that gives an object back.
  void plain(Kind kind, NameId id) { add(kind, id); }

  std::vector<Op> take() { return std::move(ops_); }

 private:
  Op& add(Kind kind, NameId id);

  ActorId actor_;
  std::vector<Op> ops_;
};

}  // namespace mtsim::program
