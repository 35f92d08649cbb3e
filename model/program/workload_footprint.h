// What `uniform` and `sequential` share: blocks of the server's footprint, numbered across its regions, and a small buffer at the client.
#pragma once

#include <cstdint>
#include <vector>

#include "program/workload_closed_loop.h"
#include "program/workload_kinds.h"

namespace mtsim::program {

class Footprint {
 public:
  Footprint(const Shape& shape, const FootprintParams& params)
      : stride_(params.spacing(shape).raw), in_region_(params.footprint / params.regions / Bytes(stride_)), regions_(params.regions) {}

  std::uint64_t blocks() const { return in_region_ * regions_; }
  Bytes region() const { return Bytes(in_region_ * stride_); }
  AddressRef block(std::uint64_t number, const std::vector<NameId>& regions) const {
    if (regions_ == 1) return {regions[0], number * stride_};
    return {regions[number / in_region_], number % in_region_ * stride_};
  }

 private:
  std::uint64_t stride_, in_region_, regions_;
};

/// The local end: as many blocks as a thread can have outstanding, over and over, so that no two requests under way share one.
class LocalBlocks {
 public:
  LocalBlocks(const Shape& shape, const Workload::ClientThread& t)
      : mr_(t.mr), block_(shape.block.raw), count_(std::uint64_t{shape.qps} * shape.window), start_(t.thread * count_ * block_) {}
  AddressRef next() {
    const AddressRef ref{mr_, start_ + at_ * block_};
    at_ = at_ + 1 == count_ ? 0 : at_ + 1;
    return ref;
  }
  /// Bytes that all threads of a client need.
  static Bytes needed(const Shape& shape) { return shape.block * (std::uint64_t{shape.threads} * shape.qps * shape.window); }

 private:
  NameId mr_;
  std::uint64_t block_, count_, start_, at_ = 0;
};

}  // namespace mtsim::program
