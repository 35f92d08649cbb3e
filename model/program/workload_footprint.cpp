#include "program/workload_footprint.h"

#include <fmt/format.h>

#include "base/sections.h"

namespace mtsim::program {

namespace {
const Sections::Entrant<FootprintParams> declared;
}

void FootprintParams::declare(Declaration<FootprintParams>& d) {
  d.section("workload", "Of the kinds `uniform`, `sequential` and `connections`: the memory of the server that is reached.");
  d.field("footprint", &FootprintParams::footprint)
      .standard("64MiB")
      .range("1B", "16TiB")
      .means("Bytes of the server's memory, over all its MRs; each holds whole blocks only.")
      .source("a point of the published sweep (N1)");
  d.field("regions", &FootprintParams::regions).standard("1").range("1", "1000000").means("MRs of equal size.").source("one MR (N2)");
  d.field("stride", &FootprintParams::stride)
      .standard("0B")
      .range("0B", "1TiB")
      .means("From the start of one block to the next; no less than a block. 0: side by side.")
      .source("a choice, not a property of hardware");
}

std::vector<Complaint> check(const Shape& shape, const FootprintParams& params) {
  std::vector<Complaint> out;
  if (params.spacing(shape) < shape.block)
    out.push_back({"stride", fmt::format("{} bytes are less than the block of {}", params.stride.raw, shape.block.raw)});
  if (params.footprint / params.regions < params.spacing(shape))
    out.push_back({"footprint", fmt::format("{} bytes in {} MRs leave no room for a block of {} bytes in each", params.footprint.raw,
                                            params.regions, params.spacing(shape).raw)});
  return out;
}

}  // namespace mtsim::program
