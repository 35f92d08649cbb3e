// `chunked`: one large range is registered in chunks by several threads, on each NIC of its host, and deregistered; nothing is sent.
#include <fmt/format.h>

#include <algorithm>

#include "base/sections.h"
#include "program/workload_kinds.h"
#include "program/workload_script.h"

namespace mtsim::program {

namespace {

using Touch = ChunkedParams::Touch;

std::uint64_t chunk_bytes(const ChunkedParams& p) { return p.chunk.raw == 0 ? p.region.raw : p.chunk.raw; }
std::uint64_t chunks(const ChunkedParams& p) { return round_up(p.region.raw, chunk_bytes(p)) / chunk_bytes(p); }
/// MRs: each chunk on each NIC, all NICs of a chunk in a row.
std::uint64_t regions(const ChunkedParams& p) { return chunks(p) * p.nics; }

/// What one client has for the work.
struct Objects {
  NameId range = 0;
  std::vector<NameId> pds;  ///< by NIC; the first is the set-up's
  std::vector<NameId> mrs;
};

struct Meetings {
  std::uint32_t mapped = 0, touched = 0, registered = 0, deregistered = 0;
};

/// One thread's part. MRs are dealt out in turn: with as many threads as NICs, each thread has one of them.
class Share final : public Cursor {
 public:
  Share(const Shape& shape, const ChunkedParams& params, const Workload::ClientThread& thread, const Objects& objects,
        const Meetings& meetings)
      : params_(params), shape_(shape), thread_(thread), objects_(objects), meetings_(meetings) {}

  bool next(Op& op) override {
    for (; round_ < params_.rounds; step_ = Step::map, at_ = 0, ++round_)
      for (; step_ != Step::over; step_ = Step(unsigned(step_) + 1), at_ = 0)
        if (at_ < size(step_)) {
          make(op);
          ++at_;
          return true;
        }
    return false;
  }

  /// Operations in all.
  std::uint64_t size() {
    std::uint64_t sum = 0;
    for (round_ = 0; round_ < params_.rounds; ++round_)
      for (unsigned step = 0; step < unsigned(Step::over); ++step) sum += size(Step(step));
    return sum;
  }

 private:
  enum class Step : std::uint8_t {
    map,
    alloc_pds,
    meet_mapped,
    touch,
    meet_touched,
    reg,
    meet_registered,
    dereg,
    meet_deregistered,
    unmap,
    dealloc_pds,
    over
  };

  /// Operations of a step in this round.
  std::uint64_t size(Step step) const {
    const bool first = thread_.thread == 0;
    const std::uint64_t further = params_.nics - 1, all = regions(params_);
    switch (step) {
      case Step::map:
      case Step::unmap:
        return first ? 1 : 0;
      case Step::alloc_pds:
        return first && round_ == 0 ? further : 0;
      case Step::dealloc_pds:
        return first && round_ + 1 == params_.rounds ? further : 0;
      case Step::touch:
        return params_.touch == Touch::all ? (touch_begin() < params_.region.raw ? 1 : 0) : first && params_.touch == Touch::one ? 1 : 0;
      case Step::reg:
      case Step::dereg:
        return all / shape_.threads + (thread_.thread < all % shape_.threads ? 1 : 0);
      default:
        return 1;
    }
  }

  /// Each thread's share of the range, in whole pages.
  std::uint64_t touch_bytes() const {
    const std::uint64_t page = Script::page_size(shape_.page).raw;
    return params_.touch == Touch::one ? params_.region.raw
                                       : round_up(round_up(params_.region.raw, page) / page, shape_.threads) / shape_.threads * page;
  }
  std::uint64_t touch_begin() const { return touch_bytes() * thread_.thread; }

  void make(Op& op) const {
    op.clear();
    op.actor = thread_.actor;
    switch (step_) {
      case Step::map:
        about(op, Kind::mmap, objects_.range);
        op.mmap.length = Bytes(round_up(params_.region.raw, Script::page_size(shape_.page).raw));
        op.mmap.page = shape_.page;
        return;
      case Step::alloc_pds:
        about(op, Kind::alloc_pd, objects_.pds[at_ + 1]);
        op.word = nic_name(static_cast<std::uint32_t>(at_ + 1));
        return;
      case Step::touch:
        about(op, Kind::touch, objects_.range);
        op.offset = touch_begin();
        op.length = std::min(touch_bytes(), params_.region.raw - touch_begin());
        op.flag = true;
        return;
      case Step::reg:
        make_reg_mr(op);
        return;
      case Step::dereg:
        about(op, Kind::dereg_mr, objects_.mrs[mr()]);
        op.mr = op.id;
        return;
      case Step::unmap:
        about(op, Kind::munmap, objects_.range);
        op.whole = true;
        return;
      case Step::dealloc_pds:
        about(op, Kind::dealloc_pd, objects_.pds[at_ + 1]);
        return;
      case Step::meet_mapped:
        return meet(op, meetings_.mapped);
      case Step::meet_touched:
        return meet(op, meetings_.touched);
      case Step::meet_registered:
        return meet(op, meetings_.registered);
      case Step::meet_deregistered:
        return meet(op, meetings_.deregistered);
      case Step::over:
        return;
    }
  }

  void make_reg_mr(Op& op) const {
    about(op, Kind::reg_mr, objects_.mrs[mr()]);
    op.mr = op.id;
    op.pd = objects_.pds[mr() % params_.nics];
    op.address = {objects_.range, mr() / params_.nics * chunk_bytes(params_)};
    op.length = std::min(chunk_bytes(params_), params_.region.raw - op.address.offset);
    op.access = verbs::Access::local_write | verbs::Access::remote_read | verbs::Access::remote_write;
  }

