#include "translate/ranges.h"

#include <algorithm>
#include <bit>

namespace mtsim::translate {

FirstFit::FirstFit(std::uint64_t size, std::uint64_t chunk) : chunk_(chunk) {
  const std::uint64_t piece = chunk == 0 ? size : chunk;
  for (std::uint64_t at = 0; at < size; at += piece) add(at, std::min(piece, size - at));
}

bool FirstFit::take(std::uint64_t n, std::uint64_t& first) {
  const Rows* found = nullptr;
  for (auto sized = by_size_.lower_bound(size_class(n)); sized != by_size_.end(); ++sized)
    for (const auto& [start, length] : sized->second) {
      if (found != nullptr && start > first) break;
      if (length < n) continue;
      found = &sized->second;
      first = start;
      break;
    }
  if (found == nullptr) return false;
  const std::uint64_t length = found->at(first);
  remove(first, length);
  add(first + n, length - n);
  return true;
}

void FirstFit::give(std::uint64_t first, std::uint64_t n) {
  const auto next = free_.lower_bound(first);
  const std::uint64_t after = next != free_.end() && next->first == first + n && !border(next->first) ? next->second : 0;
  if (next != free_.begin() && !border(first)) {
    const auto [start, length] = *std::prev(next);
    if (start + length == first) {
      remove(start, length);
      first = start;
      n += length;
    }
  }
  if (after != 0) {
    remove(first + n, after);
    n += after;
  }
  add(first, n);
}

unsigned FirstFit::size_class(std::uint64_t n) {
  if (n < 16) return static_cast<unsigned>(n);
  const auto log = static_cast<unsigned>(std::bit_width(n)) - 1;
  return log * 8 + static_cast<unsigned>(n >> (log - 3) & 7);
}

void FirstFit::add(std::uint64_t first, std::uint64_t n) {
  if (n == 0) return;
  free_.emplace(first, n);
  by_size_[size_class(n)].emplace(first, n);
}

void FirstFit::remove(std::uint64_t first, std::uint64_t n) {
  free_.erase(first);
  const auto sized = by_size_.find(size_class(n));
  sized->second.erase(first);
  if (sized->second.empty()) by_size_.erase(sized);
}

Buddy::Buddy(std::uint64_t size) {
  if (size == 0) return;
  free_.resize(static_cast<std::size_t>(std::bit_width(size)));
  free_.back().insert(0);
}

bool Buddy::take(std::uint64_t n, std::uint64_t& first) {
  const auto order = static_cast<std::size_t>(std::bit_width(n - 1));
  for (std::size_t from = order; from < free_.size(); ++from) {
    if (free_[from].empty()) continue;
    std::uint64_t range = *free_[from].begin();
    free_[from].erase(free_[from].begin());
    // The lower half is cut on, the upper one stays free.
    for (std::size_t o = from; o > order; --o) {
      range *= 2;
      free_[o - 1].insert(range + 1);
    }
    first = range << order;
    return true;
  }
  return false;
}

void Buddy::give(std::uint64_t first, std::uint64_t n) {
  auto order = static_cast<std::size_t>(std::bit_width(n - 1));
  std::uint64_t range = first >> order;
  while (order + 1 < free_.size() && free_[order].erase(range ^ 1) != 0) {
    range /= 2;
    ++order;
  }
  free_[order].insert(range);
}

}  // namespace mtsim::translate
