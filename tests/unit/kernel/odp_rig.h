// A host on which memory is registered on demand.
#pragma once

#include <vector>

#include "support/host_rig.h"

namespace mtsim::test {

struct OdpRig : HostRig {
  explicit OdpRig(const HostSettings& settings = {}) : HostRig(settings), domain(pd()) {}

  Va map(Bytes length, verbs::PageKind page = verbs::PageKind::base_4k, bool writable = true) {
    return mmap(length, page, false, writable);
  }
  verbs::Reply reg(Va at, Bytes length, verbs::Access access = verbs::Access::local_write | verbs::Access::on_demand) {
    return reg_at(at, length, access, Iova(at.raw));
  }
  verbs::Reply reg_at(Va at, Bytes length, verbs::Access access, Iova iova) {
    const verbs::RegMrRequest request{domain, at, length, access, iova};
    return ask([&](auto& r, auto& c) { return device.reg_mr(0, request, r, c); });
  }
  int prefetch(verbs::Prefetch advice, const verbs::Reply& mr, Va at, std::uint32_t length, bool flush = true) {
    return advise_mr(domain, advice, {{at.raw, length, mr.lkey}}, flush);
  }
  /// The last step of a walk with the key.
  translate::Step walk(Key key, Va address, bool writes = false) {
    translate::Walk at{key, Iova(address.raw), 0, 0, writes};
    translate::Step step;
    for (translate::Content content = 0;;) {
      nic.architecture().step(at, content, step);
      if (step.kind == translate::Step::Kind::done || step.kind == translate::Step::Kind::fault) return step;
      if (step.kind == translate::Step::Kind::read) content = nic.architecture().content(step.line_kind, step.tag);
    }
  }
  bool present(const verbs::Reply& mr, Va at, bool writes = false) { return walk(mr.lkey, at, writes).kind == translate::Step::Kind::done; }
  /// The bytes of the lists of UMR work requests since `from`.
  std::vector<std::uint64_t> lists(std::size_t from) const {
    std::vector<std::uint64_t> out;
    for (std::size_t i = from; i < nic.umrs.size(); ++i) out.push_back(nic.umrs[i].list_bytes.raw);
    return out;
  }
  const ports::RegistrationCost& cost() const { return records.back().cost; }

  verbs::Handle domain;
};

using Lists = std::vector<std::uint64_t>;

}  // namespace mtsim::test
