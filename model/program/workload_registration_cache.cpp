// `registration_cache`: small blocks of a client's memory, each looked up in a cache of registrations before it would be used; what is not
// found is registered and stays so. Nothing is sent: what is measured is what the cache and the registrations cost.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "base/sections.h"
#include "program/registration_cache.h"
#include "program/workload_kinds.h"
#include "program/workload_script.h"

namespace mtsim::program {

namespace {

CacheRules rules_of(const RegistrationCacheParams& p) {
  return {std::max<std::uint64_t>(p.granule.raw, 1), p.most_regions, p.most_bytes.raw, p.merge};
}

/// One thread's sweeps over its memory.
class Sweeps final : public Cursor {
 public:
  Sweeps(const Shape& shape, const RegistrationCacheParams& params, const Workload::ClientThread& thread, NameId buffer, const NameId* mrs)
      : shape_(shape), params_(params), thread_(thread), buffer_(buffer), mrs_(mrs), cache_(rules_of(params)) {}

  bool next(Op& op) override {
    while (ready_.empty())
      if (!go_on()) return false;
    const Planned planned = ready_.front();
    ready_.pop_front();
    op.clear();
    op.kind = planned.kind;
    op.actor = thread_.actor;
    switch (planned.kind) {
      case Kind::mmap:
        op.id = buffer_;
        op.mmap.length = Bytes(round_up(params_.memory.raw, Script::page_size(shape_.page).raw));
        op.mmap.page = shape_.page;
        break;
      case Kind::touch:
        op.id = buffer_;
        op.whole = op.flag = true;
        break;
      case Kind::munmap:
        op.id = buffer_;
        op.whole = true;
        break;
      case Kind::compute:
        op.number = static_cast<std::uint64_t>(params_.lookup / ns(1));
        break;
      default:
        // The name of a slot exists from the first registration on; the program is only counted without.
        op.id = op.mr = mrs_ == nullptr ? 0 : mrs_[planned.region.slot];
        op.pd = thread_.pd;
        op.address = {buffer_, planned.region.begin};
        op.length = planned.region.end - planned.region.begin;
        op.access = verbs::Access::local_write;
    }
    slots_ = std::max(slots_, planned.region.slot + 1);
    return true;
  }

  /// Registrations that existed at the same time.
  std::uint32_t slots() const { return slots_; }

 private:
  struct Planned {
    Kind kind;
    RegistrationCache::Region region;
  };

  void plan(Kind kind, const RegistrationCache::Region& region = {}) { ready_.push_back({kind, region}); }
  void drop(const std::vector<RegistrationCache::Slot>& slots) {
    for (const auto slot : slots) plan(Kind::dereg_mr, {0, 0, slot});
  }

  /// Plans what comes next; false at the end.
  bool go_on() {
    if (ended_) return false;
    if (!mapped_) {
      plan(Kind::mmap);
      plan(Kind::touch);
      mapped_ = true;
    } else if (sweep_ == params_.sweeps) {
      if (shape_.clean_up) leave();
      ended_ = true;
    } else if (at_ + shape_.block.raw > params_.memory.raw) {
      at_ = 0;
      ++sweep_;
      // The memory hooks of a cache see the munmap coming.
      if (params_.remap_every != 0 && sweep_ % params_.remap_every == 0 && sweep_ != params_.sweeps) leave();
    } else {
      if (params_.lookup != Time(0)) plan(Kind::compute);
      const auto answer = cache_.look_up(at_, at_ + shape_.block.raw);
      drop(answer.drop);
      if (!answer.hit) plan(Kind::reg_mr, answer.region);
      at_ += params_.stride.raw;
    }
    return true;
  }

  void leave() {
    drop(cache_.invalidate(0, params_.memory.raw));
    plan(Kind::munmap);
    mapped_ = false;
  }

  const Shape& shape_;
  const RegistrationCacheParams params_;
  const Workload::ClientThread& thread_;
  NameId buffer_;
  const NameId* mrs_;
  RegistrationCache cache_;
  std::deque<Planned> ready_;
  std::uint64_t at_ = 0;
  std::uint32_t sweep_ = 0, slots_ = 0;
  bool mapped_ = false, ended_ = false;
};

class CachedBlocks final : public Workload {
 public:
  CachedBlocks(const Shape& shape, const RegistrationCacheParams& params)
      : Workload("registration_cache", shape,
                 {.region = page_bytes, .client = page_bytes, .client_registered = false, .window = shape.window}),
        params_(params) {
    for (const char* what : {"dereg_mr", "munmap", "compute"}) add_use(what);
    // Every thread does the same: one of them is counted beforehand.
    Sweeps counted(this->shape(), params_, client_threads().front(), 0, nullptr);
    for (Op op; counted.next(op);) ++operations_;
    slots_ = counted.slots();
    for (const ClientThread& t : client_threads()) {
      buffers_.push_back(add_object(t.host, fmt::format("blocks{}", t.thread)));
      for (std::uint32_t i = 0; i < slots_; ++i) mrs_.push_back(add_object(t.host, fmt::format("mr{}_{}", t.thread, i)));
    }
  }

