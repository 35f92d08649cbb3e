// The pages of a shared mapping that several processes have, as a shmem file keeps them: they outlive the mappings of each.
#pragma once

#include "host/address_space.h"

namespace mtsim {

struct AddressSpace::Common {
  explicit Common(FramePool& frames) : pool(frames), table(frames.law()) {}
  Common(const Common&) = delete;
  Common& operator=(const Common&) = delete;
  ~Common() {
    for (const FrameExtent& frames : table.unmap(Va(0), Bytes(std::uint64_t{1} << 47))) pool.release(frames);
  }

  FramePool& pool;
  PageTable table;  ///< by virtual page: a fork leaves addresses as they are, and nothing moves a mapping
};

}  // namespace mtsim
