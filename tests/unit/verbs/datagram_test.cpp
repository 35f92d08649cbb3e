// What is told of messages that unreliable QPs send and receive?
#include "verbs/datagram.h"

#include <catch2/catch.hpp>
#include <random>

using namespace mtsim;
using namespace mtsim::verbs;

namespace {

using Fate = Arrival::Fate;
Rules set(const std::string& name) { return *RuleSets::make(name); }

}  // namespace

TEST_CASE("a datagram that fits into a packet is sent and counts as done; a longer one never leaves", "[rule:7.4][rule:8.29]") {
  for (const std::string& name : RuleSets::names()) {
    const Rules rules = set(name);
    for (const std::uint32_t mtu : {256u, 1024u, 4096u}) {
      for (const std::uint64_t payload : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{mtu}}) {
        CHECK(send_datagram(payload, mtu, rules).leaves);
        CHECK(send_datagram(payload, mtu, rules).status == Status::SUCCESS);
      }
      CHECK_FALSE(send_datagram(mtu + 1ull, mtu, rules).leaves);
      CHECK(send_datagram(mtu + 1ull, mtu, rules).status == (name.starts_with("rxe") ? Status::SUCCESS : Status::LOC_LEN_ERR));
    }
  }
}

TEST_CASE("a receive must have room for the header's 40 bytes as well; else it is dropped, or ends if it is shared",
          "[rule:8.26][rule:8.27]") {
  std::mt19937_64 random(6);
  for (int round = 0; round < 10'000; ++round) {
    DatagramView datagram;
    datagram.payload = std::uint32_t(random() % 4097);
    datagram.room = random() % 2 ? 40 + datagram.payload - 2 + random() % 4 : random() % 8192;
    datagram.shared = random() % 2;
    const Arrival got = receive_datagram(datagram);
    if (datagram.room < datagram.payload + 40ull) {
      REQUIRE(got.fate == (datagram.shared ? Fate::receive_failed : Fate::dropped));
      REQUIRE((got.receive != Status::SUCCESS) == datagram.shared);
    } else {
      REQUIRE(got.fate == Fate::placed);
      REQUIRE(got.bytes == datagram.payload + 40ull);
    }
    REQUIRE_FALSE(got.breaks_qp);
  }
}

TEST_CASE("datagrams with another Q_Key or P_Key, or without a receive, vanish", "[rule:8.28]") {
  DatagramView datagram;
  datagram.room = 4096;
  REQUIRE(receive_datagram(datagram).fate == Fate::placed);
  DatagramView other = datagram;
  other.q_key = 1;
  CHECK(receive_datagram(other).fate == Fate::dropped);
  other = datagram;
  other.p_key = 0x8001;
  CHECK(receive_datagram(other).fate == Fate::dropped);
  other = datagram;
  other.has_receive = false;
  CHECK(receive_datagram(other).fate == Fate::dropped);
  CHECK(receive_datagram(other).receive == Status::SUCCESS);
}

TEST_CASE("partition keys match within a partition unless both are limited members", "[rule:8.28]") {
  CHECK(p_keys_match(0xffff, 0xffff));
  CHECK(p_keys_match(0x7fff, 0xffff));
  CHECK_FALSE(p_keys_match(0x7fff, 0x7fff));
  CHECK_FALSE(p_keys_match(0x8001, 0x8002));
  CHECK_FALSE(p_keys_match(0x8000, 0x8000));
  CHECK(q_key_sent(0x11, 0x22) == 0x11);
  CHECK(q_key_sent(0x80000011, 0x22) == 0x22);
}

TEST_CASE("what an unreliable QP refuses is dropped, unless a shared queue's receive has been taken or the receive itself is bad",
          "[rule:8.21][rule:8.22][rule:8.23]") {
  const Rules ib = set("ib"), rxe = set("rxe-6.1");
  for (const Check check : {Check::opcode_sequence, Check::qp_access, Check::no_receive, Check::key, Check::payload, Check::length}) {
    INFO(explain(check));
    CHECK(refused_unreliable(check, false, ib).fate == Fate::dropped);
    CHECK_FALSE(refused_unreliable(check, false, ib).breaks_qp);
  }
  CHECK(refused_unreliable(Check::key, true, ib).receive == Status::REM_ACCESS_ERR);
  CHECK(refused_unreliable(Check::length, true, ib).receive == Status::REM_INV_REQ_ERR);
  CHECK(refused_unreliable(Check::payload, true, ib).receive == Status::REM_INV_REQ_ERR);
  CHECK(refused_unreliable(Check::qp_access, true, ib).fate == Fate::dropped);
  for (const bool shared : {false, true}) {
    CHECK(refused_unreliable(Check::receive_key, shared, ib).receive == Status::LOC_PROT_ERR);
    CHECK(refused_unreliable(Check::receive_key, shared, rxe).receive == Status::LOC_QP_OP_ERR);
    CHECK(refused_unreliable(Check::receive_key, shared, ib).breaks_qp);
    CHECK(refused_unreliable(Check::dma, shared, ib).breaks_qp);
  }
  CHECK(refused_unreliable(Check::none, false, ib).fate == Fate::placed);
}
