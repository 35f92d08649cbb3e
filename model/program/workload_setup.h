// The operations before and after a workload's work: written as one would write a program.
#pragma once

#include <vector>

#include "program/workload.h"

namespace mtsim::program {

class WorkloadSetup {
 public:
  explicit WorkloadSetup(const Workload& workload) : w_(workload) {}

  std::vector<Op> open_client(const Workload::ClientThread&) const;
  std::vector<Op> close_client(const Workload::ClientThread&) const;
  std::vector<Op> open_server() const;
  std::vector<Op> close_server() const;

 private:
  std::uint32_t everyone() const;
  const Workload& w_;
};

}  // namespace mtsim::program
