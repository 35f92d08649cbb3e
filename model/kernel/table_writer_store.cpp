// mlx4: the CPU stores the translation entries into the table in host memory, then a command hands the key's context to the hardware
// (Linux net/mlx4/mr.c: mlx4_write_mtt, mlx4_mr_enable). Before that, a command maps each chunk of a table that is used for the first time
// (MAP_ICM; irdma: a segment descriptor). Tables of several arrays count as if they lay in one row from the first one on.
#include <cerrno>
#include <unordered_map>

#include "kernel/mapped_chunks.h"
#include "kernel/table_writer.h"

namespace mtsim::kernel {
namespace {

/// SW2HW_MPT takes the context in a mailbox; HW2SW_MPT has no input. MAP_ICM names the chunk's pages in a mailbox.
constexpr Bytes context_mailbox{64};
constexpr Bytes map_mailbox{512};
constexpr Bytes context_bytes{64};

class StoreWriter : public TableWriter {
 public:
  explicit StoreWriter(const TableWriterContext& context)
      : context_(context),
        tables_(context.params.table_chunk, context.params.keep_chunks),
        contexts_(context.params.context_chunk, context.params.keep_chunks) {}

  engine::Task<int> load(Call& call, const translate::Region& region, const KeyGrant&) override {
    translate::TableWrites writes;
    if (!context_.tables.architecture().build(region, writes)) co_return ENOMEM;
    // mlx4_mtt_init, mlx4_mpt_alloc_icm
    const Held held{writes.context, writes.table, writes.table_bytes()};
    for (std::uint64_t n = tables_.hold(held.table, held.bytes) + contexts_.hold(held.context, context_bytes); n != 0; --n)
      co_await run_command(context_, call, chunk_command(map_mailbox), 0);
    held_[region.grant.key] = held;
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

  engine::Task<int> rewrite(Call& call, const translate::Region& region) override {
    co_return co_await rewrite_by_commands(context_, call, region);
  }

  engine::Task<int> revoke(Call& call, Key key, bool) override {
    // mlx4_mr_free: HW2SW_MPT
    const ports::Command::Request disable{Bytes(0), nullptr, context_.params.destroy_key, context_.params.destroy_key_latency};
    const int error = co_await run_command(context_, call, disable, 0);
    context_.tables.commit(context_.tables.architecture().drop(key));
    const auto held = held_.find(key);
    if (held != held_.end()) {
      // mlx4_mtt_cleanup, mlx4_mpt_free_icm: UNMAP_ICM
      const Held gone = held->second;
      held_.erase(held);
      for (std::uint64_t n = tables_.release(gone.table, gone.bytes) + contexts_.release(gone.context, context_bytes); n != 0; --n)
        co_await run_command(context_, call, chunk_command(Bytes(0)), 0);
    }
    co_return error;
  }

 private:
  struct Held {
    Pa context, table;
    Bytes bytes;
  };
  struct KeyHash {
    std::size_t operator()(Key key) const { return key.raw; }
  };
  ports::Command::Request chunk_command(Bytes input) const { return {input, nullptr, context_.params.map_chunk, Time()}; }

  TableWriterContext context_;
  MappedChunks tables_, contexts_;
  std::unordered_map<Key, Held, KeyHash> held_;
};

const TableWriters::Entrant registered("store", "the CPU stores the entries, a command enables the key (mlx4)",
                                       [](const TableWriterContext& context) { return std::make_unique<StoreWriter>(context); });

}  // namespace
}  // namespace mtsim::kernel
