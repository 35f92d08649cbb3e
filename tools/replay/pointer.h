// Addresses of a trace's memory are numbers until the kernel or libibverbs is given them.
#pragma once

#include <bit>
#include <cstdint>

namespace mtsim::replay {

inline void* pointer(std::uint64_t address) { return std::bit_cast<void*>(address); }

}  // namespace mtsim::replay
