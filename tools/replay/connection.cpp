#include "connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace mtsim::replay {
namespace {

/// For the kernel to find a way to an address on its own network.
constexpr int resolve_ms = 2'000;

struct DestroyChannel {
  void operator()(rdma_event_channel* channel) const { rdma_destroy_event_channel(channel); }
};
struct DestroyId {
  void operator()(rdma_cm_id* id) const { rdma_destroy_id(id); }
};
using Channel = std::unique_ptr<rdma_event_channel, DestroyChannel>;
using Id = std::unique_ptr<rdma_cm_id, DestroyId>;

/// IPv4 addresses are written as IPv6 ones, as GIDs do it.
sockaddr_in6 to_ipv6(const in_addr& address) {
  sockaddr_in6 out{};
  out.sin6_family = AF_INET6;
  out.sin6_addr.s6_addr[10] = out.sin6_addr.s6_addr[11] = 0xff;
  std::memcpy(&out.sin6_addr.s6_addr[12], &address, sizeof address);
  return out;
}

/// As the system wants it: what is written as an IPv6 address but is none, as IPv4.
sockaddr_storage to_socket(const sockaddr_in6& address) {
  sockaddr_storage out{};
  if (!IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) {
    std::memcpy(&out, &address, sizeof address);
    return out;
  }
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = address.sin6_port;
  std::memcpy(&v4.sin_addr, &address.sin6_addr.s6_addr[12], sizeof v4.sin_addr);
  std::memcpy(&out, &v4, sizeof v4);
  return out;
}

/// Of the interfaces that are up. Those of a link alone would need its number on the other side.
std::vector<sockaddr_in6> own_addresses() {
  std::vector<sockaddr_in6> out;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return out;
  for (const ifaddrs* a = all; a != nullptr; a = a->ifa_next) {
    if (a->ifa_addr == nullptr || (a->ifa_flags & IFF_UP) == 0) continue;
    if (a->ifa_addr->sa_family == AF_INET) {
      sockaddr_in v4{};
      std::memcpy(&v4, a->ifa_addr, sizeof v4);
      out.push_back(to_ipv6(v4.sin_addr));
    } else if (a->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 v6{};
      std::memcpy(&v6, a->ifa_addr, sizeof v6);
      if (!IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr)) out.push_back(v6);
    }
  }
  freeifaddrs(all);
  return out;
}

int failed() { return errno != 0 ? errno : EIO; }

int error_of(const rdma_cm_event& event) {
  if (event.status != 0) return std::abs(event.status);
  switch (event.event) {
    case RDMA_CM_EVENT_REJECTED:
      return ECONNREFUSED;
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
      return EHOSTUNREACH;
    case RDMA_CM_EVENT_DISCONNECTED:
      return ECONNRESET;
    default:
      return EIO;
  }
}

}  // namespace

bool has_connection_manager() { return true; }

struct Connection::Manager {
  std::string device;
  Patience patience;
  Channel channel;
  Id listener, id;
  bool connected = false;

  /// An id that is bound to an address of the device, any port; null and errno if there is none.
  Id bound() {
    if (!channel) {
      channel.reset(rdma_create_event_channel());
      if (!channel) return nullptr;
      fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
    }
    for (const sockaddr_in6& address : own_addresses()) {
      rdma_cm_id* made = nullptr;
      if (rdma_create_id(channel.get(), &made, nullptr, RDMA_PS_TCP) != 0) return nullptr;
      Id here(made);
      sockaddr_storage socket = to_socket(address);
      if (rdma_bind_addr(here.get(), reinterpret_cast<sockaddr*>(&socket)) != 0 || here->verbs == nullptr) continue;
      if (device == ibv_get_device_name(here->verbs->device)) return here;
    }
    errno = EADDRNOTAVAIL;
    return nullptr;
  }