  static void about(Op& op, Kind kind, NameId id) {
    op.kind = kind;
    op.id = id;
  }
  void meet(Op& op, std::uint32_t barrier) const {
    op.kind = Kind::barrier;
    op.barrier = barrier;
    op.count = static_cast<std::uint32_t>(shape_.all_threads());
  }
  /// The MR that is due, among those of the client.
  std::uint64_t mr() const { return at_ * shape_.threads + thread_.thread; }

  const ChunkedParams& params_;
  const Shape& shape_;
  const Workload::ClientThread& thread_;
  const Objects& objects_;
  const Meetings& meetings_;
  Step step_ = Step::map;
  std::uint64_t at_ = 0;
  std::uint32_t round_ = 0;
};

class Chunked final : public Workload {
 public:
  Chunked(const Shape& shape, const ChunkedParams& params)
      // As with `ladder`, each client has one MR beforehand.
      : Workload("chunked", shape, {.region = page_bytes, .client = page_bytes, .client_registered = true, .window = shape.window}),
        params_(params),
        meetings_{add_barrier("mapped"), add_barrier("touched"), add_barrier("registered"), add_barrier("deregistered")} {
    for (const char* what : {"dereg_mr", "munmap"}) add_use(what);
    if (params.nics > 1) {
      add_use("alloc_pd dev=");
      add_use("dealloc_pd");
    }
    for (const ClientThread& t : client_threads()) {
      if (t.thread != 0) continue;
      Objects& o = objects_.emplace_back();
      o.range = add_object(t.host, "range");
      o.pds.push_back(t.pd);
      for (std::uint32_t nic = 1; nic < params.nics; ++nic) o.pds.push_back(add_object(t.host, "pd_" + nic_name(nic), Space::pd));
      for (std::uint64_t mr = 0; mr < regions(params); ++mr)
        o.mrs.push_back(add_object(t.host, fmt::format("mr{}_{}", mr / params.nics, mr % params.nics)));
    }
  }

  std::vector<Phase> phases() const override {
    std::vector<Phase> out;
    if (params_.touch != Touch::none) out.push_back({"touch", meetings_.mapped, meetings_.touched});
    out.push_back({"registration", meetings_.touched, meetings_.registered});
    out.push_back({"deregistration", meetings_.registered, meetings_.deregistered});
    return out;
  }
  /// The last of the NICs stands for all: a host that has it has those before.
  std::vector<NicUse> nics() const override {
    std::vector<NicUse> out;
    for (const ClientThread& t : client_threads())
      if (t.thread == 0 && params_.nics > 1) out.push_back({t.host, nic_name(params_.nics - 1), "workload.nics"});
    return out;
  }

 private:
  std::unique_ptr<Cursor> work(const ClientThread& t) const override {
    return std::make_unique<Share>(shape(), params_, t, objects_[t.client], meetings_);
  }
  std::uint64_t work_size(const ClientThread& t) const override { return Share(shape(), params_, t, objects_[t.client], meetings_).size(); }

  ChunkedParams params_;
  Meetings meetings_;
  std::vector<Objects> objects_;  ///< by client
};

const Sections::Entrant<ChunkedParams> declared;
const Workloads::Entrant entrant("chunked", "A large range is registered in chunks by several threads on each NIC; nothing is sent.",
                                 [](const Config& config) {
                                   const auto [shape, params] = read_checked<ChunkedParams>(config);
                                   return make_chunked(shape, params);
                                 });

}  // namespace

void ChunkedParams::declare(Declaration<ChunkedParams>& d) {
  const char* const free_choice = "a choice, not a property of hardware";
  d.section("workload", "Of the kind `chunked`, which posts nothing: of the QPs' keys none has an effect.");
  d.field("region", &ChunkedParams::region)
      .standard("1GiB")
      .range("4KiB", "1TiB")
      .means("Bytes of the range that each client registers, as a whole, on each of its NICs.")
      .source(free_choice);
  d.field("chunk", &ChunkedParams::chunk)
      .standard("0B")
      .range("0B", "1TiB")
      .means(
          "Bytes of each MR; the last may be smaller. 0: one MR for all of the range. The MRs of all NICs are dealt out to the threads in "
          "turn.")
      .source("UCX registers in chunks when it registers with several threads (C04)");
  d.field("nics", &ChunkedParams::nics)
      .standard("1")
      .range("1", "16")
      .means("NICs of each client that the range is registered on; host.nics says how many there are.")
      .source(free_choice);
  d.choice("touch", &ChunkedParams::touch, {{"none", Touch::none}, {"one", Touch::one}, {"all", Touch::all}})
      .standard("all")
      .means("Who writes every page beforehand: nobody, so that registering meets absent pages; one thread; or all, a share each.")
      .source(free_choice);
  d.field("rounds", &ChunkedParams::rounds)
      .standard("1")
      .range("1", "1000000")
      .means("Times that the range is mapped, touched, registered, deregistered and unmapped.")
      .source(free_choice);
}

std::vector<Complaint> check(const Shape& shape, const ChunkedParams& params) {
  std::vector<Complaint> out;
  // Every MR has a name; no NIC has more keys.
  constexpr std::uint64_t most_keys = std::uint64_t{1} << 24;
  if (params.chunk.raw % page_bytes.raw != 0) out.push_back({"chunk", "must be whole pages of 4KiB"});
  if (const std::uint64_t each = chunks(params); each > most_keys / params.nics / shape.clients)
    out.push_back({"chunk", fmt::format("{} MRs on each of {} NICs of {} clients are too many: more than {} in all", each, params.nics,
                                        shape.clients, most_keys)});
  return out;
}

std::unique_ptr<Workload> make_chunked(const Shape& shape, const ChunkedParams& params) { return std::make_unique<Chunked>(shape, params); }

}  // namespace mtsim::program
