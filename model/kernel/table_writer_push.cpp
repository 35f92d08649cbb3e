// Tables that live in the device: the driver hands it the page list in messages, and the device keeps what they held (efa, one command
// whose list it reads and forgets; mana, a message that makes the key and further ones that add pages: hw/efa/efa_verbs.c, hw/mana/main.c).
// Nothing of it stays in host memory. The translation architecture should be one that keeps its tables in the device.
#include <algorithm>
#include <cerrno>

#include "kernel/table_writer.h"

namespace mtsim::kernel {
namespace {

constexpr Bytes entry_bytes{8};
/// What a message says besides its entries.
constexpr Bytes message_head{64};

class PushWriter : public TableWriter {
 public:
  explicit PushWriter(const TableWriterContext& context) : context_(context) {}

  engine::Task<int> load(Call& call, const translate::Region& region, const KeyGrant&) override {
    translate::TableWrites writes;
    if (!context_.tables.architecture().build(region, writes)) co_return ENOMEM;
    // The first message also makes the key; the last one makes it valid.
    const DriverParams& params = context_.params;
    for (std::uint64_t left = writes.entries, message = 0;; ++message) {
      const std::uint64_t now = std::min(left, params.push_entries);
      left -= now;
      const ports::Command::Request push{message_head + entry_bytes * now, left == 0 ? &writes : nullptr,
                                         message == 0 ? params.create_key : params.push_message,
                                         message == 0 ? params.create_key_latency : Time()};
      call.cost().list_bytes += entry_bytes * now;
      const int error = co_await run_command(context_, call, push, now);
      if (error != 0 || left == 0) co_return error;
    }
  }

  engine::Task<int> refused(Call& call) override { return run_refused_command(context_, call); }

  engine::Task<int> rewrite(Call& call, const translate::Region& region) override {
    co_return co_await rewrite_by_commands(context_, call, region);
  }

  engine::Task<int> revoke(Call& call, Key key, bool) override {
    const translate::TableWrites writes = context_.tables.architecture().drop(key);
    ports::Command::Request destroy = destroy_key_command(context_.params);
    destroy.writes = &writes;
    co_return co_await run_command(context_, call, destroy, 0);
  }

 private:
  TableWriterContext context_;
};

const TableWriters::Entrant registered("push", "the list goes to the device in messages, and stays there (efa, mana)",
                                       [](const TableWriterContext& context) { return std::make_unique<PushWriter>(context); });

}  // namespace
}  // namespace mtsim::kernel
