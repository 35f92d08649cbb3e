// Does the series of a host's memory keep what matters in a bounded number of points, and end at what there is?
#include "kernel/memory_series.h"

#include <catch2/catch.hpp>

#include "support/host_rig.h"

using namespace mtsim;
using kernel::MemorySeries;
using test::HostRig;
using test::HostSettings;

namespace {

MemorySeries::Levels levels(std::uint64_t free) { return {Pages(free), Pages(3 * free), Pages(7)}; }

/// A series of `n` changes, one each `apart`.
MemorySeries of_changes(std::uint64_t n, Time apart) {
  MemorySeries series;
  for (std::uint64_t i = 0; i < n; ++i) series.note(apart * static_cast<std::int64_t>(i), levels(i));
  return series;
}

}  // namespace

TEST_CASE("a point is a change: what stays as it is makes none", "[memory_series]") {
  MemorySeries series;
  for (const int at : {0, 1, 2}) series.note(us(at), levels(5));
  series.note(us(3), levels(6));
  series.note(us(4), levels(6));
  REQUIRE(series.points().size() == 2);
  CHECK(series.points()[0].at == Time());
  CHECK(series.points()[1].at == us(3));
  CHECK(series.points()[1].levels == levels(6));
}

TEST_CASE("up to 256 changes are all kept; more of them are thinned out evenly, and the last stays", "[memory_series]") {
  const MemorySeries few = of_changes(256, us(2));
  REQUIRE(few.points().size() == 256);
  for (std::uint64_t i = 0; i < 256; ++i) CHECK(few.points()[i].levels == levels(i));
  for (const std::uint64_t n : {257u, 1'000u, 100'000u}) {
    CAPTURE(n);
    const MemorySeries many = of_changes(n, us(2));
    const auto& points = many.points();
    CHECK(points.size() <= MemorySeries::most_points);
    CHECK(points.size() >= MemorySeries::most_points / 4);
    CHECK(points.back().at == us(2) * static_cast<std::int64_t>(n - 1));
    CHECK(points.back().levels == levels(n - 1));
    for (std::size_t i = 0; i < points.size(); ++i) {
      // Each is true: it says what changed then.
      CHECK(points[i].levels == levels(static_cast<std::uint64_t>(points[i].at / us(2))));
      if (i > 0) CHECK(points[i - 1].at < points[i].at);
      // No two lie further apart than twice the mean.
      if (i > 0) CHECK((points[i].at - points[i - 1].at).raw <= 4 * points.back().at.raw / static_cast<std::int64_t>(points.size()));
    }
  }
}

TEST_CASE("the last point is what there is, and frames are free, in the process or in the kernel", "[memory_series]") {
  HostSettings settings;
  settings.memory = MiB(64);
  settings.swap = MiB(64);
  HostRig rig(settings);
  const std::uint64_t in_kernel = (rig.root.frames().size() - rig.root.frames().free()).raw;
  const auto check = [&](std::uint64_t beside) {
    const MemorySeries series = rig.kernel.memory_series();
    const MemorySeries::Levels& last = series.points().back().levels;
    CHECK(last.free == rig.root.frames().free());
    CHECK(page_bytes * last.pinned.raw == rig.kernel.registration().pinned_now);
    CHECK(last.swapped.raw == rig.kernel.memory_use().swapped_out - rig.kernel.memory_use().swapped_in);
    return last.free.raw + beside;
  };
  const std::uint64_t all = rig.root.frames().size().raw;
  CHECK(check(in_kernel) == all);
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(MiB(16));
  CHECK(check(in_kernel + 4096) == all);
  const auto mr = rig.reg_mr(pd, buffer, MiB(8));
  // The first registration makes a buffer for lists besides.
  const std::uint64_t with_list = all - rig.root.frames().free().raw - 4096;
  CHECK(check(with_list + 4096) == all);
  const Va more = rig.mmap(MiB(64), verbs::PageKind::base_4k, false);
  REQUIRE(rig.ask([&](auto& r, auto& c) { return rig.device.touch(0, more, MiB(56), true, r, c); }).error == 0);
  const std::uint64_t swapped = rig.kernel.memory_use().swapped_out;
  REQUIRE(swapped > 0);
  CHECK(check(with_list + (16 + 56) * 256 - swapped) == all);
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  check(0);
  CHECK(rig.kernel.memory_series().points().back().levels.pinned == Pages(0));
  // Times rise, and never more is free or pinned than there is.
  const MemorySeries series = rig.kernel.memory_series();
  for (std::size_t i = 1; i < series.points().size(); ++i) {
    CHECK(series.points()[i - 1].at < series.points()[i].at);
    CHECK(series.points()[i].levels.free.raw + series.points()[i].levels.pinned.raw <= all);
  }
}
