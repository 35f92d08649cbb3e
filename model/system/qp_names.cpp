#include "system/qp_names.h"

namespace mtsim::system {

void QpNames::made_qp(program::NameId name, std::uint32_t qpn) {
  std::vector<program::NameId>& of_host = by_port_[port_of_[names_.host_of(name)]];
  if (of_host.size() <= qpn) of_host.resize(qpn + 1);
  of_host[qpn] = name;
  next_.made_qp(name, qpn);
}

std::string QpNames::name(std::uint32_t port, std::uint32_t qpn) const {
  const std::vector<program::NameId>& of_host = by_port_[port];
  return qpn < of_host.size() && of_host[qpn] != 0 ? names_.object_name(of_host[qpn]) : std::to_string(qpn);
}

}  // namespace mtsim::system
