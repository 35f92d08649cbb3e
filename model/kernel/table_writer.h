// How a driver gets the translation table of an MR into the NIC, and how it takes the MR away.
#pragma once

#include <optional>
#include <vector>

#include "base/registry.h"
#include "engine/flow.h"
#include "engine/scheduler.h"
#include "engine/semaphore.h"
#include "kernel/call.h"
#include "kernel/driver_params.h"
#include "kernel/key_policy.h"
#include "ports/memory.h"
#include "ports/nic.h"

namespace mtsim::kernel {

class TableWriter {
 public:
  virtual ~TableWriter() = default;
  /// Makes the region's key usable, which `grant` has given, or that of a memory window, which has no table and comes with the command that
  /// creates the key. 0, or ENOMEM when the NIC's tables are full or it refuses the command.
  virtual engine::Task<int> load(Call& call, const translate::Region& region, const KeyGrant& grant) = 0;
  /// Rewrites the context of a region that is loaded: other rights, another PD; its translations stay. 0, or ENOMEM. The model's tables can
  /// only be replaced as a whole, so that the lines of this one go from the NIC's cache, too.
  virtual engine::Task<int> rewrite(Call& call, const translate::Region& region) = 0;
  /// The device refuses to create a key: the command, if there is one, and ENOMEM.
  virtual engine::Task<int> refused(Call& call);
  /// Nothing reaches memory by `key` from the end of this on. `keep`: the device goes on knowing the key.
  virtual engine::Task<int> revoke(Call& call, Key key, bool keep) = 0;

  /// What on-demand paging needs besides. Whether there is it at all:
  virtual bool changes_entries() const { return false; }
  /// Makes the device know the key that `grant` gives, without translations, if it does not: `load` need not any more. 0 or an errno.
  virtual engine::Task<int> create(Call&, KeyGrant&) { co_return 0; }
  /// Writes entries of a table that is in use; the change must live until the end of this. `done`: they have been changed already, and only
  /// the time is wanting.
  virtual engine::Task<int> change(Call&, const translate::EntryChange&, bool /*done*/ = false) { co_return 0; }

  /// Whether there is firmware that takes commands; otherwise the driver is all there is.
  virtual bool commands() const { return true; }

  /// What lets only one registration at a time through, or a few, for the report.
  struct Lock {
    const char* name = "";
    const engine::Semaphore* places = nullptr;
  };
  virtual std::vector<Lock> locks() const { return {}; }
};

/// What a table writer works with. All of it outlives the writer.
struct TableWriterContext {
  engine::Scheduler& scheduler;
  const DriverParams& params;
  ports::Command& command;
  ports::Umr& umr;
  ports::Tables& tables;
  ports::HostMemory& memory;
};
using TableWriters = Registry<TableWriter, const TableWriterContext&>;

/// One firmware command from end to end (mlx5 net/mlx5/core/cmd.c, mlx5_cmd_exec): filling its mailboxes, posting it, sleeping until its
/// completion event. `entries` of the input are translation entries.
engine::Task<int> run_command(const TableWriterContext& context, Call& call, const ports::Command::Request& request, std::uint64_t entries);

/// The writes that change a loaded region's context alone; nothing when the NIC's tables are full.
std::optional<translate::TableWrites> context_writes(const TableWriterContext& context, const translate::Region& region);

/// TableWriter::rewrite where there is no UMR: the firmware takes the context back and is given a new one (mlx4_mr_hw_get_mpt,
/// mlx4_mr_hw_write_mpt).
engine::Task<int> rewrite_by_commands(const TableWriterContext& context, Call& call, const translate::Region& region);

/// CREATE_MKEY without success (net/mlx5/core/mr.c, "limits exceeded"): ENOMEM.
engine::Task<int> run_refused_command(const TableWriterContext& context, Call& call);

/// The commands that make a key known without translations, and unknown: mlx5's CREATE_MKEY and DESTROY_MKEY
/// (include/linux/mlx5/mlx5_ifc.h).
ports::Command::Request create_key_command(const DriverParams& params);
ports::Command::Request destroy_key_command(const DriverParams& params);

/// Bytes of input beyond the 16 that stand in the command's own entry.
Bytes command_input(Bytes whole);

}  // namespace mtsim::kernel
