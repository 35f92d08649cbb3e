#include "nic/windows.h"

namespace mtsim::nic {

using verbs::BindCheck;
using verbs::InvalidateCheck;

Windows::Windows(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, Clock clock, Time change,
                 std::shared_ptr<const verbs::Rules> rules)
    : sc_module(module_name),
      translator("translator"),
      tables("tables"),
      dma("dma"),
      scheduler_(scheduler),
      clock_(clock),
      change_(clock.edge(change)),
      rules_(std::move(rules)) {}

engine::Task<const verbs::Grant*> Windows::context(Qp& qp, Key key, engine::Order order) {
  ports::Query query;
  query.order = order;
  query.qpn = qp.qpn;
  query.context_only = true;
  query.wish.key = key;
  query.wish.pd = qp.attributes.pd;
  query.step.grant = nullptr;
  if (!translator->probe(query, clock_.edge(scheduler_.now()))) co_await translator->walk(query);
  co_await engine::Until(scheduler_, query.ready, order);
  co_return query.step.grant;
}

// The checks come when all is there and the change is about to be made, with nothing between: contexts may have changed while others were
// fetched.
engine::Task<BindCheck> Windows::bind(Qp& qp, verbs::Bind bind, engine::Order order) {
  const verbs::Grant* window = co_await context(qp, bind.window, order);
  const verbs::Grant* region = nullptr;
  if (bind.region.raw != 0) region = co_await context(qp, bind.region, order);
  co_await engine::Until(scheduler_, scheduler_.now() + change_, order);
  const BindCheck check = verbs::check_bind(bind, window, region, qp.attributes.pd, *rules_);
  ++(check == BindCheck::none ? counts_.binds : counts_.refused);
  if (check == BindCheck::none) rewrite(verbs::bound(bind, *window, region, qp.qpn, *rules_));
  co_return check;
}

engine::Task<InvalidateCheck> Windows::invalidate(Qp& qp, Key key, engine::Order order) {
  const verbs::Grant* window = co_await context(qp, key, order);
  co_await engine::Until(scheduler_, scheduler_.now() + change_, order);
  const InvalidateCheck check = verbs::check_invalidate(window, key, qp.attributes.pd, qp.qpn, *rules_);
  ++(check == InvalidateCheck::none ? counts_.invalidations : counts_.refused);
  if (check == InvalidateCheck::none) rewrite(verbs::invalidated(*window));
  co_return check;
}

void Windows::rewrite(const verbs::Grant& grant) {
  translate::Region region;
  region.grant = grant;
  translate::TableWrites writes;
  tables->architecture().build(region, writes);  // no table, and so room for it
  if (!writes.in_device) dma->write(writes.context, Bytes(64), nullptr, {ports::Purpose::tables});
  tables->commit(writes);
}

}  // namespace mtsim::nic
