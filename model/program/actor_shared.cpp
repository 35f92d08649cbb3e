#include "program/actor_shared.h"

#include <algorithm>
#include <utility>

namespace mtsim::program {

// Two runs of a program differ in who takes which receive by no more than what is under way at once, which the depth bounds; whoever asks
// for a deeper queue than anybody has gets the upper limit.
SharedQueue::SharedQueue(std::uint32_t depth) : most_names_(std::clamp<std::size_t>(depth, 64, 1024)) {}

void SharedQueue::attach(NameId cq) {
  const auto found = std::find_if(served_.begin(), served_.end(), [cq](const Served& s) { return s.cq == cq; });
  if (found != served_.end()) ++found->qps;
  else served_.push_back({cq, 1});
}

void SharedQueue::detach(NameId cq) {
  const auto found = std::find_if(served_.begin(), served_.end(), [cq](const Served& s) { return s.cq == cq; });
  if (found != served_.end() && --found->qps == 0) served_.erase(found);
}

bool SharedQueue::serves(NameId cq) const {
  return std::any_of(served_.begin(), served_.end(), [cq](const Served& s) { return s.cq == cq; });
}

std::optional<verbs::Completion> SharedQueue::take_aside(NameId cq, std::uint64_t wr) {
  const auto begin = aside_.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto own = [&](const Aside& a) { return a.cq == cq && a.completion.wr == wr; };
  auto found = std::find_if(begin, aside_.end(), own);
  if (found == aside_.end()) found = std::find_if(begin, aside_.end(), [cq](const Aside& a) { return a.cq == cq; });
  if (found == aside_.end()) return std::nullopt;
  const verbs::Completion c = found->completion;
  // Nearly always the first: then nothing moves, and the room in front is given back once it is half of all.
  std::move_backward(begin, found, std::next(found));
  ++first_;
  if (2 * first_ >= aside_.size()) {
    aside_.erase(aside_.begin(), aside_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  return c;
}

void SharedQueue::drop_aside(NameId cq) {
  aside_.erase(aside_.begin(), aside_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
  std::erase_if(aside_, [cq](const Aside& a) { return a.cq == cq; });
}

std::optional<std::uint64_t> SharedQueue::keep_name(std::uint64_t wr) {
  if (names_.size() < most_names_) {
    names_.push_back(wr);
    return std::nullopt;
  }
  const std::uint64_t oldest = std::exchange(names_[oldest_name_], wr);
  oldest_name_ = (oldest_name_ + 1) % names_.size();
  return oldest;
}

}  // namespace mtsim::program
