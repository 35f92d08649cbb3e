#include "kernel/table_writer.h"

namespace mtsim::kernel {
namespace {

constexpr Bytes inline_input{16};
constexpr Bytes mailbox_bytes{512};
constexpr Bytes create_mkey_input{272};
constexpr Bytes destroy_mkey_input{16};

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

}  // namespace mtsim::kernel
