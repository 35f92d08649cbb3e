// Do processes that fork keep their memory apart, and do devices see what they were given? The oracle keeps the contents of every page of
// every process and of every frame, page by page, and works out by itself what each call must have copied.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "host/address_space.h"

using namespace mtsim;
using verbs::PageKind;

namespace {

struct Buffer {
  std::uint64_t first, end;
  PageKind kind;
  bool shared, dontfork;
};

struct Page {
  std::uint64_t frame;
  std::uint64_t leaf;   ///< pages of its leaf
  std::uint64_t folio;  ///< first frame of the 2 MiB page that it came with; 0: none
  bool cow;             ///< shared since a fork, as far as this process knows
  std::uint64_t value;  ///< what the process must read there
};

struct Process {
  std::unique_ptr<AddressSpace> owned;
  AddressSpace* space;
  std::vector<Buffer> buffers;
  std::map<std::uint64_t, Page> pages;
};

struct Pin {
  std::size_t process;
  PinnedRange range;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> frames;  ///< page, frame
  std::set<std::uint64_t> gone;                                 ///< pages unmapped since
};

class Machine {
 public:
  Machine(bool copies_pinned, double run_pages, std::uint64_t seed)
      : copies_pinned_(copies_pinned), pool_({Bytes(1u << 30), run_pages, seed}), random_(seed) {
    processes_.push_back({std::make_unique<AddressSpace>(pool_), nullptr, {}, {}});
    processes_[0].space = processes_[0].owned.get();
  }

  void step() {
    Process& p = processes_[random_() % processes_.size()];
    switch (random_() % 12) {
      case 0:
      case 1:
        return map(p);
      case 2:
      case 3:
      case 4:
      case 5:
        return touch(p, random_() % 4 != 0);
      case 6:
      case 7:
        return pin(p);
      case 8:
        return unpin();
      case 9:
        return unmap(p);
      case 10:
        return advise(p);
      default:
        if (processes_.size() < 4) fork(p);
    }
  }

  /// Every process reads what it last wrote, no private frame is in two places unless both know, devices see what they should.
  void check_all() {
    std::set<std::uint64_t> used;
    for (const Process& p : processes_)
      for (const auto& [page, what] : p.pages) {
        const auto hit = p.space->page_table().lookup(Va(page * 4096));
        REQUIRE(hit);
        REQUIRE(hit->pa.raw / 4096 == what.frame);
        REQUIRE(leaf_pages(hit->leaf) == what.leaf);
        REQUIRE(memory_.at(what.frame) == what.value);
        used.insert(what.frame);
      }
    for (const auto& [key, frame] : shared_frames_) used.insert(frame);
    for (const Pin& pin : pins_)
      for (const auto& [page, frame] : pin.frames) used.insert(frame);
    REQUIRE((pool_.size() - pool_.free()).raw == used.size());
    if (!copies_pinned_) return;
    // What a program writes, its device sees, as long as the mapping is the one that was pinned.
    for (const Pin& pin : pins_)
      for (const auto& [page, frame] : pin.frames) {
        const auto at = processes_[pin.process].pages.find(page);
        if (at != processes_[pin.process].pages.end() && !pin.gone.count(page)) REQUIRE(at->second.frame == frame);
      }
  }

  std::uint64_t forks = 0, copies = 0, reuses = 0, left = 0, copied_at_fork = 0;

 private:
  std::size_t index(const Process& p) const { return std::size_t(&p - processes_.data()); }
  const Buffer* buffer_of(const Process& p, std::uint64_t page) const {
    for (const Buffer& b : p.buffers)
      if (b.first <= page && page < b.end) return &b;
    return nullptr;
  }
  std::size_t mappings(std::uint64_t frame) const {
    std::size_t n = 0;
    for (const Process& p : processes_) {
      const auto at = by_frame_.find({index(p), frame});
      n += at == by_frame_.end() ? 0 : at->second;
    }
    return n;
  }
  void put(Process& p, std::uint64_t page, const Page& what) {
    drop(p, page);
    p.pages[page] = what;
    ++by_frame_[{index(p), what.frame}];
  }
  void drop(Process& p, std::uint64_t page) {
    const auto at = p.pages.find(page);
    if (at == p.pages.end()) return;
    --by_frame_[{index(p), at->second.frame}];
    p.pages.erase(at);
  }
  bool is_pinned(std::uint64_t frame) const {
    const auto at = pinned_.find(frame);
    return at != pinned_.end() && at->second != 0;
  }
  bool folio_pinned(const Page& page) const {
    if (page.folio == 0) return is_pinned(page.frame);
    const auto at = pinned_.lower_bound(page.folio);
    for (auto it = at; it != pinned_.end() && it->first < page.folio + 512; ++it)
      if (it->second != 0) return true;
    return false;
  }

