#include "nic/context_params.h"

#include "base/sections.h"
#include "nic/cache_policies.h"

namespace mtsim::nic {
namespace {

const Sections::Entrant<QpCacheParams> qp_declared;
const Sections::Entrant<QpLevel2Params> qp_level2_declared;
const Sections::Entrant<RequestCacheParams> request_declared;

constexpr PolicyTexts of_contexts{"0", "estimate; not published"};

}  // namespace

void QpCacheParams::declare(Declaration<QpCacheParams>& d) {
  d.section("nic.qp_cache", "Cache of QP contexts, one to a line.");
  d.field("enabled", &QpCacheParams::enabled)
      .standard("false")
      .means("Whether contexts live in host memory, and in the NIC only as far as caches hold them; false: each is always at hand.")
      .source("modelling choice");
  d.field("context", &QpCacheParams::context)
      .standard("375B")
      .range("64B", "4KiB")
      .means("Bytes of the context of one QP: what a miss reads. They begin at multiples of 64 bytes.")
      .source("Storm, SYSTOR'19: 375 B a reliable connection on ConnectX-5");
  d.field<std::uint32_t>("lines", &QpCacheParams::lines)
      .standard("512")
      .range("0", "16777216")
      .means("Contexts held.")
      .source("estimate (N4: about 400 on ConnectX-5)");
  d.field<Time>("latency", &QpCacheParams::latency)
      .standard("0ns")
      .range("0ns", "1us")
      .means("Of a look-up, beyond what the service times of the pipes contain; it keeps the pipe that asks.")
      .source("modelling choice");
  d.choice("agent", &QpCacheParams::agent, {{"tables", ports::Agent::tables}, {"control", ports::Agent::control}})
      .standard("tables")
      .means("In whose queue before the PCIe link the reads of contexts stand: that of table lines or that of WQEs.")
      .source("estimate: contexts lie in ICM, as the tables do");
  d.field("fetches", &QpCacheParams::fetches)
      .standard("8")
      .range("1", "4096")
      .means("Contexts being fetched at most; one for all that wait for the same.")
      .source("estimate; not published");
  d.field("write_back", &QpCacheParams::write_back)
      .standard("true")
      .means("Whether a context that leaves the NIC is written to host memory, since its use has changed it.")
      .source("the context holds PSNs and queue positions (ibv_query_qp gives them)");
  declare_policies(d, of_contexts);
}

void QpLevel2Params::declare(Declaration<QpLevel2Params>& d) {
  d.section("nic.qp_cache.level2", "Second level behind nic.qp_cache, one context to a line.");
  d.field<std::uint32_t>("lines", &QpLevel2Params::lines)
      .standard("0")
      .range("0", "16777216")
      .means("Contexts held; 0: there is no such cache.")
      .source("modelling choice");
  d.field<Time>("latency", &QpLevel2Params::latency)
      .standard("20ns")
      .range("0ns", "1us")
      .means("Of a look-up, after that of the first level; it keeps the pipe that asks.")
      .source("estimate (N4: 17 ns on ConnectX-5)");
  declare_policies(d, of_contexts);
}

void RequestCacheParams::declare(Declaration<RequestCacheParams>& d) {
  d.section("nic.request_cache", "Contexts of requests whose WQEs have come into the NIC, one to a line.");
  d.field<std::uint32_t>("lines", &RequestCacheParams::lines)
      .standard("0")
      .range("0", "16777216")
      .means("Contexts held, beyond which a WQE may have to be read again when its request is taken up or answered; 0: all are kept.")
      .source("modelling choice (N7: about 1 K on ConnectX-6)");
  d.field("fetches", &RequestCacheParams::fetches)
      .standard("16")
      .range("1", "4096")
      .means("WQEs being read again at most.")
      .source("estimate; not published");
  declare_policies(d, of_contexts);
}

}  // namespace mtsim::nic
