// Parts of the summary, and how much of the page each may take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "results/page.h"
#include "results/report.h"

namespace mtsim::results {

/// How many rows each part of the page may take.
struct Room {
  std::size_t opcodes, steps;
  double step_share;  ///< of the mean: steps below that go together
  std::size_t waits, resources, caches, chains, cpus, pcie, unexpected;
};

inline constexpr std::size_t figure_width = 10;

template <class T>
using Shown = std::vector<const T*>;

/// The `most` items of highest `weight` in their own order; items that weigh nothing are left out.
template <class T, class F>
Shown<T> foremost(const std::vector<T>& all, std::size_t most, F weight) {
  Shown<T> out;
  for (const T& item : all)
    if (weight(item) > 0) out.push_back(&item);
  std::stable_sort(out.begin(), out.end(), [&](const T* a, const T* b) { return weight(*a) > weight(*b); });
  if (out.size() > most) out.resize(most);
  std::sort(out.begin(), out.end());
  return out;
}

/// A title that says how many of all are shown.
std::string titled(const char* title, std::size_t all, std::size_t shown);

// Latencies and what they consist of (text_latency.cpp).
void latency(Page& page, const Report& r, const Shown<OperationStats>& shown);
void charts(Page& page, const Report& r, const Shown<OperationStats>& operations, const Room& room);
void waits(Page& page, const Report& r, const Shown<OperationStats>& operations, const Room& room);

/// Resources, caches, CPUs, PCIe: of each the rows that tell most (text_tables.cpp).
void tables(Page& page, const Report& r, const Room& room);

}  // namespace mtsim::results
