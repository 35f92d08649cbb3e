// The root complex of one host and the memory behind it.
#pragma once

#include <map>
#include <optional>
#include <systemc>

#include "base/io_page_table.h"
#include "base/parameter.h"
#include "host/frame_pool.h"
#include "ports/memory.h"

namespace mtsim::host {

struct RootComplexParams {
  Time read_latency, write_latency;
  static void declare(Declaration<RootComplexParams>& d);
};

class RootComplex : public sc_core::sc_module, public ports::HostMemory {
 public:
  /// Throws UserError where FramePool does.
  RootComplex(sc_core::sc_module_name name, const RootComplexParams& params, const FramePoolParams& memory);

  /// Of a device's address, whatever it is: what an IOMMU adds to it, a look-up in its IOTLB and a walk, begins here but is not modelled.
  Time read_latency(Pa) const override { return params_.read_latency; }
  Time write_latency(Pa) const override { return params_.write_latency; }
  /// In whole pages. Throws UserError when there is no contiguous memory of that length.
  Pa allocate(Bytes length, Bytes align) override;
  void release(Pa address, Bytes length) override;

  /// Devices' addresses go through this table from now on; null: they are physical.
  void translate_by(const IoPageTable* table) { io_pages_ = table; }
  /// Where a device's address leads. Queues and tables of the driver keep their physical addresses, which lie below all that the table
  /// maps. Nothing when the IOMMU would refuse it.
  std::optional<Pa> resolve(Pa device) const;

  /// The host's frames: processes take theirs from the same pool.
  FramePool& frames() { return frames_; }

 private:
  RootComplexParams params_;
  FramePool frames_;
  std::map<Pa, FrameExtent> allocated_;
  const IoPageTable* io_pages_ = nullptr;
};

}  // namespace mtsim::host
