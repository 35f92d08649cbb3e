// Does each provider refuse at the post what it refuses in life, with its errno, and nothing else? One case a row of the table of immediate
// errors; the answers are written out here from the providers' sources and from measurements.
#include "verbs/posting.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "user/receive_queue.h"
#include "user/send_queue.h"
#include "verbs/window.h"

using namespace mtsim;
using namespace mtsim::verbs;

namespace {

/// Errno values of one situation by provider; 0: it is posted. What is not listed answers as mlx5.
using Answers = std::map<std::string, int>;

struct Post {
  SendQueueView queue{QpType::rc, true, 8, 4, 64};
  SendRequest request;
  std::vector<Sge> sges = std::vector<Sge>(1, Sge{0x1000, 64, Key(7)});
  Bind bind;

  int answer(const std::string& rules) {
    request.sges = sges;
    return check_post_send(queue, request, *RuleSets::make(rules)).error;
  }
};

int expected(const Answers& answers, const std::string& rules) {
  const auto found = answers.find(rules);
  return found != answers.end() ? found->second : answers.at("mlx5");
}

void require_sends(const Answers& answers, Post post) {
  for (const std::string& rules : RuleSets::names()) {
    CAPTURE(rules);
    CHECK(std::string(errno_name(post.answer(rules))) == errno_name(expected(answers, rules)));
  }
}

void require_receives(const Answers& answers, const ReceiveQueueView& queue, std::size_t elements) {
  const std::vector<Sge> sges(elements);
  for (const std::string& rules : RuleSets::names()) {
    CAPTURE(rules);
    const Refused refused = check_post_recv(queue, {1, sges}, *RuleSets::make(rules));
    CHECK(std::string(errno_name(refused.error)) == errno_name(expected(answers, rules)));
  }
}

void require_binds(const Answers& answers, const BindMwRequest& request, const WindowView& window, const RegionView* region) {
  for (const std::string& rules : RuleSets::names()) {
    CAPTURE(rules);
    const Refused refused = check_bind_mw(request, window, region, *RuleSets::make(rules));
    CHECK(std::string(errno_name(refused.error)) == errno_name(expected(answers, rules)));
  }
}

Post with(Opcode opcode, QpType type = QpType::rc) {
  Post post;
  post.queue.type = type;
  post.request.opcode = opcode;
  return post;
}

/// Neither a program's library nor what it passes posts on to looks at it, but for hns.
const Answers einval_on_hns{{"mlx5", 0}, {"hns", EINVAL}};

}  // namespace

TEST_CASE("a send to a QP that was not set to RTS", "[rule:6.1]") {
  Post post;
  post.queue.ready = false;
  require_sends(
      {{"mlx5", ENOMEM}, {"mlx4", 0}, {"irdma", 0}, {"hns", EINVAL}, {"rxe-6.1", EINVAL}, {"rxe-6.12", EINVAL}, {"siw", ENOTCONN}}, post);
}

TEST_CASE("a receive of a QP in RESET", "[rule:6.2]") {
  require_receives({{"mlx5", EINVAL}, {"mlx4", 0}, {"irdma", 0}, {"siw", 0}}, {false, false, 8, 4}, 1);
}

TEST_CASE("a QP in ERR takes both, as one that is ready", "[rule:6.3]") {
  user::SendQueue sends(Pa(0), *user::SendCapacity::grant(4, 1, 0), false);
  user::ReceiveQueue receives(Pa(0), *user::ReceiveCapacity::grant(4, 1, false));
  sends.set_ready(true);
  receives.set_ready(true);
  const SendRequest send;
  const RecvRequest receive;
  CHECK(sends.post({&send, 1}, Time(), Time(), Time()).error == 0);
  CHECK(receives.post({&receive, 1}).error == 0);
}

TEST_CASE("a full queue", "[rule:6.4]") {
  Post post;
  post.queue.free = 0;
  require_sends({{"mlx5", ENOMEM}}, post);
  require_receives({{"mlx5", ENOMEM}}, {false, true, 0, 4}, 1);
  require_receives({{"mlx5", ENOMEM}}, {true, true, 0, 4}, 1);
}

TEST_CASE("more elements than the queue was made for", "[rule:6.5]") {
  Post post;
  post.sges.resize(5);
  require_sends({{"mlx5", ENOMEM}, {"rxe-6.1", EINVAL}, {"rxe-6.12", EINVAL}, {"siw", EINVAL}, {"irdma", EINVAL}, {"hns", EINVAL}}, post);
  require_receives({{"mlx5", EINVAL}, {"mlx4", ENOMEM}}, {false, true, 8, 4}, 5);
  require_receives({{"mlx5", EINVAL}, {"mlx4", ENOMEM}}, {true, true, 8, 4}, 5);
}

