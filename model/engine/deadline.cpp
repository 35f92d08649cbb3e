#include "engine/deadline.h"

#include <algorithm>
#include <tuple>

namespace mtsim::engine {

bool Deadlines::later(const Entry& a, const Entry& b) { return std::tie(a.when, a.order, a.serial) > std::tie(b.when, b.order, b.serial); }

void Deadlines::watch(Deadline& deadline, Time when) {
  ++deadline.watched;
  heap_.push_back({when, deadline.order, serial_++, &deadline});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

Deadline& Deadlines::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), later);
  Deadline& deadline = *heap_.back().deadline;
  heap_.pop_back();
  --deadline.watched;
  return deadline;
}

Deadline* Deadlines::take() {
  const Time now = next();
  Deadline& deadline = pop();
  const Time due = deadline.due(deadline);
  if (due <= now) return &deadline;
  if (due != Deadline::never) watch(deadline, due);
  return nullptr;
}

void Deadlines::settle() {
  while (!heap_.empty()) {
    Deadline& deadline = *heap_.front().deadline;
    const Time due = deadline.due(deadline);
    if (due <= next()) return;
    pop();
    if (due != Deadline::never) watch(deadline, due);
  }
}

}  // namespace mtsim::engine
