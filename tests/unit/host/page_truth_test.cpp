// Do page table, address space and pins hold to page-by-page truth? The oracle is a plain map of pages that notes what each call must have
// done; only where a new page lies is the model's to say, and no two may ever share a frame.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "host/address_space.h"

using namespace mtsim;
using verbs::PageKind;

namespace {

struct Truth {
  struct Page {
    std::uint64_t frame;
    std::uint64_t leaf;  ///< pages of the leaf that it lies in
  };
  std::map<std::uint64_t, Page> present;
  std::map<std::uint64_t, int> pinned;  ///< holders by frame
};

struct Buffer {
  std::uint64_t first, end;  ///< pages
  std::uint64_t leaf;        ///< pages of a leaf that it may have
};

struct Pin {
  PinnedRange range;
  std::vector<std::uint64_t> frames;
};

class Machine {
 public:
  Machine(double run_pages, std::uint64_t seed) : pool_({Bytes(512u << 20), run_pages, seed}), space_(pool_), random_(seed) {}

  void map() {
    verbs::MmapRequest request;
    const PageKind kinds[] = {PageKind::base_4k, PageKind::thp, PageKind::huge_2m};
    request.page = kinds[random_() % 3];
    request.length = Bytes(1 + random_() % (request.page == PageKind::base_4k ? 1u << 20 : 6u << 20));
    if (request.page == PageKind::thp && random_() % 2) {
      request.align = MiB(2);
      request.at = Bytes(random_() % 512 * 4096);
    }
    const MapReply reply = space_.mmap(request);
    REQUIRE(reply.error == 0);
    const std::uint64_t unit = request.page == PageKind::huge_2m ? 512 : 1;
    const std::uint64_t first = reply.address.raw / 4096, pages = round_up(ceil_div(request.length.raw, 4096), unit);
    if (request.align.raw != 0) REQUIRE(reply.address.raw % request.align.raw == request.at.raw);
    for (const Buffer& other : buffers_) REQUIRE((first >= other.end || first + pages <= other.first));
    buffers_.push_back({first, first + pages, request.page == PageKind::base_4k ? 1u : 512u});
    kinds_.push_back(request.page);
  }

  void touch() {
    if (buffers_.empty()) return;
    const auto [k, va, length] = choose();
    const auto before = truth_.present;
    const FaultReply reply = space_.fault_in(Va(va), Bytes(length), true);
    REQUIRE(reply.error == 0);
    learn(k, va, length, before, reply.faults);
  }

  void pin() {
    if (buffers_.empty()) return;
    const auto [k, va, length] = choose();
    const auto before = truth_.present;
    const PinReply reply = space_.pin(Va(va), Bytes(length), true);
    REQUIRE(reply.error == 0);
    learn(k, va, length, before, reply.faults);
    Pin pin{reply.range, {}};
    for (std::uint64_t page = va / 4096; page <= (va + length - 1) / 4096; ++page) pin.frames.push_back(truth_.present.at(page).frame);
    for (const std::uint64_t frame : pin.frames) ++truth_.pinned[frame];
    check_counts(va, length, reply.counts);
    pins_.push_back(pin);
  }

  void unpin() {
    if (pins_.empty()) return;
    const std::size_t k = random_() % pins_.size();
    check_pin(pins_[k]);
    for (const std::uint64_t frame : pins_[k].frames)
      if (--truth_.pinned[frame] == 0) truth_.pinned.erase(frame);
    space_.unpin(pins_[k].range);
    pins_.erase(pins_.begin() + long(k));
  }

  void unmap() {
    if (buffers_.empty()) return;
    const std::size_t k = random_() % buffers_.size();
    const Buffer buffer = buffers_[k];
    const PageKind kind = kinds_[k];
    const std::uint64_t unit = kind == PageKind::huge_2m ? 512 : 1, units = (buffer.end - buffer.first) / unit;
    std::uint64_t first = buffer.first + random_() % units * unit;
    std::uint64_t end = first + (1 + random_() % ((buffer.end - first) / unit)) * unit;
    if (random_() % 3 == 0) first = buffer.first, end = buffer.end;
    check_counts(first * 4096, (end - first) * 4096, space_.munmap(Va(first * 4096), Bytes((end - first) * 4096)).unmapped);
    for (std::uint64_t page = first; page < end; ++page) truth_.present.erase(page);
    split_leaves(first);
    split_leaves(end);
    buffers_.erase(buffers_.begin() + long(k));
    kinds_.erase(kinds_.begin() + long(k));
    const auto keep = [&](std::uint64_t low, std::uint64_t high) {
      if (low < high) buffers_.push_back({low, high, buffer.leaf}), kinds_.push_back(kind);
    };
    keep(buffer.first, first);
    keep(end, buffer.end);
  }

  /// Every frame of a page or a pin is in one place, and the pool counts the same.
  void check_all() {
    std::set<std::uint64_t> used;
    for (const auto& [page, what] : truth_.present) {
      const auto hit = space_.page_table().lookup(Va(page * 4096 + 77));
      REQUIRE(hit);
      REQUIRE(hit->pa.raw == what.frame * 4096 + 77);
      REQUIRE(leaf_pages(hit->leaf) == what.leaf);
      REQUIRE(used.insert(what.frame).second);
    }
    for (const auto& [frame, holders] : truth_.pinned) used.insert(frame);
    REQUIRE((pool_.size() - pool_.free()).raw == used.size());
    for (const Buffer& buffer : buffers_) {
      check_counts(buffer.first * 4096, (buffer.end - buffer.first) * 4096,
                   space_.page_table().count(Va(buffer.first * 4096), Bytes((buffer.end - buffer.first) * 4096)));
    }
  }