TEST_CASE("an opcode that the provider does not have", "[rule:6.6]") {
  for (const Opcode opcode : {Opcode::send_imm, Opcode::write_imm}) require_sends({{"mlx5", 0}, {"siw", EINVAL}}, with(opcode));
  for (const Opcode opcode : {Opcode::cas, Opcode::faa}) require_sends({{"mlx5", 0}, {"siw", EINVAL}, {"irdma", EINVAL}}, with(opcode));
  require_sends({{"mlx5", 0}}, with(Opcode::send_inv));
}

TEST_CASE("an opcode that the type of the QP does not have", "[rule:6.7]") {
  require_sends(einval_on_hns, with(Opcode::read, QpType::uc));
  require_sends(einval_on_hns, with(Opcode::write, QpType::ud));
  require_sends({{"mlx5", 0}}, with(Opcode::write, QpType::uc));
  require_sends({{"mlx5", 0}}, with(Opcode::send, QpType::ud));
}

TEST_CASE("more inline data than the queue was made for", "[rule:6.8]") {
  Post post;
  post.request.flags = Send::inline_data;
  post.sges = {{0, 60, Key()}, {0, 4, Key()}};
  require_sends({{"mlx5", 0}}, post);
  post.sges[1].length = 5;
  require_sends({{"mlx5", ENOMEM}, {"rxe-6.1", EINVAL}, {"rxe-6.12", EINVAL}, {"siw", EINVAL}, {"irdma", EINVAL}, {"hns", EINVAL}}, post);
}

TEST_CASE("inline with what sends no data", "[rule:6.9]") {
  Post post = with(Opcode::read);
  post.request.flags = Send::inline_data;
  require_sends(einval_on_hns, post);
  Post atomic = with(Opcode::cas);
  atomic.request.flags = Send::inline_data;
  require_sends({{"mlx5", 0}, {"hns", EINVAL}, {"siw", EINVAL}, {"irdma", EINVAL}}, atomic);
}

TEST_CASE("atomics: less than 8 bytes for the answer, a word that is not aligned", "[rule:6.10]") {
  const Answers answers{{"mlx5", 0}, {"rxe-6.1", EINVAL}, {"rxe-6.12", EINVAL}, {"siw", EINVAL}, {"irdma", EINVAL}};
  for (const Opcode opcode : {Opcode::cas, Opcode::faa}) {
    Post post = with(opcode);
    post.sges[0].length = 4;
    require_sends(answers, post);
    post.sges[0].length = 8;
    require_sends({{"mlx5", 0}, {"siw", EINVAL}, {"irdma", EINVAL}}, post);
    post.request.remote_address = 0x1004;
    require_sends(answers, post);
  }
}

TEST_CASE("elements of more than 2^31 bytes together", "[rule:6.11]") {
  Post post;
  post.sges = {{0, 1u << 31, Key()}, {0, 1, Key()}};
  require_sends({{"mlx5", 0}}, post);
}

TEST_CASE("a window of more than 2^31 bytes", "[rule:6.12]") {
  Post post = with(Opcode::bind_mw);
  post.sges.clear();
  post.request.bind = &post.bind;
  for (const auto& [length, error] : {std::pair(1ull << 31, 0), std::pair((1ull << 31) + 1, EOPNOTSUPP)}) {
    post.bind.length = Bytes(length);
    Post copy = post;
    copy.request.bind = &copy.bind;
    for (const std::string& rules : RuleSets::names()) {
      CAPTURE(rules, length);
      const bool rxe = rules.starts_with("rxe");
      CHECK(copy.answer(rules) == (rules == "siw" ? EINVAL : rxe || rules == "mlx4" ? 0 : error));
    }
  }
}

TEST_CASE("a bind with elements, a bind on a datagram QP", "[rule:6.13]") {
  const Bind bind;
  Post post = with(Opcode::bind_mw);
  post.request.bind = &bind;
  require_sends({{"mlx5", 0}, {"rxe-6.1", EINVAL}, {"rxe-6.12", EINVAL}, {"siw", EINVAL}}, post);
  post.sges.clear();
  require_sends({{"mlx5", 0}, {"siw", EINVAL}}, post);
  post.queue.type = QpType::ud;
  require_sends({{"mlx5", 0}, {"rxe-6.1", EINVAL}, {"rxe-6.12", EINVAL}, {"siw", EINVAL}, {"hns", EINVAL}}, post);
}

