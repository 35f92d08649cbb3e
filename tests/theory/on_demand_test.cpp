// Random regions on demand under random changes of memory, laid beside a model that keeps every page by itself: what the device gets, what
// is taken from it, and the work requests and DMA mappings that this takes.
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "support/host_rig.h"

using namespace mtsim;
using test::HostRig;
using test::HostSettings;
using verbs::Access;
using verbs::Prefetch;

namespace {

using Count = std::uint64_t;

/// One 4 KiB page, as the process, the kernel's list and the NIC's table have it.
struct Page {
  bool mapped = true, writable = true, present = false;  ///< process
  bool listed = false, listed_write = false;             ///< kernel
  bool in_table = false, table_write = false;            ///< NIC
};

/// What a call came to.
struct Work {
  Count requests = 0, bytes = 0, maps = 0, unmaps = 0;
};

/// Written after the kernel's loops, one page at a time.
struct Oracle {
  explicit Oracle(Count pages, Count most) : page(pages), most_entries(most) {}

  void write(Count first, Count n, bool zap, Work& work) {
    while (first % 8 != 0) --first, ++n;
    while (n % 8 != 0) ++n;
    while (first + n > page.size()) --n;
    for (Count i = first; i < first + n; ++i) {
      page[i].in_table = !zap && page[i].listed;
      page[i].table_write = !zap && page[i].listed_write;
    }
    for (; n != 0; n -= std::min(n, most_entries)) {
      ++work.requests;
      work.bytes += (std::min(n, most_entries) * 8 + 63) / 64 * 64;
    }
  }
  void list(Page& p, bool write, Work& work) {
    if (!p.listed) ++work.maps;
    p.listed = true;
    p.listed_write = write;
  }
  Work registered() {
    Work work;
    for (Page& p : page)
      if (p.present) list(p, p.writable, work);
    write(0, page.size(), false, work);
    return work;
  }
  /// 0 or the error; pages before one that cannot be had are brought in all the same.
  int prefetch(Count first, Count n, Prefetch advice, Work& work) {
    for (Count i = first; i < first + n && advice != Prefetch::no_fault; ++i) {
      if (!page[i].mapped) return EFAULT;
      if (advice == Prefetch::write && !page[i].writable) return EPERM;
      page[i].present = true;
    }
    for (Count i = first; i < first + n; ++i)
      if (page[i].present) list(page[i], advice == Prefetch::no_fault ? page[i].writable : advice == Prefetch::write, work);
    write(first, n, false, work);
    return 0;
  }
  Work invalidate(Count first, Count end) {
    Work work;
    Count any = 0;
    for (const Page& p : page) any += p.listed;
    if (any == 0) return work;
    bool open = false;
    Count start = 0, i = first;
    for (; i < end; ++i) {
      if (page[i].listed) {
        if (!open) start = i;
        open = true;
      } else if (open && i % 8 == 0) {
        write(start, i - start, true, work);
        open = false;
      }
    }
    if (open) write(start, end - start, true, work);
    for (i = first; i < end; ++i) {
      if (page[i].listed) ++work.unmaps;
      page[i].listed = page[i].listed_write = false;
    }
    return work;
  }

  std::vector<Page> page;
  Count most_entries;
};

struct Bench : HostRig {
  explicit Bench(const HostSettings& settings) : HostRig(settings), domain(pd()) {}

  /// The NIC's table holds exactly what the oracle's does.
  void check_table(const Oracle& oracle, const verbs::Reply& mr) {
    for (Count i = 0; i < oracle.page.size(); ++i) {
      CAPTURE(i);
      for (const bool writes : {false, true}) {
        translate::Walk walk{mr.lkey, Iova(mr.iova.raw + i * 4096), 0, 0, writes};
        translate::Step step;
        translate::Content content = 0;
        do {
          nic.architecture().step(walk, content, step);
          if (step.kind == translate::Step::Kind::read) content = nic.architecture().content(step.line_kind, step.tag);
        } while (step.kind != translate::Step::Kind::done && step.kind != translate::Step::Kind::fault);
        const Page& p = oracle.page[i];
        REQUIRE((step.kind == translate::Step::Kind::done) == (writes ? p.in_table && p.table_write : p.in_table));
      }
    }
  }
  Work since(std::size_t umrs, std::size_t first_record) const {
    Work work;
    for (std::size_t i = umrs; i < nic.umrs.size(); ++i) ++work.requests, work.bytes += nic.umrs[i].list_bytes.raw;
    for (std::size_t i = first_record; i < records.size(); ++i) {
      const bool unmaps = records[i].call == ports::RegistrationRecord::Call::invalidation;
      (unmaps ? work.unmaps : work.maps) += records[i].cost.dma_runs;
    }
    return work;
  }

  verbs::Handle domain;
};

void check(const Work& got, const Work& expected) {
  REQUIRE(got.requests == expected.requests);
  REQUIRE(got.bytes == expected.bytes);
  REQUIRE(got.maps == expected.maps);
  REQUIRE(got.unmaps == expected.unmaps);
}

}  // namespace

