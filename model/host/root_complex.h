// The root complex of one host and the memory behind it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "base/io_page_table.h"
#include "base/parameter.h"
#include "host/frame_pool.h"
#include "host/iommu.h"
#include "host/llc.h"
#include "ports/memory.h"

namespace mtsim::host {

struct RootComplexParams {
  Time read_latency, write_latency;
  static void declare(Declaration<RootComplexParams>& d);
};

class RootComplex : public sc_core::sc_module, public ports::HostMemory {
 public:
  /// Throws UserError where FramePool does. `cache` and `iommu` count when there is a last-level cache, or a table to translate by.
  RootComplex(sc_core::sc_module_name name, const RootComplexParams& params, const FramePoolParams& memory,
              const LlcParams& cache = defaults<LlcParams>(), const IommuParams& iommu = defaults<IommuParams>());

  Time read_latency(Pa) const override { return params_.read_latency; }
  Time write_latency(Pa) const override { return params_.write_latency; }
  bool keeps_state() const override { return iommu_ != nullptr || llc_ != nullptr; }
  Served read(const ports::MemoryAccess& access, Time now) override;
  Time write(const ports::MemoryAccess& access, Time now) override;
  ports::Translation translate(std::uint32_t device, Pa address, Time now) override;
  /// In whole pages. Throws UserError when there is no contiguous memory of that length.
  Pa allocate(Bytes length, Bytes align) override;
  void release(Pa address, Bytes length) override;

  /// Addresses of the next device, by number, go through this table from the start on, of so many levels; null: they are physical. It must
  /// outlive this.
  void translate_by(const IoPageTable* table, unsigned levels = 4);
  /// Where an address of the first device leads. Queues and tables of the driver keep their physical addresses, which lie below all that
  /// the table maps. Nothing when the IOMMU would refuse it.
  std::optional<Pa> resolve(Pa device) const;
  void cpu_writes(Pa address, Bytes length) override {
    if (llc_) llc_->fill(address, length);
  }
  void cpu_flushes(Pa address, Bytes length) override {
    if (llc_) llc_->flush(address, length);
  }

  /// Null where there is none.
  const Iommu* iommu() const { return iommu_.get(); }
  const Llc* llc() const { return llc_.get(); }
  /// The host's frames: processes take theirs from the same pool.
  FramePool& frames() { return frames_; }

 private:
  /// A device as the root complex sees it.
  struct Device {
    const IoPageTable* table = nullptr;  ///< null: its addresses are physical
    std::uint32_t domain = 0;
    Time posted;  ///< when all writes that have come from it may take effect
  };
  /// Where an access leads and when that is known; `length` is how far it is the same for.
  struct Reached {
    Pa address;
    Bytes length;
    Time at;
  };
  Reached reach(const ports::MemoryAccess& access, Time now);
  Device& device(std::uint32_t number);
  Pa memory_end() const { return FrameLaw::memory_start + page_bytes * frames_.size().raw; }

  RootComplexParams params_;
  FramePool frames_;
  std::map<Pa, FrameExtent> allocated_;
  IommuParams iommu_params_;
  std::unique_ptr<Llc> llc_;
  std::unique_ptr<Iommu> iommu_;
  std::uint32_t domains_ = 0;
  std::vector<Device> devices_;
  std::uint32_t told_ = 0;  ///< devices of which it is known by what table they translate
};

}  // namespace mtsim::host
