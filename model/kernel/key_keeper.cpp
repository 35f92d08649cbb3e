#include "kernel/key_keeper.h"

#include "kernel/table_writer.h"

namespace mtsim::kernel {

engine::Flow KeyKeeper::carry_out(KeyChore chore) {
  const ports::Command::Request request = chore.kind == KeyChore::Kind::create ? create_key_command(params_) : destroy_key_command(params_);
  co_await command_.execute(request);
  policy_.done(chore, scheduler_.now());
  tend();
}

}  // namespace mtsim::kernel