TEST_CASE("random regions on demand agree with a model page by page", "[on_demand]") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    HostSettings settings;
    settings.iommu.mode = seed % 3 == 0 ? "translate" : "off";
    settings.run_pages = seed % 2 == 0 ? 1.0 : 5.0;
    settings.driver.umr_entries = seed % 4 == 0 ? 64 : 131064;
    Bench bench(settings);
    const Count pages = 40 + random() % 200;
    Oracle oracle(pages, settings.driver.umr_entries);
    const Va buffer = bench.mmap(Bytes(pages * 4096), verbs::PageKind::base_4k, false);
    const auto some = [&](auto act) {
      const Count first = random() % pages, n = 1 + random() % std::min<Count>(pages - first, 24);
      act(first, n, buffer + Bytes(first * 4096), Bytes(n * 4096));
    };
    const auto touch = [&](Count first, Count n, Va at, Bytes length) {
      const int error = bench.touch(at, length, false);
      for (Count i = first; i < first + n && oracle.page[i].mapped; ++i) oracle.page[i].present = true;
      REQUIRE((error == 0 || error == EFAULT));
    };
    const auto unmap = [&](Count first, Count n, Va at, Bytes length) {
      REQUIRE(bench.munmap(at, length) == 0);
      for (Count i = first; i < first + n; ++i) oracle.page[i].mapped = oracle.page[i].present = false;
    };
    for (int i = 0; i < 6; ++i) some(touch);
    some(unmap);
    some([&](Count first, Count n, Va at, Bytes length) {
      const int error = bench.mprotect(at, length, true, false);
      for (Count i = first; i < first + n && (error == 0 || oracle.page[i].mapped); ++i) oracle.page[i].writable = false;
    });

    std::size_t umrs = bench.nic.umrs.size(), record = bench.records.size();
    const auto mr = bench.reg_mr(bench.domain, buffer, Bytes(pages * 4096), Access::local_write | Access::on_demand);
    REQUIRE(mr.error == 0);
    REQUIRE(bench.records.back().cost.table_entries == pages);
    check(bench.since(umrs, record), oracle.registered());
    bench.check_table(oracle, mr);

    for (int round = 0; round < 30; ++round) {
      CAPTURE(round);
      umrs = bench.nic.umrs.size();
      record = bench.records.size();
      Work work;
      some([&](Count first, Count n, Va at, Bytes length) {
        switch (random() % 4) {
          case 0:
            return touch(first, n, at, length);
          case 1: {
            work = oracle.invalidate(first, first + n);
            return unmap(first, n, at, length);
          }
          case 2: {
            // Holes end in ENOMEM after the rest has been done.
            work = oracle.invalidate(first, first + n);
            bench.madvise(at, length, verbs::Advice::dontneed);
            for (Count i = first; i < first + n; ++i) oracle.page[i].present = false;
            return;
          }
          default: {
            const auto advice = static_cast<Prefetch>(random() % 3);
            const int expected = oracle.prefetch(first, n, advice, work);
            REQUIRE(bench.advise_mr(bench.domain, advice, {{at.raw, std::uint32_t(length.raw), mr.lkey}}) == expected);
            return;
          }
        }
      });
      check(bench.since(umrs, record), work);
    }
    bench.check_table(oracle, mr);
    REQUIRE(bench.dereg_mr(mr.handle).error == 0);
  }
}

TEST_CASE("registering 1 GiB on demand costs the same in UMR bytes, touched or not; pinned it saves what pages cost", "[on_demand]") {
  HostSettings settings;
  settings.memory = GiB(4);
  const auto cost_of = [&](bool touched, Access access) {
    Bench bench(settings);
    const Va buffer = bench.mmap(GiB(1), verbs::PageKind::base_4k, touched);
    const auto mr = bench.reg_mr(bench.domain, buffer, GiB(1), access);
    REQUIRE(mr.error == 0);
    return bench.records.back().cost;
  };
  const auto absent = cost_of(false, Access::local_write | Access::on_demand);
  const auto present = cost_of(true, Access::local_write | Access::on_demand);
  const auto pinned = cost_of(true, Access::local_write);
  for (const auto* cost : {&absent, &present, &pinned}) {
    REQUIRE(cost->umr_requests == 3);
    REQUIRE(cost->list_bytes == MiB(2));
    REQUIRE(cost->table_entries == 262144);
  }
  REQUIRE(absent.dma_runs == 0);
  REQUIRE(present.dma_runs == 262144);
  for (unsigned i = 0; i < ports::registration_step_count; ++i) {
    const auto step = static_cast<ports::RegistrationStep>(i);
    CAPTURE(ports::registration_step_names[i]);
    if (step == ports::RegistrationStep::dma_map) REQUIRE(present.steps[i] - absent.steps[i] == settings.kernel.dma_map * 262144);
    else REQUIRE(present.steps[i] == absent.steps[i]);
  }
  REQUIRE(present.batches == 0);
  REQUIRE(pinned.batches == 512);
}

TEST_CASE("a region of 512 GiB that is not touched costs 512 times what 1 GiB does, and no memory", "[on_demand]") {
  HostSettings settings;
  const auto cost_of = [&](Bytes length) {
    Bench bench(settings);
    const Va buffer = bench.mmap(length, verbs::PageKind::base_4k, false);
    const auto mr = bench.reg_mr(bench.domain, buffer, length, Access::local_write | Access::on_demand);
    REQUIRE(mr.error == 0);
    return bench.records.back().cost;
  };
  const auto small = cost_of(GiB(1)), great = cost_of(GiB(512));
  REQUIRE(great.table_entries == small.table_entries * 512);
  REQUIRE(great.list_bytes == small.list_bytes * 512);
  REQUIRE(great.umr_requests == 1025);
  const auto walk = unsigned(ports::RegistrationStep::fault);
  REQUIRE(great.steps[walk] == small.steps[walk] * 512);
}