  void map(Process& p) {
    if (p.buffers.size() > 8) return;
    verbs::MmapRequest request;
    const PageKind kinds[] = {PageKind::base_4k, PageKind::thp, PageKind::huge_2m};
    request.page = kinds[random_() % 3];
    request.shared = request.page == PageKind::base_4k && random_() % 3 == 0;
    request.length = Bytes(1 + random_() % (request.page == PageKind::base_4k ? 1u << 17 : 6u << 20));
    const MapReply reply = p.space->mmap(request);
    REQUIRE(reply.error == 0);
    const std::uint64_t unit = request.page == PageKind::huge_2m ? 512 : 1;
    const std::uint64_t first = reply.address.raw / 4096;
    p.buffers.push_back({first, first + round_up(ceil_div(request.length.raw, 4096), unit), request.page, request.shared, false});
    generation_ += request.shared;
    if (request.shared) shared_ids_[{index(p), first}] = generation_;
  }

  struct Range {
    std::uint64_t va, length;
  };
  Range choose(const Process& p) {
    const Buffer& b = p.buffers[random_() % p.buffers.size()];
    const std::uint64_t bytes = (b.end - b.first) * 4096, from = random_() % bytes;
    return {b.first * 4096 + from, 1 + random_() % std::min<std::uint64_t>(bytes - from, random_() % 2 ? bytes : 20000)};
  }

  void touch(Process& p, bool write) {
    if (p.buffers.empty()) return;
    const auto [va, length] = choose(p);
    const FaultReply reply = p.space->fault_in(Va(va), Bytes(length), write);
    REQUIRE(reply.error == 0);
    learn(p, va, length, write, reply.faults);
    if (!write) return;
    for (std::uint64_t page = va / 4096; page <= (va + length - 1) / 4096; ++page) {
      Page& what = p.pages.at(page);
      what.value = memory_[what.frame] = ++clock_;
      if (buffer_of(p, page)->shared)
        for (Process& other : processes_)
          if (const auto at = other.pages.find(page); at != other.pages.end() && at->second.frame == what.frame) at->second.value = clock_;
    }
  }

  void pin(Process& p) {
    if (p.buffers.empty()) return;
    const auto [va, length] = choose(p);
    const PinReply reply = p.space->pin(Va(va), Bytes(length), random_() % 2 == 0);
    REQUIRE(reply.error == 0);
    learn(p, va, length, true, reply.faults);
    Pin pin{index(p), reply.range, {}, {}};
    for (std::uint64_t page = va / 4096; page <= (va + length - 1) / 4096; ++page) {
      pin.frames.push_back({page, p.pages.at(page).frame});
      REQUIRE(reply.range.map->page(page - va / 4096).raw / 4096 == p.pages.at(page).frame);
      ++pinned_[p.pages.at(page).frame];
    }
    pins_.push_back(std::move(pin));
  }

  void unpin() {
    if (pins_.empty()) return;
    const std::size_t k = random_() % pins_.size();
    for (const auto& [page, frame] : pins_[k].frames) --pinned_[frame];
    processes_[pins_[k].process].space->unpin(pins_[k].range);
    pins_.erase(pins_.begin() + long(k));
  }

  void unmap(Process& p) {
    if (p.buffers.empty()) return;
    const std::size_t k = random_() % p.buffers.size();
    const Buffer b = p.buffers[k];
    if (b.shared && random_() % 2) return;
    REQUIRE(p.space->munmap(Va(b.first * 4096), Bytes((b.end - b.first) * 4096)).error == 0);
    for (std::uint64_t page = b.first; page < b.end; ++page) {
      drop(p, page);
      for (Pin& pin : pins_)
        if (pin.process == index(p)) pin.gone.insert(page);
    }
    p.buffers.erase(p.buffers.begin() + long(k));
    if (!b.shared) return;
    // The last one that has it takes the pages along.
    const std::uint64_t id = shared_ids_.at({index(p), b.first});
    shared_ids_.erase({index(p), b.first});
    for (const auto& [key, other] : shared_ids_)
      if (other == id) return;
    std::erase_if(shared_frames_, [&](const auto& entry) { return entry.first.first == id; });
  }

