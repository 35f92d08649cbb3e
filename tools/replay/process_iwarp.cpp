// Connecting queue pairs of iWARP devices: by the connection manager.
#include <algorithm>
#include <utility>

#include "process_calls.h"

namespace mtsim::replay {

Connection::Own Process::own_of(const Qp& qp) const {
  const ibv_device_attr& device = nics_[qp.nic]->attributes();
  // 255 has another meaning for librdmacm.
  const auto within = [](std::uint32_t asked, int most) {
    return static_cast<std::uint8_t>(std::min({asked, static_cast<std::uint32_t>(std::max(most, 0)), 254U}));
  };
  return {qp.qp->qp_num, within(qp.asked.dest_rd_atomic, device.max_qp_rd_atom), within(qp.asked.rd_atomic, device.max_qp_init_rd_atom)};
}

int Process::renew(Qp& qp) {
  if (qp.connection && (qp.connection->busy || qp.connection->up())) return EINVAL;
  auto fresh = std::make_unique<Connection>(nics_[qp.nic]->name(), [this] {
    turn().take();
    const bool go_on = !turn().given_up() && !turn().out_of_patience();
    turn().pass();
    return go_on;
  });
  fresh->busy = true;
  drop(std::exchange(qp.connection, std::move(fresh)));
  qp.connection->busy = false;
  return 0;
}

template <class Step>
int Process::with_connection(Qp& qp, Step step) {
  if (!qp.connection || qp.connection->busy) return EINVAL;
  qp.connection->busy = true;
  int error = 0;
  {
    const Turn::Away elsewhere(turn());
    error = step(*qp.connection);
  }
  qp.connection->busy = false;
  // The device says whether the queue pair can be connected again.
  if (error != 0) drop(std::move(qp.connection));
  return error;
}

void Process::drop(std::unique_ptr<Connection> connection) {
  if (!connection) return;
  const Turn::Away elsewhere(turn());
  connection.reset();
}

int Process::listen_for(Qp& qp, QpAddress& address) {
  if (const int error = renew(qp); error != 0) return error;
  return with_connection(qp, [&](Connection& connection) { return connection.listen(address); });
}

int Process::bring_up_iwarp(Qp& qp, const QpAddress& peer) {
  const bool comes_here = peer.port == 0;
  if (!comes_here)
    if (const int error = renew(qp); error != 0) return error;
  return with_connection(qp, [&](Connection& connection) {
    if (const int error = to_init(qp); error != 0) return error;
    return comes_here ? connection.accept(own_of(qp)) : connection.connect(peer, own_of(qp));
  });
}

int Process::conclude(Handle handle, int error) {
  const Use<Qp> qp(qps_.find(handle));
  if (!qp || !nics_[qp->nic]->iwarp()) return error;
  return with_connection(*qp, [&](Connection& connection) { return error != 0 ? error : connection.established(); });
}

}  // namespace mtsim::replay
