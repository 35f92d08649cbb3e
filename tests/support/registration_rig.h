// A host on which registrations are laid beside the oracle's counts: the same program on two machines that differ in nothing but what is
// on trial has the same frames, and the plain one shows them.
#pragma once

#include <string>
#include <vector>

#include "support/host_rig.h"
#include "support/registration_oracle.h"

namespace mtsim::test {

struct BufferPlan {
  Bytes length;
  verbs::PageKind page = verbs::PageKind::base_4k;
  Bytes align{};
};

/// A buffer on a host of its own; `va` is the same on every host that is asked for the same.
struct RegistrationRig : HostRig {
  RegistrationRig(const HostSettings& settings, const BufferPlan& plan) : HostRig(settings), domain(pd()) {
    verbs::MmapRequest request;
    request.length = plan.length;
    request.page = plan.page;
    request.align = plan.align;
    request.populate = true;
    const verbs::Reply reply = ask([&](auto& r, auto& c) { return device.mmap(0, request, r, c); });
    REQUIRE(reply.error == 0);
    va = Va(reply.value);
  }

  verbs::Reply register_part(Bytes offset, Bytes length, Bytes iova_shift = Bytes(0)) {
    verbs::RegMrRequest request{domain, va + offset, length, verbs::Access::local_write, Iova((va + offset).raw + iova_shift.raw)};
    return ask([&](auto& r, auto& c) { return device.reg_mr(0, request, r, c); });
  }

  /// The address that the NIC's table gives for one that operations use, or 0.
  Pa device_address(Key key, Iova address) {
    translate::Walk walk{key, address, 0, 0};
    translate::Content content = 0;
    translate::Architecture& architecture = nic.architecture();
    for (;;) {
      translate::Step step;
      architecture.step(walk, content, step);
      if (step.kind == translate::Step::Kind::done) return step.address;
      if (step.kind == translate::Step::Kind::fault) return Pa(0);
      if (step.kind == translate::Step::Kind::read) content = architecture.content(step.line_kind, step.tag);
    }
  }

  /// Device addresses of the pages of an MR, as page numbers.
  std::vector<std::uint64_t> device_pages(const verbs::Reply& mr, Bytes length) {
    std::vector<std::uint64_t> pages;
    const std::uint64_t first = mr.iova.raw / 4096, last = (mr.iova.raw + length.raw - 1) / 4096;
    for (std::uint64_t page = first; page <= last; ++page)
      pages.push_back(device_address(mr.lkey, Iova(std::max(mr.iova.raw, page * 4096))).raw / 4096);
    return pages;
  }

  verbs::Handle domain;
  Va va;
};

/// The part of the buffer for the oracle, frames and leaves page by page, found on a machine without IOMMU and with 4 KiB table entries.
inline oracle::Range look_at(HostSettings settings, const BufferPlan& plan, Bytes offset, Bytes length, Bytes iova_shift) {
  settings.iommu.mode = "off";
  settings.driver = test_driver();
  settings.driver.page_size = PageSizeChoice::none;
  RegistrationRig plain(settings, plan);
  const verbs::Reply mr = plain.register_part(offset, length, iova_shift);
  REQUIRE(mr.error == 0);
  oracle::Range range;
  range.start = (plain.va + offset).raw;
  range.length = length.raw;
  range.iova = mr.iova.raw;
  range.frames = plain.device_pages(mr, length);
  // A huge page lies wherever a whole aligned 2 MiB of the mapping may have one.
  const std::uint64_t first = plain.va.raw / 4096, end = first + (plan.length.raw + 4095) / 4096;
  for (std::uint64_t i = 0; i < range.frames.size(); ++i) {
    const std::uint64_t low = (range.start / 4096 + i) / 512 * 512;
    const bool huge = plan.page == verbs::PageKind::huge_2m || (plan.page == verbs::PageKind::thp && low >= first && low + 512 <= end);
    range.leaves.push_back(huge ? 512 : 1);
  }
  return range;
}

}  // namespace mtsim::test