  /// The next event if it is the wanted one; 0 or an errno.
  int await(rdma_cm_event_type wanted) {
    constexpr int look_again_ms = 50;
    for (;;) {
      pollfd ready{channel->fd, POLLIN, 0};
      rdma_cm_event* event = nullptr;
      if (::poll(&ready, 1, look_again_ms) <= 0 || rdma_get_cm_event(channel.get(), &event) != 0) {
        if (!patience()) return ETIMEDOUT;
        continue;
      }
      const int error = event->event == wanted && event->status == 0 ? 0 : error_of(*event);
      // Who comes second, or to an id that has been given up, is sent away.
      Id caller(event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event->id : nullptr);
      rdma_ack_cm_event(event);
      if (caller && error == 0) id = std::move(caller);
      return error;
    }
  }

  rdma_conn_param parameters(const Own& own) const {
    rdma_conn_param out{};
    out.responder_resources = own.reads_in;
    out.initiator_depth = own.reads_out;
    out.qp_num = own.qpn;
    return out;
  }
};

Connection::Connection(std::string device, Patience patience) : manager_(std::make_unique<Manager>()) {
  manager_->device = std::move(device);
  manager_->patience = std::move(patience);
}

Connection::~Connection() = default;

int Connection::listen(QpAddress& address) {
  errno = 0;
  manager_->listener = manager_->bound();
  rdma_cm_id* const id = manager_->listener.get();
  if (id == nullptr || rdma_listen(id, 1) != 0) return failed();
  const sockaddr* const here = rdma_get_local_addr(id);
  sockaddr_in6 ip{};
  if (here->sa_family == AF_INET) ip = to_ipv6(id->route.addr.src_sin.sin_addr);
  else ip = id->route.addr.src_sin6;
  std::memcpy(address.gid, &ip.sin6_addr, sizeof address.gid);
  address.port = ntohs(rdma_get_src_port(id));
  return 0;
}

int Connection::accept(const Own& own) {
  Manager& m = *manager_;
  if (!m.listener) return EINVAL;
  int error = m.await(RDMA_CM_EVENT_CONNECT_REQUEST);
  m.listener.reset();
  if (error != 0) return error;
  rdma_conn_param parameters = m.parameters(own);
  errno = 0;
  if (rdma_accept(m.id.get(), &parameters) != 0) return failed();
  error = m.await(RDMA_CM_EVENT_ESTABLISHED);
  m.connected = error == 0;
  return error;
}

int Connection::connect(const QpAddress& peer, const Own& own) {
  Manager& m = *manager_;
  sockaddr_in6 there{};
  there.sin6_family = AF_INET6;
  there.sin6_port = htons(peer.port);
  std::memcpy(&there.sin6_addr, peer.gid, sizeof peer.gid);
  sockaddr_storage socket = to_socket(there);
  errno = 0;
  m.id = m.bound();
  if (!m.id || rdma_resolve_addr(m.id.get(), nullptr, reinterpret_cast<sockaddr*>(&socket), resolve_ms) != 0) return failed();
  if (const int error = m.await(RDMA_CM_EVENT_ADDR_RESOLVED); error != 0) return error;
  if (rdma_resolve_route(m.id.get(), resolve_ms) != 0) return failed();
  if (const int error = m.await(RDMA_CM_EVENT_ROUTE_RESOLVED); error != 0) return error;
  rdma_conn_param parameters = m.parameters(own);
  return rdma_connect(m.id.get(), &parameters) == 0 ? 0 : failed();
}

int Connection::established() {
  const int error = manager_->await(RDMA_CM_EVENT_ESTABLISHED);
  manager_->connected = error == 0;
  return error;
}

bool Connection::up() {
  rdma_cm_event* event = nullptr;
  while (manager_->channel && rdma_get_cm_event(manager_->channel.get(), &event) == 0) {
    if (event->event == RDMA_CM_EVENT_DISCONNECTED) manager_->connected = false;
    rdma_ack_cm_event(event);
  }
  return manager_->connected;
}

}  // namespace mtsim::replay
