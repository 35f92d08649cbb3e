// Workloads: programs made from a few parameters instead of a file. Actors run them like traces.
//
// Every workload has the hosts CLIENT0 ... and SERVER (names by parameter). The server maps, touches and registers its memory, the
// clients theirs; QPs are made and connected; all meet at the barrier `start`, do the work, meet at `end`, and clean up. A workload of a
// kind says only what a client's thread does between `start` and `end`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/registry.h"
#include "program/op.h"
#include "program/workload_shape.h"

namespace mtsim {
class Config;
}

namespace mtsim::program {

class Workload : public Program {
 public:
  const Names& names() const final { return names_; }
  const std::vector<Use>& uses() const final { return uses_; }
  std::uint32_t cpus(std::uint32_t) const final { return 0; }
  std::unique_ptr<Cursor> cursor(ActorId) const final;
  std::string title() const final { return kind_; }
  std::string hash() const final { return {}; }
  std::uint64_t size() const final;
  std::uint32_t start_barrier() const final { return barriers_.start; }
  std::uint32_t end_barrier() const final { return barriers_.end; }

  const Shape& shape() const { return shape_; }
  /// Every operation of every actor in an order that a trace may have: wr numbers rise within each host.
  std::unique_ptr<Cursor> all() const;

  struct Barriers {
    std::uint32_t made = 0, ready = 0, start = 0, end = 0, idle = 0;
  };
  /// What the set-up made for one client's thread.
  struct ClientThread {
    std::uint32_t client = 0, thread = 0;
    ActorId actor = 0;
    std::uint32_t host = 0;
    NameId pd = 0, buffer = 0, mr = 0, cq = 0;  ///< pd, buffer and mr are the whole client's
    std::vector<NameId> qps, server_qps;
  };
  struct Server {
    ActorId actor = 0;
    NameId pd = 0, cq = 0;
    std::vector<NameId> buffers, regions;
  };

 protected:
  /// Memory at both ends.
  struct Memory {
    Bytes region;                   ///< of the server: so many bytes in each MR
    std::uint32_t regions = 1;      ///< MRs of the server
    Bytes client;                   ///< of each client, over all its threads
    bool client_registered = true;  ///< as one MR, before the work begins
    std::uint32_t window = 1;       ///< depth of each send queue
  };

  Workload(std::string kind, const Shape&, const Memory&);

  /// What one thread of a client does between the barriers `start` and `end`.
  virtual std::unique_ptr<Cursor> work(const ClientThread&) const = 0;
  /// Operations of that.
  virtual std::uint64_t work_size(const ClientThread&) const = 0;
  /// Adds an object to a client's host, for kinds that make more than the set-up does; or a barrier.
  NameId add_object(std::uint32_t host, const std::string& name, Space space = Space::memory) { return names_.object(host, name, space); }
  std::uint32_t add_barrier(const std::string& name) { return names_.barrier(name); }
  void add_use(const std::string& what) { uses_.push_back({what, "workload " + kind_}); }

  const Server& server() const { return server_; }
  const std::vector<ClientThread>& client_threads() const { return threads_; }

 private:
  friend class WorkloadSetup;
  void name_everything();
  void list_uses();

  std::string kind_;
  Shape shape_;
  Memory memory_;
  Names names_;
  std::vector<Use> uses_;
  Barriers barriers_;
  Server server_;
  std::vector<ClientThread> threads_;  ///< client by client, in the order of their actors
};

/// Workloads by kind. Each reads its own parameters; values that do not go together are complained about through the configuration,
/// and the workload that comes back then has the defaults.
using Workloads = Registry<Workload, const Config&>;

}  // namespace mtsim::program
