// SystemC keeps one design a process. A test case that builds modules takes a simulation context of its own and leaves none behind.
#pragma once

#include <memory>
#include <systemc>

namespace mtsim::test {

class FreshSystemC {
 public:
  FreshSystemC() : context_(std::make_unique<sc_core::sc_simcontext>()), before_(sc_core::sc_curr_simcontext) {
    sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = context_.get();
  }
  ~FreshSystemC() { sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = before_; }
  FreshSystemC(const FreshSystemC&) = delete;
  FreshSystemC& operator=(const FreshSystemC&) = delete;

 private:
  std::unique_ptr<sc_core::sc_simcontext> context_;
  sc_core::sc_simcontext* before_;
};

}  // namespace mtsim::test