TEST_CASE("ibv_bind_mw: what is refused before anything is posted", "[rule:6.14]") {
  BindMwRequest request;
  request.mw = 1;
  request.qp = 2;
  request.mr = 3;
  request.address = Iova(0x1000);
  request.length = KiB(4);
  request.access = Access::remote_write;
  const WindowView window{7, 1};
  const RegionView region{7, Access::local_write | Access::mw_bind};
  require_binds({{"mlx5", 0}}, request, window, &region);
  require_binds({{"mlx5", EINVAL}}, request, {7, 2}, &region);
  require_binds({{"mlx5", EINVAL}}, request, window, nullptr);
  const RegionView elsewhere{8, region.access}, zero_based{7, region.access | Access::zero_based};
  require_binds({{"mlx5", EPERM}}, request, window, &elsewhere);
  require_binds({{"mlx5", EINVAL}}, request, window, &zero_based);
  request.access = Access::remote_write | Access::zero_based;
  require_binds({{"mlx5", EINVAL}}, request, window, &region);
  // The form comes before the PDs.
  require_binds({{"mlx5", EINVAL}}, request, window, &elsewhere);
  // Unbinding by naming no MR.
  request = {};
  request.mw = 1;
  request.qp = 2;
  require_binds({{"mlx5", 0}}, request, window, nullptr);
}

