// Memory windows at the NIC: binds and invalidations look the contexts up that they need, as any look-up does, and rewrite the window's.
#pragma once

#include "nic/units.h"
#include "ports/dma.h"
#include "ports/nic.h"
#include "ports/translator.h"
#include "verbs/window.h"

namespace mtsim::nic {

class Windows : public sc_core::sc_module, public WindowTable {
 public:
  sc_core::sc_port<ports::Translator> translator;
  sc_core::sc_port<ports::Tables> tables;
  sc_core::sc_port<ports::Dma> dma;

  /// `change`: of rewriting a context.
  Windows(sc_core::sc_module_name name, engine::Scheduler& scheduler, Clock clock, Time change, std::shared_ptr<const verbs::Rules> rules);

  engine::Task<verbs::BindCheck> bind(Qp& qp, verbs::Bind bind, engine::Order order) override;
  engine::Task<verbs::InvalidateCheck> invalidate(Qp& qp, Key key, engine::Order order) override;

  struct Counts {
    std::uint64_t binds = 0, invalidations = 0, refused = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  /// What the key's context holds, once it is in the NIC; null: nothing.
  engine::Task<const verbs::Grant*> context(Qp& qp, Key key, engine::Order order);
  void rewrite(const verbs::Grant& grant);

  engine::Scheduler& scheduler_;
  Clock clock_;
  Time change_;
  std::shared_ptr<const verbs::Rules> rules_;
  Counts counts_;
};

}  // namespace mtsim::nic
