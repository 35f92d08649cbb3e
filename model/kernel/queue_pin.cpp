#include "kernel/queue_pin.h"

#include <cerrno>

namespace mtsim::kernel {

int QueuePin::make(Process& process, const ports::QueueMemory& memory, QueuePin& out) {
  if (memory.buffer == Pages(0)) return 0;
  if (!process.memlock.permitted()) return EPERM;
  const auto known = process.doorbell_pages.find(memory.doorbell_page);
  const Pages pages = memory.buffer + Pages(known == process.doorbell_pages.end() ? 1 : 0);
  if (const int error = process.memlock.charge(pages); error != 0) return error;
  ++process.doorbell_pages[memory.doorbell_page];
  out.process_ = &process;
  out.memory_ = memory;
  return 0;
}

void QueuePin::undo() {
  if (process_ == nullptr) return;
  const auto doorbells = process_->doorbell_pages.find(memory_.doorbell_page);
  const bool last = --doorbells->second == 0;
  if (last) process_->doorbell_pages.erase(doorbells);
  process_->memlock.uncharge(memory_.buffer + Pages(last ? 1 : 0));
  process_ = nullptr;
}

}  // namespace mtsim::kernel
