// A cache line that CPUs change by atomic instructions. The CPU that changed it last has it and changes it again at once; another must get
// it first, one after the other.
#pragma once

#include <optional>

#include "engine/server.h"
#include "verbs/device.h"

namespace mtsim::kernel {

class CacheLine {
 public:
  /// `times` changes by `cpu`, none of another's between them: how long it stalls. A transfer takes `transfer`; nobody had the line before
  /// its first change, which is free. Calls come in order of time.
  Time change(verbs::Thread cpu, Time now, Time transfer, unsigned times = 1) {
    const bool moves = holder_ && *holder_ != cpu;
    holder_ = cpu;
    return line_.book(now, moves ? transfer * static_cast<std::int64_t>(times) : Time()).end - now;
  }
  engine::Usage usage(Time now) const { return engine::usage_up_to(line_, now); }

 private:
  engine::Server line_;
  std::optional<verbs::Thread> holder_;
};

}  // namespace mtsim::kernel
