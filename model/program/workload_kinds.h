// The parameters of each kind of workload, beside those that all share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/config.h"
#include "program/workload.h"

namespace mtsim::program {

/// Of `pool` and `per_op`: memory at both ends that the blocks go through in turn.
struct PoolParams {
  Bytes pool, storage;
  static void declare(Declaration<PoolParams>&);
};

struct PerOpParams {
  std::uint32_t depth{};
  static void declare(Declaration<PerOpParams>&);
};

/// Of `uniform` and `sequential`: the server's memory.
struct FootprintParams {
  Bytes footprint;
  std::uint32_t regions{};
  Bytes stride{};
  /// From one block to the next.
  Bytes spacing(const Shape& shape) const { return stride.raw == 0 ? shape.block : stride; }
  static void declare(Declaration<FootprintParams>&);
};

struct UniformParams {
  std::uint64_t seed{};
  static void declare(Declaration<UniformParams>&);
};

/// Of `connections`, which has a footprint and draws too.
struct ConnectionsParams {
  enum class Choice : std::uint8_t { random, turn };
  std::uint32_t connections{}, outstanding{}, batch{};
  Choice choice{};
  static void declare(Declaration<ConnectionsParams>&);
};

struct LadderParams {
  Bytes smallest, largest;
  std::uint32_t factor{}, repeats{}, live{};
  bool touched{};
  static void declare(Declaration<LadderParams>&);
};

struct ChunkedParams {
  enum class Touch : std::uint8_t { none, one, all };
  Bytes region, chunk;
  std::uint32_t nics{}, rounds{};
  Touch touch{};
  static void declare(Declaration<ChunkedParams>&);
};

struct RegistrationCacheParams {
  Bytes memory, stride, granule;
  std::uint32_t sweeps{}, remap_every{};
  Time lookup;
  std::uint64_t most_regions{};
  Bytes most_bytes;
  bool merge{};
  static void declare(Declaration<RegistrationCacheParams>&);
};

std::vector<Complaint> check(const Shape&, const PoolParams&);
std::vector<Complaint> check(const Shape&, const FootprintParams&);
std::vector<Complaint> check(const Shape&, const ConnectionsParams&);
std::vector<Complaint> check(const Shape&, const LadderParams&);
std::vector<Complaint> check(const Shape&, const ChunkedParams&);
std::vector<Complaint> check(const Shape&, const RegistrationCacheParams&);

std::unique_ptr<Workload> make_pool(const Shape&, const PoolParams&);
std::unique_ptr<Workload> make_per_op(const Shape&, const PoolParams&, const PerOpParams&);
std::unique_ptr<Workload> make_uniform(const Shape&, const FootprintParams&, const UniformParams&);
std::unique_ptr<Workload> make_sequential(const Shape&, const FootprintParams&);
std::unique_ptr<Workload> make_connections(const Shape&, const FootprintParams&, const UniformParams&, const ConnectionsParams&);
std::unique_ptr<Workload> make_ladder(const Shape&, const LadderParams&);
std::unique_ptr<Workload> make_chunked(const Shape&, const ChunkedParams&);
std::unique_ptr<Workload> make_registration_cache(const Shape&, const RegistrationCacheParams&);

/// Reads the shape and `Own` from the configuration. What does not go together is complained about there, and the defaults come back.
template <class Own>
std::pair<Shape, Own> read_checked(const Config& config) {
  const auto shape = config.read<Shape>();
  const auto own = config.read<Own>();
  std::vector<Complaint> complaints = check(shape);
  // The second check may take for granted what the first makes sure of.
  if (complaints.empty()) complaints = check(shape, own);
  for (const Complaint& c : complaints) config.fail("workload." + c.key, c.message);
  if (complaints.empty()) return {shape, own};
  return {defaults<Shape>(), defaults<Own>()};
}

}  // namespace mtsim::program
