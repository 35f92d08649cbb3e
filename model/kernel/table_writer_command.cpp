// The whole list of translation entries in the input of the firmware command that creates the key, as mlx5 does where it cannot use UMR
// (Linux hw/mlx5/mr.c, reg_create with populate). One such command at a time: the driver holds a mutex of the device (slow_path_mutex).
#include <cerrno>

#include "engine/semaphore.h"
#include "kernel/table_writer.h"

namespace mtsim::kernel {
namespace {

/// Input of CREATE_MKEY before the translations, which come two in 16 bytes; DESTROY_MKEY (include/linux/mlx5/mlx5_ifc.h).
constexpr Bytes create_mkey_input{272};
constexpr Bytes octoword{16};
constexpr Bytes destroy_mkey_input{16};

class CommandWriter : public TableWriter {
 public:
  explicit CommandWriter(const TableWriterContext& context) : context_(context), slow_path_(context.scheduler, 1) {}

  engine::Task<int> load(Call& call, const translate::Region& region, const KeyGrant&) override {
    translate::TableWrites writes;
    if (!context_.tables.architecture().build(region, writes)) co_return ENOMEM;
    const Bytes list = octoword * ceil_div(writes.entries, 2);
    const ports::Command::Request create{command_input(create_mkey_input + list), &writes, context_.params.create_key,
                                         context_.params.create_key_latency};
    if (slow_path_.in_use() != 0) call.sleep();
    co_await slow_path_.take();
    call.lap(Call::Step::wait);
    call.cost().list_bytes += list;
    const int error = co_await run_command(context_, call, create, writes.entries);
    slow_path_.give();
    co_return error;
  }

  engine::Task<int> refused(Call& call) override { return run_refused_command(context_, call); }

  engine::Task<int> rewrite(Call& call, const translate::Region& region) override {
    co_return co_await rewrite_by_commands(context_, call, region);
  }

  engine::Task<int> revoke(Call& call, Key key, bool) override {
    const translate::TableWrites writes = context_.tables.architecture().drop(key);
    const ports::Command::Request destroy{command_input(destroy_mkey_input), &writes, context_.params.destroy_key,
                                          context_.params.destroy_key_latency};
    co_return co_await run_command(context_, call, destroy, 0);
  }

  std::vector<Lock> locks() const override { return {{"slow_path", &slow_path_}}; }

 private:
  TableWriterContext context_;
  engine::Semaphore slow_path_;
};

const TableWriters::Entrant registered("command", "the list goes in the command that creates the key (mlx5 without UMR)",
                                       [](const TableWriterContext& context) { return std::make_unique<CommandWriter>(context); });

}  // namespace
}  // namespace mtsim::kernel
