#include "user/completion_queue.h"

#include <bit>
#include <cassert>
#include <utility>

namespace mtsim::user {

std::uint32_t CompletionQueue::granted_depth(std::uint32_t asked) { return std::bit_ceil(asked + 1); }

verbs::Completion CompletionQueue::take() {
  assert(!empty());
  Entry& oldest = entry(tail_++);
  if (oldest.from) oldest.from->completed(oldest.completion);
  oldest.from.reset();
  return oldest.completion;
}

void CompletionQueue::forget(const SendQueue& queue) {
  std::uint32_t kept = tail_;
  for (std::uint32_t index = tail_; index != head_; ++index)
    if (entry(index).from.get() != &queue) {
      if (kept != index) entry(kept) = std::exchange(entry(index), {});
      ++kept;
    } else {
      entry(index).from.reset();
    }
  head_ = kept;
}

Pa CompletionQueue::next_slot() { return base_ + entry_bytes * (slot_++ & (depth() - 1)); }

void CompletionQueue::arrive(const verbs::Completion& completion, const std::shared_ptr<SendQueue>& from) {
  if (from && from->closed()) return;
  if (size() == depth()) {
    ++overruns_;
    return;
  }
  entry(head_++) = {completion, from};
  if (waiting_.empty()) [[likely]]
    return;
  // Each of those who spin looks again at the end of its own turn of the loop; the first to do so takes it.
  std::swap(waiting_, noticed_);
  for (const verbs::Thread thread : noticed_) cpus_.notice(thread);
  noticed_.clear();
}

}  // namespace mtsim::user
