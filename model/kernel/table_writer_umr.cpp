// mlx5: the NIC fetches the list of translation entries itself, told by a work request on the one UMR queue pair of the device
// (Linux hw/mlx5/umr.c). The kernel lets several wait for the queue pair's completions at once; the model lets one at a time use it, from
// posting to completion. All lists are laid in one buffer, which the queue pair's turn protects.
#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/error.h"
#include "engine/semaphore.h"
#include "kernel/table_writer.h"

namespace mtsim::kernel {
namespace {

constexpr Bytes list_buffer_bytes = MiB(1);
/// UMR writes tables in units of 64 bytes.
constexpr std::uint64_t entries_per_unit = 8;

class UmrWriter : public TableWriter {
 public:
  explicit UmrWriter(const TableWriterContext& context)
      : context_(context),
        queue_pair_(context.scheduler, context.params.umr_requests),
        posting_(context.scheduler, 1),
        slow_path_(context.scheduler, 1) {}

  engine::Task<int> load(Call& call, const translate::Region& region, const KeyGrant& grant) override {
    translate::TableWrites writes;
    if (verbs::is_window(region.grant)) {
      if (!context_.tables.architecture().build(region, writes)) co_return ENOMEM;
      ports::Command::Request create = create_key_command(context_.params);
      create.writes = &writes;
      co_return co_await run_command(context_, call, create, 0);
    }
    if (!prepare_buffer() || !context_.tables.architecture().build(region, writes)) co_return ENOMEM;
    if (!grant.created)
      if (const int error = co_await create_key(call, grant); error != 0) co_return error;
    co_return co_await write(call, writes.entries, &writes);
  }

  bool changes_entries() const override { return context_.tables.architecture().changes_entries(); }

  engine::Task<int> create(Call& call, KeyGrant& grant) override {
    if (!prepare_buffer()) co_return ENOMEM;
    if (grant.created) co_return 0;
    const int error = co_await create_key(call, grant);
    grant.created = error == 0;
    co_return error;
  }

  /// mlx5r_umr_update_xlt, for a key that is enabled
  engine::Task<int> change(Call& call, const translate::EntryChange& entries, bool done) override {
    translate::TableWrites writes;
    if (!done) writes = context_.tables.architecture().change(entries);
    co_return co_await write(call, entries.count, done ? nullptr : &writes);
  }

  /// mlx5r_umr_rereg_pd_access
  engine::Task<int> rewrite(Call& call, const translate::Region& region) override {
    const auto writes = context_writes(context_, region);
    if (!writes) co_return ENOMEM;
    co_return co_await post_send_wait(call, {*list_, Bytes(0), &*writes}, 0);
  }

  engine::Task<int> refused(Call& call) override { return run_refused_command(context_, call); }

  engine::Task<int> revoke(Call& call, Key key, bool keep) override {
    const translate::TableWrites writes = context_.tables.architecture().drop(key);
    if (keep) {
      // mlx5r_umr_revoke_mr: the key becomes free and what is in flight by it is waited for.
      const ports::Umr::Request request{*list_, Bytes(0), &writes};
      co_return co_await post_send_wait(call, request, 0);
    }
    // mlx5_core_destroy_mkey
    ports::Command::Request destroy = destroy_key_command(context_.params);
    destroy.writes = &writes;
    co_return co_await run_command(context_, call, destroy, 0);
  }

  std::vector<Lock> locks() const override {
    return {{"umr_queue_pair", &queue_pair_}, {"umr_posting", &posting_}, {"slow_path", &slow_path_}};
  }

 private:
  /// mlx5_core_create_mkey, for a key in the free state; alloc_cacheable_mr has it done under slow_path_mutex where there is no class.
  engine::Task<int> create_key(Call& call, const KeyGrant& grant) {
    if (grant.alone) {
      if (slow_path_.in_use() != 0) call.sleep();
      co_await slow_path_.take();
      call.lap(Call::Step::wait);
    }
    const int error = co_await run_command(context_, call, create_key_command(context_.params), 0);
    if (grant.alone) slow_path_.give();
    co_return error;
  }

  /// mlx5r_umr_update_mr_pas: as many work requests as the list takes, one after the other; the last one changes the table and enables the
  /// key.
  engine::Task<int> write(Call& call, std::uint64_t entries, const translate::TableWrites* writes) {
    for (std::uint64_t left = entries;;) {
      const std::uint64_t now = std::min(left, context_.params.umr_entries);
      left -= now;
      const ports::Umr::Request request{*list_, Bytes(round_up(now, entries_per_unit) * 8), left == 0 ? writes : nullptr};
      const int error = co_await post_send_wait(call, request, now);
      if (error != 0 || left == 0) co_return error;
    }
  }

  /// mlx5r_umr_post_send_wait: the semaphore keeps the queue pair from overflowing, the mutex covers the posting alone. The work requests
  /// of one MR wait for each other, those of several threads do not.
  engine::Task<int> post_send_wait(Call& call, const ports::Umr::Request& request, std::uint64_t entries) {
    if (queue_pair_.in_use() == queue_pair_.places()) call.sleep();
    co_await queue_pair_.take();
    if (posting_.in_use() != 0) call.sleep();
    co_await posting_.take();
    call.lap(Call::Step::wait);
    const DriverParams& params = context_.params;
    co_await call.work(Call::Step::table_write, ports::Work::table,
                       params.umr_post + params.list_entry * static_cast<std::int64_t>(entries));
    posting_.give();
    call.cost().umr_requests += 1;
    call.cost().list_bytes += request.list_bytes;
    call.sleep();
    const int error = co_await context_.umr.post(request);
    co_await call.wake_up();
    queue_pair_.give();
    co_return error;
  }

  /// Like the UMR queue pair, made with the first registration (mlx5r_umr_resource_init).
  bool prepare_buffer() {
    if (list_) return true;
    try {
      list_ = context_.memory.allocate(list_buffer_bytes, page_bytes);
    } catch (const UserError&) { return false; }
    return true;
  }

  TableWriterContext context_;
  engine::Semaphore queue_pair_, posting_, slow_path_;
  std::optional<Pa> list_;
};

const TableWriters::Entrant registered("umr", "the NIC fetches a list, told by UMR work requests (mlx5)",
                                       [](const TableWriterContext& context) { return std::make_unique<UmrWriter>(context); });

}  // namespace
}  // namespace mtsim::kernel
