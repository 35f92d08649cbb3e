#include "nic/scatter.h"
#include "nic/refused_lookup.h"

#include <algorithm>

namespace mtsim::nic {

engine::Task<bool> scatter(const Scatter& units, Qp& qp, std::uint32_t pd, std::span<const verbs::Sge> sges, std::uint64_t offset,
                           std::uint64_t length, Time begin, ports::Query& query) {
  const std::uint32_t life = qp.life;
  std::uint64_t skip = offset, left = length;
  // What comes after the packets that are placed.
  std::optional<verbs::Wish> refused;
  verbs::Verdict verdict = verbs::Verdict::granted;
  for (const verbs::Sge& sge : sges) {
    if (left == 0) break;
    if (skip >= sge.length) {
      skip -= sge.length;
      continue;
    }
    while (skip < sge.length && left != 0) {
      query.address = Iova(sge.address + skip);
      query.wish = {sge.lkey, pd, verbs::Access::local_write, query.address, Bytes(std::min<std::uint64_t>(left, sge.length - skip))};
      const Time start = std::max(begin, units.clock.edge(units.scheduler.now()));
      if (!units.translator.probe(query, start)) co_await units.translator.walk(query);
      co_await engine::Until(units.scheduler, query.ready, query.order);
      if (!query.ok()) [[unlikely]] {
        const std::uint64_t placed = length - left, whole = refused ? 0 : whole_packets(query, placed, qp.attributes.mtu);
        if (!refused && units.whole != nullptr) *units.whole = whole;
        if (whole <= placed) co_return false;
        left = whole - placed;
        refused = query.wish;
        verdict = query.verdict;
        continue;
      }
      const Time translated = units.scheduler.now();
      const ports::Cause full = co_await ports::WriteRoom(units.dma);
      if (query.waits != nullptr) {
        // At the responder the last piece is moved after its look-up; what goes before is part of the way to that.
        const bool last = query.length.raw >= std::min<std::uint64_t>(left, sge.length - skip) && left <= sge.length - skip;
        const bool moves = last && query.wait_step == ports::Step::responder_translation;
        query.waits->add(moves ? ports::Step::responder_dma : query.wait_step, full, units.scheduler.now() - translated);
      }
      if (qp.life != life) co_return true;
      const Bytes run = std::min(query.length, Bytes(std::min<std::uint64_t>(left, sge.length - skip)));
      if (units.watch != nullptr) [[unlikely]]
        units.watch->write(query, run, units.mishap);
      units.dma.write(query.physical, run, nullptr, {ports::Purpose::payload, query.relaxed});
      skip += run.raw;
      left -= run.raw;
    }
    skip = 0;
  }
  if (refused) [[unlikely]] {
    query.wish = *refused;
    query.verdict = verdict;
  }
  co_return !refused;
}

}  // namespace mtsim::nic