  void advise(Process& p) {
    if (p.buffers.empty()) return;
    Buffer& b = p.buffers[random_() % p.buffers.size()];
    b.dontfork = random_() % 2;
    REQUIRE(
        p.space->madvise(Va(b.first * 4096), Bytes((b.end - b.first) * 4096), b.dontfork ? verbs::Advice::dontfork : verbs::Advice::dofork)
            .error == 0);
  }

  std::uint64_t frame_at(const Process& p, std::uint64_t page) const {
    const auto hit = p.space->page_table().lookup(Va(page * 4096));
    REQUIRE(hit);
    return hit->pa.raw / 4096;
  }
  void fresh(std::uint64_t frame) const {
    REQUIRE(mappings(frame) == 0);
    REQUIRE_FALSE(is_pinned(frame));
  }

  /// What a touch that writes, or a pin, must have done to each page of the range, lowest first.
  void learn(Process& p, std::uint64_t va, std::uint64_t length, bool unshares, const FaultCounts& faults) {
    FaultCounts expected;
    const std::uint64_t first = va / 4096, end = (va + length - 1) / 4096 + 1;
    for (std::uint64_t page = first; page < end; ++page) {
      const Buffer& b = *buffer_of(p, page);
      const auto at = p.pages.find(page);
      if (at == p.pages.end()) absent(p, b, page, expected);
      else if (unshares && !b.shared && at->second.cow) shared(p, b, page, first, end, expected);
    }
    CHECK(faults.pages_4k == expected.pages_4k);
    CHECK(faults.pages_2m == expected.pages_2m);
    CHECK(faults.found == expected.found);
    CHECK(faults.zeroed == expected.zeroed);
    CHECK(faults.copied == expected.copied);
    REQUIRE(faults.left_pins == expected.left_pins);
    copies += faults.copied.raw != 0;
    reuses += faults.found != 0;
    left += faults.left_pins;
  }

  void absent(Process& p, const Buffer& b, std::uint64_t page, FaultCounts& expected) {
    if (b.shared) {
      const std::pair<std::uint64_t, std::uint64_t> key{shared_ids_.at({index(p), b.first}), page};
      const auto known = shared_frames_.find(key);
      if (known != shared_frames_.end()) {
        REQUIRE(frame_at(p, page) == known->second);
        put(p, page, {known->second, 1, 0, false, memory_.at(known->second)});
        ++expected.found;
        return;
      }
    }
    const std::uint64_t low = round_down(page, 512);
    const auto inside = p.pages.lower_bound(low);
    const bool whole =
        b.kind != PageKind::base_4k && low >= b.first && low + 512 <= b.end && (inside == p.pages.end() || inside->first >= low + 512);
    const std::uint64_t from = whole ? low : page, count = whole ? 512 : 1, frame = frame_at(p, from);
    ++(whole ? expected.pages_2m : expected.pages_4k);
    expected.zeroed += Bytes(count * 4096);
    for (std::uint64_t i = 0; i < count; ++i) {
      fresh(frame + i);
      memory_[frame + i] = 0;
      put(p, from + i, {frame + i, count, whole ? frame : 0, false, 0});
      if (b.shared) shared_frames_[{shared_ids_.at({index(p), b.first}), from + i}] = frame + i;
    }
  }

  void shared(Process& p, const Buffer& b, std::uint64_t page, std::uint64_t first, std::uint64_t end, FaultCounts& expected) {
    const std::uint64_t size = p.pages.at(page).leaf, low = round_down(page, size);
    bool others = false;
    for (std::uint64_t i = low; i < low + size; ++i) others |= mappings(p.pages.at(i).frame) > 1;
    if (!others) {
      ++expected.found;
      for (std::uint64_t i = low; i < low + size; ++i) p.pages.at(i).cow = false;
      return;
    }
    const bool whole = b.kind == PageKind::huge_2m;
    const std::uint64_t from = whole ? low : page, to = whole ? low + 512 : size == 512 ? std::min(end, low + 512) : page + 1;
    (whole ? expected.pages_2m : expected.pages_4k) += whole ? 1 : to - from;
    expected.copied += Bytes((to - from) * 4096);
    if (!whole)
      for (std::uint64_t i = low; i < low + size; ++i) p.pages.at(i).leaf = 1;
    REQUIRE(first <= page);
    for (std::uint64_t i = from; i < to; ++i) {
      const Page old = p.pages.at(i);
      for (const Pin& pin : pins_)
        if (pin.process == index(p) && std::count(pin.frames.begin(), pin.frames.end(), std::pair{i, old.frame}) != 0) {
          ++expected.left_pins;
          break;
        }
      const std::uint64_t frame = frame_at(p, i);
      fresh(frame);
      memory_[frame] = memory_.at(old.frame);
      put(p, i, {frame, whole ? 512u : 1u, whole ? frame_at(p, low) : 0, false, old.value});
    }
  }

