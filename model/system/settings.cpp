#include "system/settings.h"

#include <fmt/format.h>

#include <bit>

#include "base/error.h"
#include "base/sections.h"
#include "kernel/key_policy.h"
#include "system/check_caches.h"
#include "system/check_host_io.h"
#include "system/component_keys.h"
#include "system/require.h"

namespace mtsim::system {
namespace {

struct CountParams {
  std::uint32_t cpus{}, nics{};
  static void declare(Declaration<CountParams>& d) {
    d.section("host", "The machine around the NIC.");
    d.field("cpus", &CountParams::cpus)
        .standard("0")
        .range("0", "4096")
        .means("CPUs of the host; 0: one for each thread of the program, or what a `host` line of the trace says.")
        .source("modelling choice");
    d.field("nics", &CountParams::nics)
        .standard("1")
        .range("1", "16")
        .means(
            "NICs of the host, all alike, called nic0, nic1 ...: each has its own PCIe link, firmware, tables, key cache and IOMMU domain. "
            "Those behind the first register memory and do nothing else yet.")
        .source("modelling choice");
  }
};

const Sections::Entrant<CountParams> counts_declared;
const Sections::Entrant<ReplayParams> replay_declared;
const Sections::Entrant<RunParams> run_declared;

}  // namespace

void ReplayParams::declare(Declaration<ReplayParams>& d) {
  d.section("replay", "How a trace is replayed.");
  d.choice("time", &ReplayParams::time, {{"recorded", program::ReplayTime::recorded}, {"asap", program::ReplayTime::asap}})
      .standard("recorded")
      .means("Whether a line waits for its @NS.")
      .source("modelling choice");
  d.choice("hazards", &ReplayParams::hazards, {{"auto", Hazards::automatic}, {"on", Hazards::on}, {"off", Hazards::off}})
      .standard("auto")
      .means(
          "Whether it is followed which data lie where, so that completions can tell of stale and of foreign ones: some more run time. "
          "`auto`: if a trace uses munmap, madvise, fork, rereg_mr or dereg_mr, or a poll of it says hazard=.")
      .source("modelling choice");
}

void RunParams::declare(Declaration<RunParams>& d) {
  d.section("run", "The run as a whole.");
  d.field("seed", &RunParams::seed)
      .standard("1")
      .means("Stands in the results; every random choice has a seed of its own derived from its section's.")
      .source("modelling choice");
  d.field("limit", &RunParams::limit)
      .standard("1000s")
      .range("1ns", "9000000s")
      .means("Nothing later than this is simulated.")
      .source("modelling choice");
  d.field("measures", &RunParams::measures)
      .standard("true")
      .means("Whether it is noted what operations wait for, and how busy units are over time: some per cent more run time.")
      .source("modelling choice");
}

namespace {

// Rules that a range does not express; they stand here and not in the models so that they are told with the place of the value.
void check_network(const Config& config, const fabric::NetworkParams& network) {
  if (!std::has_single_bit(network.mtu.raw)) config.fail("network.mtu", "a path MTU is one of 256B, 512B, 1KiB, 2KiB and 4KiB");
}

/// What the translation architecture asks of the rest. Its own limits it tells for itself.
void check_tables(const Config& config, const HostSettings& host) {
  translate::ArchitectureOptions options;
  options.space.length = host.nic.nic.table_space;
  options.contexts = 64;
  const auto architecture = translate::Architectures::make(host.nic.nic.translation, options);
  if (architecture == nullptr) return;
  if (host.driver.page_size == PageSizeChoice::per_run && !architecture->mixes_block_sizes())
    config.fail("driver.page_size", fmt::format("per_run needs a table whose entries may differ in size, and those of {} may not; take "
                                                "best for one size that fits the whole MR, or none for 4 KiB",
                                                host.nic.nic.translation));
  using HostTables = translate::Architecture::HostTables;
  const HostTables tables = architecture->host_tables();
  if (tables == HostTables::process && host.iommu.mode == "translate")
    config.fail("host.iommu.mode",
                fmt::format("nic.translation '{}' finds physical addresses, which an IOMMU that translates does not know; "
                            "take off or passthrough",
                            host.nic.nic.translation));
  if (tables == HostTables::iommu && host.iommu.mode != "translate")
    config.fail("host.iommu.mode",
                fmt::format("nic.translation '{}' asks the IOMMU for translations, and this one has none to give; take translate",
                            host.nic.nic.translation));
  if (host.nic.mtt_cache.line < architecture->least_line())
    config.fail("nic.mtt_cache.line",
                fmt::format("must be at least {}B for nic.translation '{}'", architecture->least_line().raw, host.nic.nic.translation));
}

void check_host(const Config& config, const HostSettings& host) {
  if (!std::has_single_bit(host.pcie.lanes) && host.pcie.lanes != 12)
    config.fail("pcie.lanes", "a link has 1, 2, 4, 8, 12, 16 or 32 lanes");
  if (host.memory.size.raw % (FrameLaw::region_pages * page_bytes.raw) != 0)
    config.fail("host.memory.size", "must be a whole number of 64MiB regions");
  require_power_of_two(config, "pcie.max_payload", host.pcie.max_payload.raw);
  require_power_of_two(config, "pcie.max_read_request", host.pcie.max_read_request.raw);
  if (host.pcie.max_read_request < host.pcie.max_payload) config.fail("pcie.max_read_request", "must not be less than pcie.max_payload");
  check_host_io(config, host);
  check_caches(config, host.nic);
  require_power_of_two(config, "nic.icm_page", host.nic.nic.icm_page.raw);
  require_power_of_two(config, "nic.child", host.nic.nic.child.raw);
  require_power_of_two(config, "nic.contexts", host.nic.nic.contexts);
  if (host.driver.most_keys > host.nic.nic.contexts)
    config.fail("driver.most_keys", "must not be above nic.contexts, which is " + std::to_string(host.nic.nic.contexts));
  require_known(config, iommu_key(), host.iommu.mode);
  require_known(config, translation_key(), host.nic.nic.translation);
  check_tables(config, host);
  require_known(config, qp_order_key(), host.nic.requester.qp_order);
  require_known(config, table_writer_key(), host.driver.table_writer);
  require_known(config, key_policy_key(), host.driver.keys);
  if (host.nic.nic.contexts * 64 >= host.nic.nic.table_space.raw)
    config.fail("nic.table_space", "must hold more than the contexts, which take 64 bytes each");
  const auto keys = kernel::KeyPolicies::make(host.driver.keys, host.driver.key_options());
  if (keys != nullptr && keys->places() > host.nic.nic.contexts)
    config.fail("nic.contexts",
                fmt::format("must be {} for driver.keys '{}', whose keys lie that far apart", keys->places(), host.driver.keys));
  if (!host.driver.cache_limit_list()) config.fail("driver.cache_limits", kernel::DriverParams::cache_limits_form);
  if (!host.driver.refused_access_flags()) config.fail("driver.refused_access", kernel::DriverParams::access_form);
  if (!host.driver.own_key_access_flags()) config.fail("driver.own_key_access", kernel::DriverParams::access_form);
}

}  // namespace

Settings read_settings(const Config& config) {
  Settings s;
  s.rules = config.word("rules", "ib", rules_key().names());
  s.run = config.read<RunParams>();
  s.replay = config.read<ReplayParams>();
  s.network = config.read<fabric::NetworkParams>();
  check_network(config, s.network);
  return s;
}

HostSettings read_host(const Config& whole, const std::string& host) {
  const Config config = whole.for_host(host);
  HostSettings s;
  s.cpu = config.read<host::CpuParams>();
  const auto counts = config.read<CountParams>();
  s.cpus = counts.cpus;
  s.nics = counts.nics;
  s.numa = config.read<NumaParams>();
  s.root_complex = config.read<host::RootComplexParams>();
  s.llc = config.read<host::LlcParams>();
  s.io_translation = config.read<host::IommuParams>();
  s.memory = config.read<FramePoolParams>();
  s.kernel = config.read<kernel::KernelParams>();
  s.driver = config.read<kernel::DriverParams>();
  s.iommu = config.read<kernel::IommuParams>();
  s.provider = config.read<user::ProviderParams>();
  s.pcie = config.read<pcie::LinkParams>();
  s.nic.nic = config.read<nic::NicParams>();
  s.nic.mpt_cache = config.read<nic::MptCacheParams>();
  s.nic.mtt_cache = config.read<nic::MttCacheParams>();
  s.nic.icm_cache = config.read<nic::IcmCacheParams>();
  s.nic.mpt_level2 = config.read<nic::MptLevel2Params>();
  s.nic.mtt_level2 = config.read<nic::MttLevel2Params>();
  s.nic.cache_pool = config.read<nic::CachePoolParams>();
  s.nic.qp_cache = config.read<nic::QpCacheParams>();
  s.nic.qp_level2 = config.read<nic::QpLevel2Params>();
  s.nic.request_cache = config.read<nic::RequestCacheParams>();
  s.nic.requester = config.read<nic::RequesterParams>();
  s.nic.responder = config.read<nic::ResponderParams>();
  s.nic.firmware = config.read<nic::FirmwareParams>();
  const auto rules = verbs::RuleSets::make(whole.word("rules", "ib", rules_key().names()));
  s.rules = rules != nullptr ? std::make_shared<const verbs::Rules>(*rules) : verbs::the_ib_rules();
  s.nic.requester.rules = s.nic.responder.rules = s.provider.rules = s.driver.rules = s.rules;
  s.nic.requester.measures = s.nic.responder.measures = whole.read<RunParams>().measures;
  s.nic.transfers = config.read<nic::TransferParams>();
  check_host(config, s);
  place(s);
  return s;
}

}  // namespace mtsim::system
