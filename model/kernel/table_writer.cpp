#include "kernel/table_writer.h"

#include <cerrno>

namespace mtsim::kernel {
namespace {

constexpr Bytes inline_input{16};
constexpr Bytes mailbox_bytes{512};
constexpr Bytes create_mkey_input{272};
constexpr Bytes destroy_mkey_input{16};
constexpr Bytes context_bytes{64};

}  // namespace

Bytes command_input(Bytes whole) { return whole <= inline_input ? Bytes(0) : whole - inline_input; }

ports::Command::Request create_key_command(const DriverParams& params) {
  return {command_input(create_mkey_input), nullptr, params.create_key, params.create_key_latency};
}

ports::Command::Request destroy_key_command(const DriverParams& params) {
  return {command_input(destroy_mkey_input), nullptr, params.destroy_key, params.destroy_key_latency};
}

engine::Task<int> run_command(const TableWriterContext& context, Call& call, const ports::Command::Request& request,
                              std::uint64_t entries) {
  const std::uint64_t mailboxes = ceil_div(request.input.raw, mailbox_bytes.raw);
  const DriverParams& params = context.params;
  const Time filling = params.mailbox * static_cast<std::int64_t>(mailboxes) + params.list_entry * static_cast<std::int64_t>(entries);
  co_await call.work(Call::Step::table_write, ports::Work::table, params.command_post + filling);
  call.cost().commands += 1;
  call.cost().mailboxes += mailboxes;
  call.sleep();
  const int error = co_await context.command.execute(request);
  co_await call.wake_up();
  co_return error;
}

std::optional<translate::TableWrites> context_writes(const TableWriterContext& context, const translate::Region& region) {
  translate::TableWrites writes;
  if (!context.tables.architecture().build(region, writes)) return std::nullopt;
  writes.entries = 0;
  return writes;
}

engine::Task<int> rewrite_by_commands(const TableWriterContext& context, Call& call, const translate::Region& region) {
  const auto writes = context_writes(context, region);
  if (!writes) co_return ENOMEM;
  const DriverParams& params = context.params;
  const ports::Command::Request take_back{Bytes(0), nullptr, params.destroy_key, params.destroy_key_latency};
  if (const int error = co_await run_command(context, call, take_back, 0); error != 0) co_return error;
  const ports::Command::Request give{command_input(context_bytes), &*writes, params.create_key, params.create_key_latency};
  co_return co_await run_command(context, call, give, 0);
}

engine::Task<int> run_refused_command(const TableWriterContext& context, Call& call) {
  co_await run_command(context, call, create_key_command(context.params), 0);
  co_return ENOMEM;
}

engine::Task<int> TableWriter::refused(Call&) { co_return ENOMEM; }

}  // namespace mtsim::kernel