  void fork(Process& parent) {
    ++forks;
    const std::size_t parent_index = index(parent);
    ForkReply reply = parent.space->fork(copies_pinned_);
    REQUIRE(reply.error == 0);
    processes_.push_back({std::move(reply.child), nullptr, {}, {}});
    Process& child = processes_.back();
    child.space = child.owned.get();
    Process& p = processes_[parent_index];
    std::uint64_t leaves = 0, copied = 0, copied_bytes = 0, mapped = 0;
    for (const Buffer& b : p.buffers) {
      if (b.dontfork) continue;
      ++mapped;
      child.buffers.push_back(b);
      if (b.shared) {
        shared_ids_[{index(child), b.first}] = shared_ids_.at({parent_index, b.first});
        continue;
      }
      for (auto at = p.pages.lower_bound(b.first); at != p.pages.end() && at->first < b.end; ++at) {
        auto& [page, what] = *at;
        const bool whole = b.kind == PageKind::huge_2m;
        if (copies_pinned_ && !what.cow && folio_pinned(what)) {
          const std::uint64_t frame = frame_at(child, page);
          fresh(frame);
          memory_[frame] = memory_.at(what.frame);
          put(child, page, {frame, whole ? 512u : 1u, whole ? frame_at(child, round_down(page, 512)) : 0, false, what.value});
          if (!whole) what.leaf = 1;
          const bool counts = !whole || page % 512 == 0;
          leaves += counts;
          copied += counts;
          copied_bytes += 4096;
          continue;
        }
        what.cow = true;
        put(child, page, what);
        leaves += page % what.leaf == 0;
      }
    }
    REQUIRE(reply.mappings == mapped);
    REQUIRE(reply.leaves == leaves);
    REQUIRE(reply.copies == copied);
    REQUIRE(reply.copied.raw == copied_bytes);
    copied_at_fork += copied;
  }

  bool copies_pinned_;
  FramePool pool_;
  std::mt19937_64 random_;
  std::vector<Process> processes_;
  std::vector<Pin> pins_;
  std::map<std::uint64_t, std::uint64_t> memory_;                                   ///< contents by frame
  std::map<std::uint64_t, std::uint64_t> pinned_;                                   ///< pins by frame
  std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> by_frame_;           ///< mappings by process and frame
  std::map<std::pair<std::size_t, std::uint64_t>, std::uint64_t> shared_ids_;       ///< of shared buffers, by process and first page
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> shared_frames_;  ///< by shared buffer and page
  std::uint64_t clock_ = 0, generation_ = 0;
};

}  // namespace

TEST_CASE("processes that fork agree with page-by-page truth", "[fork]") {
  for (const bool copies_pinned : {true, false}) {
    std::uint64_t forks = 0, copies = 0, reuses = 0, left = 0, copied_at_fork = 0;
    for (const double run_pages : {1.0, 512.0})
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        INFO(copies_pinned << ' ' << run_pages << ' ' << seed);
        Machine machine(copies_pinned, run_pages, seed);
        for (int step = 0; step < 160; ++step) {
          machine.step();
          if (step % 16 == 0) machine.check_all();
        }
        machine.check_all();
        forks += machine.forks;
        copies += machine.copies;
        reuses += machine.reuses;
        left += machine.left;
        copied_at_fork += machine.copied_at_fork;
      }
    // Everything has happened.
    REQUIRE(forks > 20);
    REQUIRE(copies > 20);
    REQUIRE(reuses > 20);
    REQUIRE((left > 0) == !copies_pinned);
    REQUIRE((copied_at_fork > 0) == copies_pinned);
  }
}