 private:
  std::unique_ptr<Cursor> work(const ClientThread& t) const override {
    return std::make_unique<Sweeps>(shape(), params_, t, buffers_[t.actor], mrs_.data() + std::uint64_t{t.actor} * slots_);
  }
  std::uint64_t work_size(const ClientThread&) const override { return operations_; }

  RegistrationCacheParams params_;
  std::uint64_t operations_ = 0;  ///< of each thread
  std::uint32_t slots_ = 0;
  std::vector<NameId> buffers_, mrs_;  ///< one, and `slots_`, for each client's thread, in their order
};

const Sections::Entrant<RegistrationCacheParams> declared;
const Workloads::Entrant entrant("registration_cache", "Blocks are looked up in a cache of registrations; nothing is sent.",
                                 [](const Config& config) {
                                   const auto [shape, params] = read_checked<RegistrationCacheParams>(config);
                                   return make_registration_cache(shape, params);
                                 });

}  // namespace

void RegistrationCacheParams::declare(Declaration<RegistrationCacheParams>& d) {
  const char* const free_choice = "a choice, not a property of hardware";
  d.section("workload", "Of the kind `registration_cache`, which posts nothing: of the QPs' keys none has an effect.");
  d.field("memory", &RegistrationCacheParams::memory)
      .standard("2MiB")
      .range("1B", "64GiB")
      .means("Memory of each thread that the blocks lie in.")
      .source("262,144 blocks at stride 8 (R5)");
  d.field("stride", &RegistrationCacheParams::stride)
      .standard("8B")
      .range("1B", "1GiB")
      .means("From one block's start to the next's.")
      .source("R5");
  d.field("granule", &RegistrationCacheParams::granule)
      .standard("4KiB")
      .range("1B", "1GiB")
      .means("A region that is registered begins and ends at multiples of it; 1B registers the block alone.")
      .source("a page: registration caches round to whole pages");
  d.field("sweeps", &RegistrationCacheParams::sweeps)
      .standard("2")
      .range("1", "1000000")
      .means("Times that each thread goes through its memory.")
      .source(free_choice);
  d.field("remap_every", &RegistrationCacheParams::remap_every)
      .standard("0")
      .range("0", "1000000")
      .means("After so many sweeps the memory is unmapped, which drops its registrations, and mapped anew; 0: never.")
      .source(free_choice);
  d.field("lookup", &RegistrationCacheParams::lookup)
      .standard("490ns")
      .range("0ns", "1ms")
      .means("CPU time of a look-up and of what the program does around it; whole nanoseconds.")
      .source("estimate (R5: an operation whose region is found)");
  d.field("most_regions", &RegistrationCacheParams::most_regions)
      .standard("0")
      .means("Regions kept at most; the least recently used goes first. 0: no limit.")
      .source("UCX: UCX_RCACHE_MAX_REGIONS is inf");
  d.field("most_bytes", &RegistrationCacheParams::most_bytes)
      .standard("0B")
      .range("0B", "16TiB")
      .means("Bytes kept registered at most, unless one region alone has more. 0: no limit.")
      .source("UCX: UCX_RCACHE_MAX_SIZE is inf");
  d.field("merge", &RegistrationCacheParams::merge)
      .standard("false")
      .means("Whether regions that touch become one; those that overlap always do.")
      .source("UCX: ucs_rcache_check_overlap");
}

std::vector<Complaint> check(const Shape& shape, const RegistrationCacheParams& params) {
  std::vector<Complaint> out;
  if (params.memory < shape.block)
    out.push_back({"memory", fmt::format("{} bytes are too few: a block has {} bytes", params.memory.raw, shape.block.raw)});
  // The look-ups are gone through beforehand, and every region has a name.
  constexpr std::uint64_t most = 100'000'000;
  const std::uint64_t blocks = ceil_div(params.memory.raw, params.stride.raw);
  if (blocks > most / params.sweeps)
    out.push_back({"sweeps", fmt::format("{} sweeps over {} blocks are more than {} look-ups", params.sweeps, blocks, most)});
  if (blocks > (std::uint64_t{1} << 24) / shape.all_threads())
    out.push_back({"stride", fmt::format("{} blocks in each of {} threads are too many: more than {} in all", blocks, shape.all_threads(),
                                         std::uint64_t{1} << 24)});
  if (params.lookup % ns(1) != Time(0)) out.push_back({"lookup", "must be whole nanoseconds, as a trace says them"});
  return out;
}

std::unique_ptr<Workload> make_registration_cache(const Shape& shape, const RegistrationCacheParams& params) {
  return std::make_unique<CachedBlocks>(shape, params);
}

}  // namespace mtsim::program
