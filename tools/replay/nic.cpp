#include "nic.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "connection.h"

namespace mtsim::replay {
namespace {

struct DeviceList {
  DeviceList() : all(ibv_get_device_list(&count)) {}
  ~DeviceList() {
    if (all != nullptr) ibv_free_device_list(all);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;
  int count = 0;
  ibv_device** all;
};

[[noreturn]] void refuse(const std::string& name) {
  const std::vector<std::string> known = nic_names();
  if (known.empty())
    throw UserError(
        fmt::format("no RDMA device '{}': this machine has none. A software device needs no hardware: "
                    "rdma link add rxe0 type rxe netdev INTERFACE; or see tools/rdma-vm",
                    name));
  throw UserError(fmt::format("no RDMA device '{}'; there is {}{}", name, fmt::join(known, ", "), did_you_mean(name, known)));
}

/// An IPv4 address written as an IPv6 one.
bool is_ipv4(const ibv_gid& gid) {
  constexpr std::array<std::uint8_t, 12> prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw, prefix.data(), prefix.size()) == 0;
}

int best_gid(ibv_context* context, std::uint8_t port) {
  std::array<ibv_gid_entry, 64> entries{};
  const auto count = ibv_query_gid_table(context, entries.data(), entries.size(), 0);
  int best = 0, best_rank = 0;
  for (ssize_t i = 0; i < count; ++i) {
    const ibv_gid_entry& entry = entries[static_cast<std::size_t>(i)];
    if (entry.port_num != port) continue;
    const int rank = entry.gid_type != IBV_GID_TYPE_ROCE_V2 ? 0 : is_ipv4(entry.gid) ? 2 : 1;
    if (rank > best_rank) {
      best = static_cast<int>(entry.gid_index);
      best_rank = rank;
    }
  }
  return best;
}

std::string first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

std::vector<std::string> nic_names() {
  const DeviceList list;
  std::vector<std::string> names;
  for (int i = 0; i < list.count; ++i) names.emplace_back(ibv_get_device_name(list.all[i]));
  return names;
}

Nic::Nic(const std::string& name, std::uint8_t port, int gid) : name_(name), port_(port), gid_index_(gid) {
  {
    const DeviceList list;
    for (int i = 0; i < list.count && !context_; ++i) {
      if (name != ibv_get_device_name(list.all[i])) continue;
      context_.reset(ibv_open_device(list.all[i]));
      if (!context_) throw UserError(fmt::format("RDMA device '{}' cannot be opened: {}", name, std::strerror(errno)));
    }
  }
  if (!context_) refuse(name);
  if (iwarp() && !has_connection_manager())
    throw UserError(fmt::format("RDMA device '{}' is an iWARP device, and this mtsim was built without librdmacm", name));
  // Of several threads that see an event come, one gets it.
  fcntl(context_->async_fd, F_SETFL, fcntl(context_->async_fd, F_GETFL) | O_NONBLOCK);
  if (const int error = ibv_query_device(context(), &attributes_); error != 0)
    throw UserError(fmt::format("RDMA device '{}' does not tell its attributes: {}", name, std::strerror(error)));
  if (port == 0 || port > attributes_.phys_port_cnt)
    throw UserError(fmt::format("RDMA device '{}' has no port {}; its ports are 1 to {}", name, port, attributes_.phys_port_cnt));
  if (const int error = ibv_query_port(context(), port, &port_attributes_); error != 0)
    throw UserError(fmt::format("port {} of RDMA device '{}' does not tell its attributes: {}", port, name, std::strerror(error)));
  if (port_attributes_.state != IBV_PORT_ACTIVE)
    throw UserError(
        fmt::format("port {} of RDMA device '{}' is not active but {}", port, name, ibv_port_state_str(port_attributes_.state)));
  if (gid_index_ == choose_gid) gid_index_ = best_gid(context(), port);
  if (ibv_query_gid(context(), port, gid_index_, &gid_) != 0)
    throw UserError(fmt::format("port {} of RDMA device '{}' has no GID {}; its table has {} entries", port, name, gid_index_,
                                port_attributes_.gid_tbl_len));
}

bool Nic::next_event(ibv_async_event& event, std::chrono::milliseconds patience) const {
  pollfd ready{context_->async_fd, POLLIN, 0};
  return ::poll(&ready, 1, static_cast<int>(patience.count())) > 0 && ibv_get_async_event(context(), &event) == 0;
}

std::string driver_of(const std::string& device) {
  const std::filesystem::path folder = std::filesystem::path("/sys/class/infiniband") / device;
  std::error_code error;
  const auto link = std::filesystem::read_symlink(folder / "device" / "driver", error);
  if (!error) return link.filename().string();
  // Software devices belong to no bus; their node descriptions are their drivers' (rxe: `rxe` or the host's name, so the name counts too).
  const std::string description = first_line(folder / "node_desc");
  for (const auto& [driver, says] : {std::pair("rxe", "rxe"), std::pair("siw", "Software iWARP")})
    if (device.starts_with(driver) || description.starts_with(says)) return driver;
  return {};
}

std::string rules_of(const std::string& driver, const std::string& kernel_release) {
  if (driver.starts_with("rxe")) {
    unsigned major = 0, minor = 0;
    const char* const end = kernel_release.data() + kernel_release.size();
    const auto dot = std::from_chars(kernel_release.data(), end, major);
    if (dot.ec == std::errc() && dot.ptr != end) std::from_chars(dot.ptr + 1, end, minor);
    return std::pair(major, minor) <= std::pair(6u, 1u) ? "rxe-6.1" : "rxe-6.12";
  }
  for (const std::string rules : {"mlx5", "mlx4", "irdma", "hns", "siw"})
    if (driver.starts_with(rules)) return rules;
  return "ib";
}

}  // namespace mtsim::replay
