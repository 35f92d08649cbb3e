#include "translate/ranges.h"

#include <algorithm>
#include <bit>

namespace mtsim::translate {

FirstFit::FirstFit(std::uint64_t size, std::uint64_t chunk) : chunk_(chunk) {
  const std::uint64_t piece = chunk == 0 ? size : chunk;
  for (std::uint64_t at = 0; at < size; at += piece) free_[at] = std::min(piece, size - at);
}

bool FirstFit::take(std::uint64_t n, std::uint64_t& first) {
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second < n) continue;
    first = it->first;
    const std::uint64_t rest = it->second - n;
    free_.erase(it);
    if (rest != 0) free_[first + n] = rest;
    return true;
  }
  return false;
}

void FirstFit::give(std::uint64_t first, std::uint64_t n) {
  auto next = free_.lower_bound(first);
  if (next != free_.end() && first + n == next->first && !border(next->first)) {
    n += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin() && !border(first)) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == first) {
      previous->second += n;
      return;
    }
  }
  free_[first] = n;
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
