#include "user/completion_queue.h"

#include <cassert>
#include <utility>

namespace mtsim::user {

std::uint32_t CompletionQueue::granted_depth(std::uint32_t asked, const verbs::Rules::Posting& posting) {
  return std::bit_ceil(asked + 1) - (posting.power_of_two_less_one ? 1 : 0);
}

verbs::Completion CompletionQueue::take() {
  assert(!empty());
  Entry& oldest = entry(tail_++);
  oldest.from->from().completed(oldest.place);
  return oldest.completion;
}

void CompletionQueue::forget(const CompletionPath& from) {
  std::uint32_t kept = tail_;
  for (std::uint32_t index = tail_; index != head_; ++index)
    if (entry(index).from == &from) from.from().completed(entry(index).place);
    else entry(kept++) = entry(index);
  head_ = kept;
}

Pa CompletionQueue::next_slot() { return base_ + entry_bytes * place(slot_++); }

void CompletionQueue::arrive(const verbs::Completion& completion, std::uint32_t place, const CompletionPath& from) {
  ++landed_;
  if (size() == depth()) {
    ++overruns_;
    return;
  }
  entry(head_++) = {completion, place, &from};
  if (waiting_.empty()) [[likely]]
    return;
  // Each of those who spin looks again at the end of its own turn of the loop; the first to do so takes it.
  std::swap(waiting_, noticed_);
  for (const verbs::Thread thread : noticed_) cpus_.notice(thread);
  noticed_.clear();
}

}  // namespace mtsim::user
