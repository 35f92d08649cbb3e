// What does a requester check, in which order, and what does it make of answers?
#include "verbs/requester.h"

#include <catch2/catch.hpp>
#include <map>

using namespace mtsim;
using namespace mtsim::verbs;

namespace {

Rules set(const std::string& name) { return *RuleSets::make(name); }

}  // namespace

TEST_CASE("a queue in error flushes whatever else is wrong; then the opcode, then the length, then the datagram",
          "[rule:7.0][rule:7.1][rule:7.3][rule:7.4]") {
  const Rules ib = set("ib");
  WorkView work{QpType::ud, Opcode::read, (1ull << 40), 1024, true};
  CHECK(check_work(work, ib) == RequestCheck::flushed);
  work.flushes = false;
  CHECK(check_work(work, ib) == RequestCheck::opcode);
  work.opcode = Opcode::send;
  CHECK(check_work(work, ib) == RequestCheck::length);
  work.length = 1025;
  CHECK(check_work(work, ib) == RequestCheck::datagram);
  work.length = 1024;
  CHECK(check_work(work, ib) == RequestCheck::none);
  work = {QpType::rc, Opcode::write, 1ull << 31, 1024, false};
  CHECK(check_work(work, ib) == RequestCheck::none);
  CHECK(check_work(work, set("mlx5")) == RequestCheck::length);
  ++work.length;
  CHECK(check_work(work, ib) == RequestCheck::length);
  work.length = 1ull << 30;
  CHECK(check_work(work, set("mlx5")) == RequestCheck::none);
}

TEST_CASE("each type of QP carries out its own opcodes", "[rule:8.24][rule:8.25][rule:8.30]") {
  const Rules ib = set("ib");
  for (unsigned code = 0; code < opcode_count; ++code) {
    const auto opcode = Opcode(code);
    INFO(name(opcode));
    const bool asks_back = opcode == Opcode::read || opcode == Opcode::cas || opcode == Opcode::faa;
    const bool message = opcode == Opcode::send || opcode == Opcode::send_imm;
    const auto fits = [&](QpType type) { return check_work({type, opcode, 8, 1024, false}, ib) != RequestCheck::opcode; };
    CHECK(fits(QpType::rc) == (opcode != Opcode::recv));
    CHECK(fits(QpType::uc) == (opcode != Opcode::recv && !asks_back));
    CHECK(fits(QpType::ud) == message);
  }
}

TEST_CASE("failed checks have the statuses that were measured", "[rule:7.1][rule:7.3][rule:7.4][rule:8.30]") {
  CHECK(status_of(RequestCheck::none, set("ib")) == Status::SUCCESS);
  for (const std::string& name : RuleSets::names()) CHECK(status_of(RequestCheck::flushed, set(name)) == Status::WR_FLUSH_ERR);
  CHECK(status_of(RequestCheck::opcode, set("ib")) == Status::LOC_QP_OP_ERR);
  CHECK(status_of(RequestCheck::length, set("ib")) == Status::LOC_LEN_ERR);
  CHECK(status_of(RequestCheck::opcode, set("rxe-6.1")) == Status::LOC_QP_OP_ERR);
  CHECK(status_of(RequestCheck::opcode, set("rxe-6.12")) == Status::WR_FLUSH_ERR);
  CHECK(status_of(RequestCheck::datagram, set("rxe-6.1")) == Status::SUCCESS);
}

TEST_CASE("a refused element gives its request the status that the rule set has for it", "[rule:7.6][rule:7.7][rule:7.9][rule:9.9]") {
  using Row = std::array<Status, 3>;  // gather: key, range; scatter
  const std::map<std::string, Row> rows{{"ib", {Status::LOC_PROT_ERR, Status::LOC_PROT_ERR, Status::LOC_PROT_ERR}},
                                        {"irdma", {Status::LOC_PROT_ERR, Status::LOC_PROT_ERR, Status::LOC_PROT_ERR}},
                                        {"mlx5", {Status::LOC_PROT_ERR, Status::LOC_PROT_ERR, Status::LOC_PROT_ERR}},
                                        {"rxe-6.1", {Status::LOC_QP_OP_ERR, Status::LOC_PROT_ERR, Status::LOC_PROT_ERR}},
                                        {"rxe-6.12", {Status::WR_FLUSH_ERR, Status::WR_FLUSH_ERR, Status::LOC_PROT_ERR}},
                                        {"siw", {Status::LOC_QP_OP_ERR, Status::LOC_QP_OP_ERR, Status::LOC_PROT_ERR}}};
  for (const auto& [name, row] : rows) {
    INFO(name);
    const Rules rules = set(name);
    CHECK(rules.requester.scatter == row[2]);
    for (const Verdict verdict :
         {Verdict::no_such_key, Verdict::wrong_variant, Verdict::not_valid, Verdict::other_pd, Verdict::no_access}) {
      CHECK(rules.gather_status(verdict) == row[0]);
    }
    CHECK(rules.gather_status(Verdict::out_of_range) == row[1]);
  }
}