  std::mt19937_64& random() { return random_; }

 private:
  struct Choice {
    std::size_t buffer;
    std::uint64_t va, length;
  };
  Choice choose() {
    const std::size_t k = random_() % buffers_.size();
    const std::uint64_t low = buffers_[k].first * 4096, bytes = (buffers_[k].end - buffers_[k].first) * 4096;
    const std::uint64_t from = random_() % bytes;
    return {k, low + from, 1 + random_() % std::min<std::uint64_t>(bytes - from, random_() % 2 ? bytes : 9000)};
  }

  /// Which pages a touch must have brought in, and by what leaves.
  void learn(std::size_t k, std::uint64_t va, std::uint64_t length, const std::map<std::uint64_t, Truth::Page>& before,
             const FaultCounts& faults) {
    FaultCounts expected;
    const Buffer& buffer = buffers_[k];
    for (std::uint64_t page = va / 4096; page <= (va + length - 1) / 4096; ++page) {
      if (truth_.present.count(page)) continue;
      const std::uint64_t low = round_down(page, 512);
      const auto inside = before.lower_bound(low);
      const bool whole =
          buffer.leaf == 512 && low >= buffer.first && low + 512 <= buffer.end && (inside == before.end() || inside->first >= low + 512);
      const std::uint64_t first = whole ? low : page, count = whole ? 512 : 1;
      ++(whole ? expected.pages_2m : expected.pages_4k);
      expected.zeroed += Bytes(count * 4096);
      std::uint64_t frame = 0;
      for (std::uint64_t p = first; p < first + count; ++p) {
        const auto hit = space_.page_table().lookup(Va(p * 4096));
        REQUIRE(hit);
        if (p == first) frame = hit->pa.raw / 4096;
        if (whole) REQUIRE(frame % 512 == 0);
        REQUIRE(hit->pa.raw / 4096 == frame + (p - first));
        truth_.present[p] = {frame + (p - first), count};
      }
    }
    REQUIRE(faults == expected);
  }

  void split_leaves(std::uint64_t edge) {
    const std::uint64_t low = round_down(edge, 512);
    if (edge == low) return;
    for (auto at = truth_.present.lower_bound(low); at != truth_.present.end() && at->first < low + 512; ++at) at->second.leaf = 1;
  }

  void check_counts(std::uint64_t va, std::uint64_t length, const PageCounts& counts) {
    PageCounts expected;
    const std::uint64_t first = va / 4096, end = (va + length - 1) / 4096 + 1;
    std::set<std::uint64_t> leaves;
    std::set<std::pair<std::uint64_t, std::uint64_t>> grabs;
    std::uint64_t last = 0;
    for (std::uint64_t page = first; page < end; ++page) {
      ++expected.pages;
      const auto at = truth_.present.find(page);
      if (at == truth_.present.end()) {
        ++expected.absent;
        last = 0;
        continue;
      }
      const std::uint64_t leaf = round_down(page, at->second.leaf);
      leaves.insert(leaf);
      grabs.insert({leaf, (page - first) / 512});
      if (at->second.frame != last + 1) ++expected.runs;
      last = at->second.frame;
    }
    expected.folios = leaves.size();
    expected.grabs = grabs.size();
    REQUIRE(counts.pages == expected.pages);
    REQUIRE(counts.absent == expected.absent);
    REQUIRE(counts.folios == expected.folios);
    REQUIRE(counts.grabs == expected.grabs);
    REQUIRE(counts.runs == expected.runs);
  }

  void check_pin(const Pin& pin) {
    const std::uint64_t lead = pin.range.address.raw % 4096;
    for (std::uint64_t offset = 0; offset < pin.range.length.raw; offset += 1 + random_() % 5000) {
      const std::uint64_t page = (lead + offset) / 4096;
      REQUIRE(pin.range.map->at(Bytes(offset)).start.raw == pin.frames[page] * 4096 + (lead + offset) % 4096);
    }
  }

  FramePool pool_;
  AddressSpace space_;
  std::mt19937_64 random_;
  Truth truth_;
  std::vector<Buffer> buffers_;
  std::vector<PageKind> kinds_;
  std::vector<Pin> pins_;
};

}  // namespace

TEST_CASE("mappings, faults, cuts and pins agree with page-by-page truth", "[address_space]") {
  for (const double run_pages : {1.0, 4.0, 512.0})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Machine machine(run_pages, seed);
      for (int step = 0; step < 250; ++step) {
        switch (machine.random()() % 8) {
          case 0:
          case 1:
            machine.map();
            break;
          case 2:
          case 3:
            machine.touch();
            break;
          case 4:
            machine.pin();
            break;
          case 5:
            machine.unpin();
            break;
          default:
            machine.unmap();
        }
        if (step % 10 == 0) machine.check_all();
      }
      machine.check_all();
    }
}
