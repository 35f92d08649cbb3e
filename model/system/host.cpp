#include "system/host.h"

namespace mtsim::system {

Host::Host(sc_core::sc_module_name name, engine::Scheduler& scheduler, const HostSettings& s, std::uint32_t cpu_count,
           std::uint32_t threads, std::uint32_t port, std::uint32_t further, ports::Network& network, HazardLog* hazards)
    : sc_module(name),
      title(name),
      settings(s),
      operations("operations"),
      cpus("cpus", scheduler, s.cpu, cpu_count, threads, port),
      root_complex("root_complex", s.root_complex, s.memory, s.llc, s.io_translation),
      pcie("pcie", scheduler, s.pcie),
      nic("nic", scheduler, s.nic, port, {root_complex.allocate(s.nic.nic.table_space, page_bytes), s.nic.nic.table_space}),
      kernel("kernel", scheduler, s.kernel, s.driver, root_complex.frames(), s.iommu, s.nics),
      device("device", scheduler, s.provider, threads, port),
      watch(hazards == nullptr ? nullptr
                               : std::make_unique<kernel::MemoryWatch>("memory_watch", scheduler, root_complex.frames(), port, hazards)) {
  adapters_.push_back({"nic", "pcie", nic, pcie});
  for (std::uint32_t i = 1; i < s.nics; ++i) {
    const std::string nic_name = "nic" + std::to_string(i), pcie_name = "pcie" + std::to_string(i);
    const Pa tables = root_complex.allocate(s.nic.nic.table_space, page_bytes);
    further_links_.push_back(std::make_unique<pcie::Link>(pcie_name.c_str(), scheduler, s.pcie));
    further_nics_.push_back(std::make_unique<nic::Nic>(nic_name.c_str(), scheduler, s.nic, further + i - 1,
                                                       translate::TableSpace{tables, s.nic.nic.table_space}));
    adapters_.push_back({nic_name, pcie_name, *further_nics_.back(), *further_links_.back()});
  }
  for (std::uint32_t i = 0; i < s.nics; ++i) {
    adapters_[i].nic.dma.set_device(i);
    wire(adapters_[i], network);
  }
  if (watch != nullptr) {
    operations.follow(*hazards, port);
    kernel.watch(*watch);
    nic.watch(*watch);
  }
  operations.keep_waits(s.nic.requester.measures);
  kernel.cpus(cpus);
  kernel.memory(root_complex);
  kernel.queue_pairs(nic);
  // Each NIC has a domain of the IOMMU to itself.
  const unsigned levels = s.io_translation.levels != 0 ? s.io_translation.levels : s.iommu.levels();
  for (std::uint32_t i = 0; i < s.nics; ++i) root_complex.translate_by(kernel.device(i).dma_mapper().io_page_table(), levels);
  device.cpus(cpus);
  device.kernel(kernel);
  device.memory(root_complex);
  device.doorbells(nic.doorbell);
}

void Host::wire(const Adapter& adapter, ports::Network& network) {
  adapter.nic.memory(root_complex);
  adapter.nic.link(adapter.pcie);
  adapter.nic.mmio(adapter.pcie);
  adapter.nic.network(network);
  adapter.nic.log(operations);
  adapter.nic.events(kernel);
  kernel.command(adapter.nic.firmware);
  kernel.umr(adapter.nic.firmware);
  kernel.tables(adapter.nic.walker);
  kernel.transfers(adapter.nic.transfers);
}

}  // namespace mtsim::system