TEST_CASE("keys, ranges and rights are never looked at", "[rule:6.15]") {
  Post post;
  post.sges = {{~std::uint64_t{0}, 64, Key()}};
  post.request.rkey = Key(0xdead'beef);
  post.request.remote_address = ~std::uint64_t{0};
  require_sends({{"mlx5", 0}}, post);
}

TEST_CASE("where several things are wrong, the provider's first look decides") {
  Post post;
  post.queue.free = 0;
  post.sges.resize(5);
  const auto answer = [&](const std::string& rules) {
    post.request.sges = post.sges;
    return check_post_send(post.queue, post.request, *RuleSets::make(rules));
  };
  CHECK(answer("mlx5").check == PostCheck::room);
  CHECK(answer("rxe-6.1").check == PostCheck::elements);
  CHECK(answer("rxe-6.1").error == EINVAL);
  post.sges.resize(1);
  post.queue.ready = false;
  CHECK(answer("rxe-6.1").check == PostCheck::room);  // the kernel, which knows the state, is asked last
  CHECK(answer("mlx5").check == PostCheck::room);
  post.queue.free = 1;
  CHECK(answer("rxe-6.1").check == PostCheck::state);
  // A shared queue of mlx5 looks at the elements first, a QP's own at the room.
  const std::vector<Sge> five(5);
  CHECK(check_post_recv({true, true, 0, 4}, {1, five}, ib_rules()).error == EINVAL);
  CHECK(check_post_recv({false, true, 0, 4}, {1, five}, ib_rules()).error == ENOMEM);
}

TEST_CASE("what needs no further look is what the whole check lets through") {
  for (const std::string& name : RuleSets::names())
    for (const QpType type : {QpType::rc, QpType::uc, QpType::ud}) {
      const auto rules = RuleSets::make(name);
      const PlainOpcodes plain = plain_opcodes(type, *rules);
      for (unsigned i = 0; i < unsigned(Opcode::recv); ++i) {
        const auto opcode = static_cast<Opcode>(i);
        CAPTURE(name, verbs::name(type), verbs::name(opcode));
        const Bind bind;
        Post post = with(opcode, type);
        post.sges = {{0, 3, Key()}};
        post.request.remote_address = 1;
        if (opcode == Opcode::bind_mw) post.request.bind = &bind;
        if (plain.gathered.has(opcode)) CHECK(post.answer(name) == 0);
        post.request.flags = Send::inline_data;
        if (plain.inlined.has(opcode)) CHECK(post.answer(name) == 0);
      }
    }
  // The ordinary ones are among them wherever sums of lengths are nobody's business.
  for (const Opcode opcode : {Opcode::write, Opcode::read, Opcode::send}) CHECK(plain_opcodes(QpType::rc, ib_rules()).gathered.has(opcode));
}

TEST_CASE("send queues refuse and accept by the rules that they were given") {
  for (const std::string& name : RuleSets::names()) {
    CAPTURE(name);
    const std::shared_ptr<const Rules> rules = RuleSets::make(name);
    const auto capacity = user::SendCapacity::grant(4, 2, 32, rules->posting);
    user::SendQueue queue(Pa(0), *capacity, false, QpType::uc, rules);
    queue.set_ready(true);
    for (const Opcode opcode : {Opcode::write, Opcode::read, Opcode::cas, Opcode::send_imm, Opcode::send}) {
      CAPTURE(verbs::name(opcode));
      const Sge sge{0x1000, 8, Key(7)};
      SendRequest request;
      request.opcode = opcode;
      request.sges = {&sge, 1};
      const SendQueueView view{QpType::uc, true, 1, capacity->sges, capacity->inline_bytes};
      CHECK(queue.post({&request, 1}, Time(), Time(), Time()).error == check_post_send(view, request, *rules).error);
      queue.reset();
    }
  }
}

TEST_CASE("rxe grants one less than a power of two, and one place for elements and inline data") {
  const Rules::Posting rxe = RuleSets::make("rxe-6.12")->posting;
  const auto sends = user::SendCapacity::grant(16, 4, 0, rxe);
  REQUIRE(sends.has_value());
  CHECK(sends->requests == 31);  // measured on Linux 6.12
  CHECK(sends->inline_bytes == 64);
  CHECK(sends->sges == 4);
  CHECK(user::SendCapacity::grant(31, 1, 0, rxe)->requests == 31);
  CHECK(user::SendCapacity::grant(32, 1, 0, rxe)->requests == 63);
  CHECK(user::SendCapacity::grant(16, 1, 64, rxe)->sges == 4);
  CHECK(user::ReceiveCapacity::grant(16, 1, false, rxe)->requests == 31);
  CHECK(user::ReceiveCapacity::grant(16, 1, false)->requests == 16);
}

TEST_CASE("a bind, an invalidation, a SEND that invalidates: what stands in the ring, and how much room it takes") {
  user::SendQueue queue(Pa(0), *user::SendCapacity::grant(8, 4, 0), false);
  queue.set_ready(true);
  const auto post = [&](const SendRequest& request) -> const ports::Wqe& {
    REQUIRE(queue.post({&request, 1}, Time(), Time(), Time()).error == 0);
    return queue.ring()->at(queue.producer() - 1);
  };
  Bind bind{Key(0x51fe), Key(0x51ff), Key(0x77), Iova(0x1'0000'0000'0004), Bytes(5ull << 20), Access::remote_read | Access::zero_based,
            false};
  SendRequest request;
  request.opcode = Opcode::bind_mw;
  request.bind = &bind;
  const ports::Wqe& bound = post(request);
  CHECK(bound.basic_blocks == 3);  // 16 + 48 + 64 + 64 bytes
  CHECK(bound.length == 0);
  CHECK(bound.sge_count == 0);
  const Bind found = ports::bind_of(bound);
  CHECK(found.window == bind.window);
  CHECK(found.new_key == bind.new_key);
  CHECK(found.region == bind.region);
  CHECK(found.address == bind.address);
  CHECK(found.length == bind.length);
  CHECK(found.access == bind.access);
  CHECK_FALSE(found.by_call);
  bind.length = Bytes(0);
  CHECK(post(request).basic_blocks == 2);  // no list
  request = {};
  request.opcode = Opcode::local_inv;
  request.rkey = Key(0x51ff);
  CHECK(post(request).basic_blocks == 2);
  CHECK(post(request).rkey == Key(0x51ff));
  const Sge sge{0x1000, 64, Key(7)};
  request.opcode = Opcode::send_inv;
  request.sges = {&sge, 1};
  request.meant = 9;
  const ports::Wqe& send = post(request);
  CHECK(send.basic_blocks == 1);
  CHECK(send.rkey == Key(0x51ff));
  CHECK(send.length == 64);
  CHECK(send.meant == 9);
}

TEST_CASE("rxe judges a window by the bounds of its MR, zero-based or not", "[rule:10.15]") {
  const auto rxe = RuleSets::make("rxe-6.1");
  const Grant region{Key(0x100), 1, Access::local_write | Access::mw_bind, Iova(0x7000'0000'0000), KiB(64), true};
  const Grant window = unbound(Key(0x200), 1, 2);
  Bind bind{Key(0x200), Key(0x201), Key(0x100), Iova(0x7000'0000'2000), KiB(4), Access::remote_write | Access::zero_based, false};
  const auto judged = [&](std::uint64_t address, Bytes length) {
    const Grant grant = bound(bind, window, &region, 5, *rxe);
    const Wish wish{Key(0x201), 1, Access::remote_write, Iova(address), length, true, 5};
    const Verdict verdict = judge(&grant, wish);
    return verdict == Verdict::granted ? judge(&region, through_window(grant.region, grant.region_pd, grant.shift, wish)) : verdict;
  };
  CHECK(judged(0, KiB(4)) == Verdict::granted);
  CHECK(judged(0, KiB(56)) == Verdict::granted);  // to the end of the MR
  CHECK(judged(1, KiB(56)) == Verdict::out_of_range);
  bind.access = Access::remote_write;
  CHECK(judged(0x7000'0000'2000, KiB(4)) == Verdict::granted);
  CHECK(judged(0x7000'0000'0000, KiB(64)) == Verdict::granted);
  CHECK(judged(0x7000'0000'0000, Bytes(64 * 1024 + 1)) == Verdict::out_of_range);
}
