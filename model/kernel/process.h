// What the kernel keeps of a process that uses the NIC.
#pragma once

#include "host/address_space.h"
#include "kernel/memlock.h"
#include "kernel/object_table.h"

namespace mtsim::kernel {

struct Pd {
  std::uint32_t users = 0;  ///< MRs and QPs
};

struct Process {
  explicit Process(FramePool& frames) : memory(frames) {}
  AddressSpace memory;
  Memlock memlock;
  ObjectTable<Pd> pds;
};

}  // namespace mtsim::kernel
