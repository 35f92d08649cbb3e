// The meaning of each key: which part of the operation its value goes to.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include "program/trace_parser.h"

namespace mtsim::program {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
constexpr Range bytes{.units = true};

/// Path MTUs: a code of verbs (1 to 5) or the bytes that it stands for; 0 for neither.
std::uint64_t mtu_bytes(std::uint64_t given) {
  if (given >= 1 && given <= 5) return std::uint64_t{128} << given;
  return given >= 256 && given <= 4096 && std::has_single_bit(given) ? given : 0;
}

}  // namespace

bool LineParser::read_request(Key key, std::string_view text, Op& op) {
  switch (key) {
    case Key::wr:
      op.has_wr = true;
      return values_.number(text, op.wr);
    case Key::key:
      return values_.key(text, op.new_key);
    case Key::sge:
      if (op.kind == Kind::create_srq) return values_.number(text, op.sge_limit);
      return values_.sges(text, op.sges, verbs::has(op.flags, verbs::Send::inline_data));
    case Key::to:
      return read_destination(text, op);
    case Key::ud:
      return values_.peer(text, op.ud);
    case Key::imm:
      op.has_immediate = true;
      return values_.number(text, op.immediate);
    case Key::inv:
      return values_.key(text, op.inv);
    case Key::cmp:
      return values_.number(text, op.compare);
    case Key::swp:
      return values_.number(text, op.swap);
    case Key::add:
      return values_.number(text, op.add);
    case Key::n:
      if (op.kind == Kind::dma) return values_.number(text, op.dma.count, {.low = 1});
      return values_.number(text, op.count, {.low = 1});
    case Key::wait:
      if (text != "spin" && text != "event")
        return values_.fail(text, [&] { return fmt::format("{} must be spin or event", quote(text)); });
      op.wait = text == "event" ? verbs::Wait::event : verbs::Wait::spin;
      return true;
    case Key::idle:
      op.idle = true;
      return values_.number(text, op.number, {.high = longest_ns});
    case Key::hazard: {
      int found = 0;
      if (!values_.word(text, hazard_words(), "a hazard", found)) return false;
      op.hazard = static_cast<Op::Hazard>(found + 1);
      return true;
    }
    default:
      return read_object(key, text, op);
  }
}

bool LineParser::read_object(Key key, std::string_view text, Op& op) {
  switch (key) {
    case Key::pd:
      return values_.own(text, Wanted::pd, op.pd);
    case Key::dev:
      if (!is_name(text)) return values_.fail(text, [&] { return fmt::format("{} is not the name of a NIC", quote(text)); });
      op.word = text;
      return true;
    case Key::qp:
      return values_.own(text, Wanted::qp, op.qp);
    case Key::mr:
      return values_.own(text, Wanted::region, op.mr);
    case Key::mw:
      return values_.own(text, Wanted::window, op.mw);
    case Key::scq:
      return values_.own(text, Wanted::cq, op.cq);
    case Key::rcq:
      return values_.own(text, Wanted::cq, op.recv_cq);
    case Key::srq:
      return values_.own(text, Wanted::srq, op.srq);
    case Key::type:
      if (op.kind == Kind::dma) return values_.word(text, dma_words(), "a kind of transfer", op.dma.kind);
      if (op.kind == Kind::alloc_mw) return values_.number(text, op.mw_type, {.low = 1, .high = 2});
      return values_.word(text, qp_type_words(), "a type of QP", op.create_qp.type);
    case Key::addr:
      return values_.address(text, op.address);
    case Key::len:
      if (op.kind == Kind::mmap) return values_.number(text, op.mmap.length.raw, bytes);
      if (op.kind == Kind::dma) return values_.number(text, op.dma.length.raw, {.low = 1, .units = true});
      op.whole = op.kind == Kind::reg_mr && text == "all";
      return op.whole || values_.number(text, op.length, bytes);
    case Key::access:
      if (op.kind == Kind::create_qp) return values_.access(text, op.create_qp.access);
      op.has_access = true;
      return values_.access(text, op.access);
    case Key::iova:
      op.has_iova = true;
      return values_.number(text, op.iova);
    case Key::max:
      return values_.number(text, op.number, {.high = std::numeric_limits<std::uint32_t>::max()});
    case Key::depth:
      if (op.kind == Kind::dma) return values_.number(text, op.dma.depth, {.low = 1});
      return values_.number(text, op.depth);
    case Key::flush:
      return values_.flag(text, op.flag);
    case Key::state:
      if (text != "sqd" && text != "sqe") return values_.word(text, qp_state_words(), "a state of a QP", op.state);
      return values_.fail(text, [&] { return fmt::format("{} cannot be asked for: reset, init, rtr, rts or err", quote(text)); });
    default:
      return read_memory(key, text, op);
  }
}

