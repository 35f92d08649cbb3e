#include "kernel/rdma_device.h"

namespace mtsim::kernel {
namespace {

/// QUERY_QP of mlx5: output beyond the entry's own 16 bytes stands in mailboxes, as input does (include/linux/mlx5/mlx5_ifc.h).
constexpr Bytes query_qp_output{272};

}  // namespace

engine::Task<int> RdmaDevice::query(verbs::Thread thread) {
  if (!writer_->commands()) co_return 0;
  Call call(shared_.scheduler, ports_->cpus, shared_.kernel, thread, ports::RegistrationRecord::Call::worker);
  const TableWriterContext context{shared_.scheduler, shared_.driver, ports_->command, ports_->umr, ports_->tables, ports_->memory};
  const ports::Command::Request request{command_input(query_qp_output), nullptr, shared_.driver.query_qp, Time()};
  co_return co_await run_command(context, call, request, 0);
}

}  // namespace mtsim::kernel
