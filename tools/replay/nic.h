// An RDMA device of this machine, opened for one host of a trace.
#pragma once

#include <infiniband/verbs.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mtsim::replay {

/// Which entry of a port's GID table QPs use: the first of RoCE version 2 over IPv4, else of RoCE version 2, else number 0.
inline constexpr int choose_gid = -1;

class Nic {
 public:
  /// Throws UserError with the devices that there are when there is none of that name, and for one that cannot be opened or whose port is
  /// down. `gid` is an index or choose_gid.
  Nic(const std::string& name, std::uint8_t port, int gid);

  ibv_context* context() const { return context_.get(); }
  const std::string& name() const { return name_; }
  std::uint8_t port() const { return port_; }
  int gid_index() const { return gid_index_; }
  const ibv_gid& gid() const { return gid_; }
  bool iwarp() const { return context_->device->transport_type == IBV_TRANSPORT_IWARP; }
  const ibv_port_attr& port_attributes() const { return port_attributes_; }
  const ibv_device_attr& attributes() const { return attributes_; }
  /// The next asynchronous event, to be acknowledged; false when none came in that time.
  bool next_event(ibv_async_event& event, std::chrono::milliseconds patience) const;

 private:
  struct Close {
    void operator()(ibv_context* context) const { ibv_close_device(context); }
  };
  std::string name_;
  std::uint8_t port_;
  std::unique_ptr<ibv_context, Close> context_;
  ibv_device_attr attributes_{};
  ibv_port_attr port_attributes_{};
  int gid_index_ = 0;
  ibv_gid gid_{};
};

/// Names of the RDMA devices of this machine.
std::vector<std::string> nic_names();

/// The kernel driver of a device, as far as sysfs tells: `rxe`, `siw`, `mlx5_core`; empty if it does not.
std::string driver_of(const std::string& device);
/// The rule set that says how such a device of this kernel answers; `ib` where none is known.
std::string rules_of(const std::string& driver, const std::string& kernel_release);

}  // namespace mtsim::replay
