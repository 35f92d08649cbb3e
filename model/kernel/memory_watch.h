// Follows what lies in the memory of a host's processes and what its NICs make of it: the hazards of registrations that outlive the
// memory which they were made for, and of keys that outlive their registrations.
//
// A transfer of a pinned MR goes to the frames that were pinned. It is stale when the process has something else at the address: bytes
// written go where it does not look, and bytes read are stale if they differ from those that it has. Contents change when the NIC hands
// a transfer to its link. An MR on demand follows the page table and is never stale.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "base/contents.h"
#include "base/dma_map.h"
#include "engine/scheduler.h"
#include "host/address_space.h"
#include "ports/data_watch.h"

namespace mtsim::kernel {

class MemoryWatch final : public sc_core::sc_module, public ports::DataWatch {
 public:
  /// `frames` is followed from now on; `port` is the host's on the switch. `notes` may be null.
  MemoryWatch(sc_core::sc_module_name name, engine::Scheduler& scheduler, FramePool& frames, std::uint32_t port,
              ports::HazardNotes* notes = nullptr);
  ~MemoryWatch() override;

  /// A memory region as its NIC is told of it.
  struct Registration {
    const AddressSpace* process = nullptr;
    Va memory;                             ///< where the process has it
    Iova start;                            ///< what operations call that place
    std::shared_ptr<const DmaMap> frames;  ///< null: on demand
  };
  /// From now on, in the place of what was known of that identity (verbs::Grant::identity).
  void begin(std::uint32_t identity, Registration registration);
  void end(std::uint32_t identity);
  /// A CPU has written. What of the range is not there has not been.
  void written(const AddressSpace& process, Va address, Bytes length);

  void read(const ports::Query& query, Bytes length, ports::Mishap& mishap) override { judge(query, length, false, mishap); }
  void write(const ports::Query& query, Bytes length, ports::Mishap& mishap) override { judge(query, length, true, mishap); }

  /// Transfers with a hazard, by kind; those of operations that failed later are among them.
  struct Transfers {
    std::uint64_t stale = 0, foreign = 0;
  };
  const Transfers& transfers() const { return transfers_; }
  const Contents& contents() const { return contents_; }

 private:
  void judge(const ports::Query& query, Bytes length, bool writes, ports::Mishap& mishap);
  /// Bytes of the range before the first that the process sees otherwise, which `why` says.
  std::uint64_t sound(const Registration& of, std::uint64_t offset, std::uint64_t length, bool writes, ports::HazardNote::Why& why) const;
  void store(const Registration& of, std::uint64_t offset, std::uint64_t length);

  engine::Scheduler& scheduler_;
  FramePool& frames_;
  std::uint32_t port_;
  ports::HazardNotes* notes_;
  Contents contents_;
  std::unordered_map<std::uint32_t, Registration> registrations_;
  Transfers transfers_;
};

}  // namespace mtsim::kernel