TEST_CASE("elements of no bytes and data that came with the request need no key; what a READ brings needs LOCAL_WRITE",
          "[rule:6.16][rule:7.5][rule:7.9]") {
  CHECK(needs_key(1, false));
  CHECK_FALSE(needs_key(0, false));
  CHECK_FALSE(needs_key(64, true));
  for (const Opcode opcode : {Opcode::send, Opcode::send_imm, Opcode::send_inv, Opcode::write, Opcode::write_imm})
    CHECK(needed_right(opcode) == Access::none);
  for (const Opcode opcode : {Opcode::read, Opcode::cas, Opcode::faa, Opcode::recv}) CHECK(needed_right(opcode) == Access::local_write);
}

TEST_CASE("an answer ends the request with its status; on siw there is none but a connection that is gone",
          "[rule:7.10][rule:7.12][rule:7.13][rule:9.1][rule:9.2][rule:9.3][rule:9.4][rule:9.5][rule:9.6][rule:9.10]") {
  const std::map<Nak, Status> ib{{Nak::none, Status::SUCCESS},
                                 {Nak::sequence, Status::RETRY_EXC_ERR},
                                 {Nak::receiver_not_ready, Status::RNR_RETRY_EXC_ERR},
                                 {Nak::invalid_request, Status::REM_INV_REQ_ERR},
                                 {Nak::remote_access, Status::REM_ACCESS_ERR},
                                 {Nak::remote_operational, Status::REM_OP_ERR}};
  for (const std::string& name : RuleSets::names()) {
    INFO(name);
    for (const auto& [nak, status] : ib) {
      const bool told = name != "siw" || nak == Nak::none;
      CHECK(set(name).answered_status(nak) == (told ? status : Status::WR_FLUSH_ERR));
    }
  }
}

TEST_CASE("what should not have come back is BAD_RESP_ERR, on rxe FATAL_ERR", "[rule:7.11]") {
  CHECK(set("ib").requester.bad_response == Status::BAD_RESP_ERR);
  CHECK(set("rxe-6.1").requester.bad_response == Status::FATAL_ERR);
}

TEST_CASE("retry_cnt 7 is seven times, on rxe for ever; rnr_retry 7 is for ever everywhere", "[rule:7.12][rule:7.13]") {
  for (const std::string& name : RuleSets::names()) {
    INFO(name);
    const bool rxe = name.starts_with("rxe");
    for (std::uint8_t n = 0; n < 7; ++n) CHECK(retries(n, set(name)) == n);
    CHECK(retries(7, set(name)).has_value() == !rxe);
  }
  CHECK(retries(7, set("ib")) == 7u);
  for (std::uint8_t n = 0; n < 7; ++n) CHECK(rnr_retries(n) == n);
  CHECK_FALSE(rnr_retries(7).has_value());
}

TEST_CASE("mlx5 cannot say an element of 2 GiB, and does not carry it out", "[rule:6.18]") {
  WorkView work;
  work.opcode = Opcode::write;
  work.length = work.longest_element = 1ull << 31;
  const auto mlx5 = RuleSets::make("mlx5");
  CHECK(check_work(work, *mlx5) == RequestCheck::element);
  CHECK(status_of(RequestCheck::element, *mlx5) == Status::LOC_QP_OP_ERR);
  CHECK(check_work(work, ib_rules()) == RequestCheck::none);
  work.longest_element = 1u << 29;
  CHECK(check_work(work, *mlx5) == RequestCheck::length);
}
