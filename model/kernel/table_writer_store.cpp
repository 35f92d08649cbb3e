// mlx4: the CPU stores the translation entries into the table in host memory, then a command hands the key's context to the hardware
// (Linux net/mlx4/mr.c: mlx4_write_mtt, mlx4_mr_enable). Left out: mapping a new chunk of the table for the device (MAP_ICM) when the
// first key of that chunk is used.
#include <cerrno>

#include "kernel/table_writer.h"

namespace mtsim::kernel {
namespace {

/// SW2HW_MPT takes the context in a mailbox; HW2SW_MPT has no input.
constexpr Bytes context_mailbox{64};

class StoreWriter : public TableWriter {
 public:
  explicit StoreWriter(const TableWriterContext& context) : context_(context) {}

  engine::Task<int> load(Call& call, const translate::Region& region, const KeyGrant&) override {
    translate::TableWrites writes;
    if (!context_.tables.architecture().build(region, writes)) co_return ENOMEM;
    // mlx4_write_mtt
    co_await call.work(Call::Step::table_write, ports::Work::table,
                       context_.params.store_entry * static_cast<std::int64_t>(writes.entries));
    call.cost().list_bytes += writes.table_bytes();
    // mlx4_mr_enable: SW2HW_MPT
    const ports::Command::Request enable{context_mailbox, nullptr, context_.params.create_key, context_.params.create_key_latency};
    const int error = co_await run_command(context_, call, enable, 0);
    context_.tables.commit(writes);
    co_return error;
  }

  engine::Task<int> revoke(Call& call, Key key, bool) override {
    // mlx4_mr_free: HW2SW_MPT
    const ports::Command::Request disable{Bytes(0), nullptr, context_.params.destroy_key, context_.params.destroy_key_latency};
    const int error = co_await run_command(context_, call, disable, 0);
    context_.tables.commit(context_.tables.architecture().drop(key));
    co_return error;
  }

 private:
  TableWriterContext context_;
};

const TableWriters::Entrant registered("store", "the CPU stores the entries, a command enables the key (mlx4)",
                                       [](const TableWriterContext& context) { return std::make_unique<StoreWriter>(context); });

}  // namespace
}  // namespace mtsim::kernel