bool LineParser::read_memory(Key key, std::string_view text, Op& op) {
  switch (key) {
    case Key::window:
      return values_.number(text, op.dma.window.raw, {.low = 1, .units = true});
    case Key::seed:
      return values_.number(text, op.dma.seed);
    case Key::cache:
      return values_.word(text, cache_words(), "a state of the caches", op.dma.cache);
    case Key::by:
      if (text != "engine" && text != "core")
        return values_.fail(text, [&] { return fmt::format("{} must be engine or core", quote(text)); });
      op.dma.direct = text == "core";
      return true;
    case Key::off:
      return values_.number(text, op.offset, bytes);
    case Key::page:
      return values_.word(text, page_words(), "a page size", op.mmap.page);
    case Key::prot: {
      int found = 0;
      if (!values_.word(text, prot_words(), "a protection", found)) return false;
      if (op.kind == Kind::mprotect) op.word = text;
      op.mmap.writable = found == 0;
      op.mmap.readable = found <= 1;
      return true;
    }
    case Key::share:
      if (text != "private" && text != "shared")
        return values_.fail(text, [&] { return fmt::format("{} must be private or shared", quote(text)); });
      op.mmap.shared = text == "shared";
      return true;
    case Key::backing:
      return values_.word(text, backing_words(), "a backing", op.mmap.backing);
    case Key::populate:
      return values_.flag(text, op.mmap.populate);
    case Key::align:
      return values_.number(text, op.mmap.align.raw, {.low = 1, .units = true});
    case Key::at:
      return values_.number(text, op.mmap.at.raw, bytes);
    case Key::write:
      return values_.flag(text, op.flag);
    case Key::safe:
      return values_.flag(text, op.flag);
    case Key::limit:
      op.number = most;
      return text == "unlimited" || values_.number(text, op.number, bytes);
    case Key::advice: {
      int found = 0;
      if (!values_.word(text, madvise_words(), "an advice", found)) return false;
      op.word = text;
      return true;
    }
    default:
      return read_qp(key, text, op);
  }
}

bool LineParser::read_qp(Key key, std::string_view text, Op& op) {
  constexpr Range code5{.high = 31}, code3{.high = 7}, octet{.high = 255};
  verbs::CreateQpRequest& qp = op.create_qp;
  switch (key) {
    case Key::sq:
      return values_.number(text, qp.sq_depth);
    case Key::rq:
      return values_.number(text, qp.rq_depth);
    case Key::send_sge:
      return values_.number(text, qp.send_sge);
    case Key::recv_sge:
      return values_.number(text, qp.recv_sge);
    case Key::inline_:
      return values_.number(text, qp.inline_bytes, bytes);
    case Key::sig_all:
      return values_.flag(text, qp.signal_all);
    case Key::timeout:
      return values_.number(text, qp.timeout, code5);
    case Key::retry:
      return values_.number(text, qp.retry, code3);
    case Key::rnr_retry:
      return values_.number(text, qp.rnr_retry, code3);
    case Key::rnr_timer:
      return values_.number(text, qp.rnr_timer, code5);
    case Key::rd_atomic:
      return values_.number(text, qp.rd_atomic, octet);
    case Key::dest_rd_atomic:
      return values_.number(text, qp.dest_rd_atomic, octet);
    case Key::mtu: {
      std::uint64_t given = 0;
      if (!values_.number(text, given)) return false;
      qp.mtu = Bytes(mtu_bytes(given));
      if (qp.mtu.raw > 0) return true;
      return values_.fail(
          text, [&] { return fmt::format("{} is not an MTU: 256, 512, 1024, 2048 or 4096 bytes, or their codes 1 to 5", quote(text)); });
    }
    default:
      assert(false && "check_keys lets no other key through");
      return false;
  }
}

bool LineParser::read_flags(std::string_view text, Op& op) {
  if (op.kind == Kind::post_send) return values_.send_flags(text, op.flags, op.more);
  op.more = text == "more";
  return op.more || values_.fail(text, [&] { return fmt::format("{}: a receive has no flag but more", quote(text)); });
}

bool LineParser::read_destination(std::string_view text, Op& op) {
  if (op.kind == Kind::connect) return values_.peer(text, op.peer);
  if (op.kind == Kind::copy) return values_.own(text, Wanted::buffer, op.peer);
  op.has_to = true;
  const bool empty = std::all_of(op.sges.begin(), op.sges.end(), [](const SgeRef& sge) { return sge.length == 0; });
  return values_.remote(text, op.to, op.to_key, empty);
}

}  // namespace mtsim::program
