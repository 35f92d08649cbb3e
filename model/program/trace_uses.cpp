#include "program/trace_uses.h"

#include <array>

namespace mtsim::program {

enum class UseList::Feature : std::uint8_t {
  qp_uc,
  qp_ud,
  qp_srq,
  poll_event,
  poll_hazard,
  mmap_file,
  mmap_io,
  mmap_prot,
  mmap_shared,
  mr_on_demand,
  mr_zero_based,
  mr_huge,
  mr_implicit,
  mr_iova,
  send_fence,
  send_ud,
  post_implicit,
  pd_dev,
};

namespace {

constexpr std::array<std::string_view, 18> feature_names{"create_qp type=uc",
                                                         "create_qp type=ud",
                                                         "create_qp srq=",
                                                         "poll wait=event",
                                                         "poll hazard=",
                                                         "mmap backing=file",
                                                         "mmap backing=io",
                                                         "mmap prot=",
                                                         "mmap share=shared",
                                                         "reg_mr access=od",
                                                         "reg_mr access=zb",
                                                         "reg_mr access=ht",
                                                         "reg_mr implicit",
                                                         "reg_mr iova=",
                                                         "post_send flags=fence",
                                                         "post_send ud=",
                                                         "work request with the key of an implicit MR",
                                                         "alloc_pd dev="};

/// Marks a bit; true the first time.
bool first(std::uint64_t& seen, unsigned number) {
  const std::uint64_t bit = std::uint64_t{1} << number;
  const bool fresh = (seen & bit) == 0;
  seen |= bit;
  return fresh;
}

}  // namespace

void UseList::note(const LineParser& line, const Op& op) {
  if (first(kinds_, static_cast<unsigned>(op.kind))) add(std::string(name(op.kind)), op, line.kind_column());
  if (op.kind == Kind::post_send && first(opcodes_, static_cast<unsigned>(op.opcode)))
    add("post_send " + std::string(verbs::name(op.opcode)), op, line.opcode_column());
  note_features(line, op);
  if (!implicit_.empty() && posts(op.kind)) note_implicit_keys(line, op);
}

/// Work requests with an MR that lines further up make an implicit one. What this does not see ends the run when it comes to it.
void UseList::note_implicit_keys(const LineParser& line, const Op& op) {
  const auto implicit = [&](const AddressRef& address, const KeyRef& key) {
    const NameId id = key.form == KeyRef::Form::omitted ? address.object : key.object;
    return id != 0 && implicit_.contains(id);
  };
  for (const SgeRef& sge : op.sges)
    if (!verbs::has(op.flags, verbs::Send::inline_data) && implicit(sge.address, sge.key))
      add(Feature::post_implicit, op, line.column(Key::sge));
  if (op.has_to && implicit(op.to, op.to_key)) add(Feature::post_implicit, op, line.column(Key::to));
}

void UseList::note_features(const LineParser& line, const Op& op) {
  switch (op.kind) {
    case Kind::create_srq:
      note_queue(line, op);
      return;
    case Kind::create_qp:
      note_queue(line, op);
      if (op.create_qp.type == verbs::QpType::uc) add(Feature::qp_uc, op, line.column(Key::type));
      if (op.create_qp.type == verbs::QpType::ud) add(Feature::qp_ud, op, line.column(Key::type));
      if (op.srq) add(Feature::qp_srq, op, line.column(Key::srq));
      return;
    case Kind::poll:
      if (op.wait == verbs::Wait::event) add(Feature::poll_event, op, line.column(Key::wait));
      if (op.hazard != Op::Hazard::unsaid) add(Feature::poll_hazard, op, line.column(Key::hazard));
      return;
    case Kind::mmap:
      if (op.mmap.backing == verbs::Backing::file) add(Feature::mmap_file, op, line.column(Key::backing));
      if (op.mmap.backing == verbs::Backing::io) add(Feature::mmap_io, op, line.column(Key::backing));
      if (!op.mmap.writable) add(Feature::mmap_prot, op, line.column(Key::prot));
      if (op.mmap.shared) add(Feature::mmap_shared, op, line.column(Key::share));
      return;
    case Kind::reg_mr:
      note_registration(line, op);
      return;
    case Kind::rereg_mr:
      if (verbs::has(op.access, verbs::Access::on_demand)) add(Feature::mr_on_demand, op, line.column(Key::access));
      return;
    case Kind::post_send:
      if (verbs::has(op.flags, verbs::Send::fence)) add(Feature::send_fence, op, line.column(Key::flags));
      if (op.ud) add(Feature::send_ud, op, line.column(Key::ud));
      return;
    case Kind::alloc_pd:
      if (line.has(Key::dev)) note_nic(line, op);
      return;
    default:
      return;
  }
}

void UseList::note_registration(const LineParser& line, const Op& op) {
  using verbs::Access;
  if (verbs::has(op.access, Access::on_demand)) add(Feature::mr_on_demand, op, line.column(Key::access));
  if (verbs::has(op.access, Access::zero_based)) add(Feature::mr_zero_based, op, line.column(Key::access));
  if (verbs::has(op.access, Access::huge_tlb)) add(Feature::mr_huge, op, line.column(Key::access));
  if (op.whole) {
    add(Feature::mr_implicit, op, line.column(Key::len));
    implicit_.insert(op.id);
  } else if (!implicit_.empty()) {
    implicit_.erase(op.id);
  }
  if (op.has_iova) add(Feature::mr_iova, op, line.column(Key::iova));
}

void UseList::note_nic(const LineParser& line, const Op& op) {
  add(Feature::pd_dev, op, line.column(Key::dev));
  const std::uint32_t host = names_.actors()[op.actor].host;
  if (known_nics_.emplace(host, op.word).second) nics_.push_back({host, op.word, place(file_, op.line, line.column(Key::dev))});
  if (nic_number(op.word) != 0u) pds_[op.id].elsewhere = true;
}

void UseList::note_queue(const LineParser& line, const Op& op) {
  PdUse& pd = pds_[op.pd];
  if (pd.line == 0) pd = {pd.elsewhere, op.line, line.column(Key::pd), op.kind};
}

std::vector<Program::Use> UseList::take() {
  const PdUse* first = nullptr;
  for (const auto& [pd, use] : pds_)
    if (use.elsewhere && use.line != 0 && (first == nullptr || use.line < first->line)) first = &use;
  if (first != nullptr)
    uses_.push_back({std::string(name(first->kind)) + " on another NIC than nic0", place(file_, first->line, first->column)});
  return std::move(uses_);
}

void UseList::add(Feature feature, const Op& op, std::uint32_t column) {
  const auto number = static_cast<unsigned>(feature);
  if (first(features_, number)) add(std::string(feature_names[number]), op, column);
}

void UseList::add(std::string what, const Op& op, std::uint32_t column) {
  uses_.push_back({std::move(what), place(file_, op.line, column)});
}

}  // namespace mtsim::program
