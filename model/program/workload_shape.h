// What all workloads have in common: clients that reach the memory of one server over reliable connections.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/units.h"
#include "verbs/device.h"
#include "verbs/types.h"

namespace mtsim::program {

struct Shape {
  std::uint32_t clients{}, threads{}, qps{};
  std::uint32_t window{}, signal_every{};
  verbs::Opcode opcode{};
  Bytes block;
  std::uint64_t operations{};
  verbs::PageKind page{};
  Bytes inline_limit, mtu;
  Time compute;
  verbs::Wait wait{};
  bool clean_up{};
  std::string client, server;

  static void declare(Declaration<Shape>&);

  /// Requests small enough are written with their data.
  bool inlined() const { return opcode == verbs::Opcode::write && block <= inline_limit; }
  /// Every thread of every client.
  std::uint64_t all_threads() const { return std::uint64_t{clients} * threads; }
};

/// A parameter that does not go with the others; `key` is its name within the section.
struct Complaint {
  std::string key, message;
};
std::vector<Complaint> check(const Shape&);

}  // namespace mtsim::program
