#include "system/host.h"

namespace mtsim::system {

Host::Host(sc_core::sc_module_name name, engine::Scheduler& scheduler, const HostSettings& s, std::uint32_t cpu_count,
           std::uint32_t threads, std::uint32_t port, ports::Network& network)
    : sc_module(name),
      title(name),
      settings(s),
      operations("operations"),
      cpus("cpus", scheduler, s.cpu, cpu_count, threads, port),
      root_complex("root_complex", s.root_complex, s.memory),
      pcie("pcie", scheduler, s.pcie),
      nic("nic", scheduler, s.nic, port, {root_complex.allocate(s.nic.nic.table_space, page_bytes), s.nic.nic.table_space}),
      kernel("kernel", scheduler, s.kernel, s.driver, root_complex.frames(), s.iommu),
      device("device", scheduler, s.provider, threads, port) {
  nic.memory(root_complex);
  nic.link(pcie);
  nic.mmio(pcie);
  nic.network(network);
  nic.log(operations);
  kernel.cpus(cpus);
  kernel.memory(root_complex);
  kernel.queue_pairs(nic);
  kernel.command(nic.firmware);
  kernel.umr(nic.firmware);
  kernel.tables(nic.walker);
  root_complex.translate_by(kernel.dma_mapper().io_page_table());
  device.cpus(cpus);
  device.kernel(kernel);
  device.memory(root_complex);
  device.doorbells(nic.doorbell);
}

}  // namespace mtsim::system
