#include "program/workload_setup.h"

#include <algorithm>

#include "program/workload_script.h"

namespace mtsim::program {

using verbs::Access;

std::uint32_t WorkloadSetup::everyone() const { return static_cast<std::uint32_t>(w_.threads_.size() + 1); }

std::vector<Op> WorkloadSetup::open_client(const Workload::ClientThread& t) const {
  const Shape& shape = w_.shape_;
  Script script(t.actor);
  if (t.thread == 0) {
    script.plain(Kind::alloc_pd, t.pd);
    script.map(t.buffer, w_.memory_.client, shape.page);
    if (w_.memory_.client_registered) script.reg_mr(t.mr, t.pd, t.buffer, w_.memory_.client, Access::local_write);
  }
  script.create_cq(t.cq, shape.qps * w_.memory_.window);
  script.barrier(w_.barriers_.made, everyone());

  verbs::CreateQpRequest qp;
  qp.sq_depth = w_.memory_.window;
  qp.rq_depth = qp.send_sge = qp.recv_sge = 1;
  qp.inline_bytes = static_cast<std::uint32_t>(shape.inline_limit.raw);
  qp.mtu = shape.mtu;
  for (const NameId name : t.qps) script.create_qp(name, t.pd, t.cq, qp);
  script.barrier(w_.barriers_.ready, everyone());
  for (std::size_t q = 0; q < t.qps.size(); ++q) script.connect(t.qps[q], t.server_qps[q]);
  script.barrier(w_.barriers_.start, everyone());
  return script.take();
}

std::vector<Op> WorkloadSetup::close_client(const Workload::ClientThread& t) const {
  Script script(t.actor);
  script.barrier(w_.barriers_.end, everyone());
  if (!w_.shape_.clean_up) return script.take();
  for (const NameId name : t.qps) script.plain(Kind::destroy_qp, name);
  script.plain(Kind::destroy_cq, t.cq);
  // What the threads share goes when none of them has a QP any more.
  script.barrier(w_.barriers_.idle, everyone());
  if (t.thread == 0) {
    if (w_.memory_.client_registered) script.plain(Kind::dereg_mr, t.mr);
    script.plain(Kind::dealloc_pd, t.pd);
    script.munmap(t.buffer);
  }
  return script.take();
}

std::vector<Op> WorkloadSetup::open_server() const {
  const Workload::Server& server = w_.server_;
  Script script(server.actor);
  script.plain(Kind::alloc_pd, server.pd);
  for (std::size_t r = 0; r < server.regions.size(); ++r) {
    script.map(server.buffers[r], w_.memory_.region, w_.shape_.page);
    script.reg_mr(server.regions[r], server.pd, server.buffers[r], w_.memory_.region,
                  Access::local_write | Access::remote_read | Access::remote_write);
  }
  script.create_cq(server.cq, 1);
  script.barrier(w_.barriers_.made, everyone());

  verbs::CreateQpRequest qp;
  qp.sq_depth = qp.rq_depth = qp.send_sge = qp.recv_sge = 1;
  qp.access = Access::remote_read | Access::remote_write;
  qp.mtu = w_.shape_.mtu;
  for (const auto& t : w_.threads_)
    for (const NameId name : t.server_qps) script.create_qp(name, server.pd, server.cq, qp);
  script.barrier(w_.barriers_.ready, everyone());
  script.barrier(w_.barriers_.start, everyone());
  return script.take();
}

std::vector<Op> WorkloadSetup::close_server() const {
  const Workload::Server& server = w_.server_;
  Script script(server.actor);
  script.barrier(w_.barriers_.end, everyone());
  if (!w_.shape_.clean_up) return script.take();
  script.barrier(w_.barriers_.idle, everyone());
  for (const auto& t : w_.threads_)
    for (const NameId name : t.server_qps) script.plain(Kind::destroy_qp, name);
  script.plain(Kind::destroy_cq, server.cq);
  for (const NameId name : server.regions) script.plain(Kind::dereg_mr, name);
  script.plain(Kind::dealloc_pd, server.pd);
  for (const NameId name : server.buffers) script.munmap(name);
  return script.take();
}

}  // namespace mtsim::program
