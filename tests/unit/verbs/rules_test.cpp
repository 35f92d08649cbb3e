// Does each rule set say who says so where it differs, and do the sets answer as was measured and as the specification has it?
#include "verbs/rules_fields.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>
#include <string>

using namespace mtsim;
using namespace mtsim::verbs;

namespace {

Rules set(const std::string& name) { return *RuleSets::make(name); }

std::map<std::string, std::string> by_name(const Rules& rules) {
  std::map<std::string, std::string> out;
  for (const RuleField& field : fields(rules)) out[field.name] = field.value;
  return out;
}

}  // namespace

TEST_CASE("a set names a source for each field in which it differs from the specification, and no field twice") {
  const auto ib = by_name(set("ib"));
  CHECK(ib.size() == fields(set("ib")).size());
  for (const std::string& name : RuleSets::names()) {
    const Rules rules = set(name);
    CHECK(rules.name == name);
    std::set<std::string> told;
    for (const Rules::Evidence& evidence : rules.evidence) {
      INFO(name << ' ' << evidence.field);
      CHECK(ib.count(evidence.field) == 1);
      CHECK(told.insert(evidence.field).second);
      CHECK_FALSE(evidence.source.empty());
    }
    for (const auto& [field, value] : by_name(rules)) {
      INFO(name << ' ' << field << ": " << value << ", of ib " << ib.at(field));
      CHECK((value == ib.at(field) || told.count(field) == 1));
    }
  }
}

TEST_CASE("the specification's refusals",
          "[rule:8.3][rule:8.4][rule:8.5][rule:8.6][rule:8.7][rule:8.8][rule:8.10][rule:8.12][rule:8.13]"
          "[rule:8.15][rule:8.16][rule:8.17][rule:8.18][rule:8.19][rule:9.8][rule:9.14]") {
  const std::map<std::string, std::string> table{
      {"opcode_sequence", "invalid request / - / QP_REQ_ERR"},
      {"opcode", "invalid request / - / QP_REQ_ERR"},
      {"qp_access", "invalid request / - / QP_REQ_ERR"},
      {"no_read_atomic", "invalid request / - / QP_REQ_ERR"},
      {"no_receive", "receiver not ready / - / -"},
      {"receive_malformed", "remote operational / LOC_QP_OP_ERR / -"},
      {"length", "invalid request / - / QP_REQ_ERR"},
      {"key", "remote access / LOC_ACCESS_ERR / QP_ACCESS_ERR"},
      {"payload", "invalid request / - / QP_REQ_ERR"},
      {"alignment", "invalid request / - / QP_REQ_ERR"},
      {"receive_too_short", "invalid request / LOC_LEN_ERR / -"},
      {"receive_key", "remote operational / LOC_PROT_ERR / -"},
      {"dma", "remote operational / - / QP_FATAL"},
      {"invalidation", "- / REM_INV_REQ_ERR / -"},
      {"cq_overflow", "- / - / CQ_ERR"},
  };
  const auto ib = by_name(set("ib"));
  for (const auto& [check, answer] : table) CHECK(ib.at("responder." + check) == answer);
  CHECK(table.size() == check_count - 1);
}

TEST_CASE("the answers that were measured on rxe and siw", "[rule:8.10][rule:8.15][rule:8.16][rule:9.10][rule:9.13][rule:10.15]") {
  for (const char* name : {"rxe-6.1", "rxe-6.12"}) {
    const auto rxe = by_name(set(name));
    CHECK(rxe.at("responder.receive_too_short") == "remote operational / LOC_QP_OP_ERR / -");
    CHECK(rxe.at("responder.receive_key") == "remote operational / LOC_QP_OP_ERR / -");
    CHECK(rxe.at("responder.key").find("remote access / REM_ACCESS_ERR /") == 0);
    CHECK(rxe.at("responder.raises_events") == "no");
    CHECK(rxe.at("windows.bounds") == "no");
    CHECK(rxe.at("windows.bound_dereg") == "EINVAL");
    CHECK(rxe.at("posting.send_below_rts") == "EINVAL");
  }
  CHECK(by_name(set("rxe-6.1")).at("requester.bind") == "MW_BIND_ERR");
  CHECK(by_name(set("rxe-6.12")).at("requester.bind") == "WR_FLUSH_ERR");
  const auto siw = by_name(set("siw"));
  CHECK(siw.at("responder.receive_key") == "remote operational / GENERAL_ERR / QP_ACCESS_ERR");
  CHECK(siw.at("responder.receive_too_short") == "invalid request / LOC_LEN_ERR / QP_FATAL");
  CHECK(siw.at("responder.read_needs_right") == "no");
  CHECK(siw.at("windows.there_are") == "no");
}

TEST_CASE("what a post refuses at once, by provider",
          "[rule:6.1][rule:6.2][rule:6.4][rule:6.5][rule:6.6][rule:6.7][rule:6.8][rule:6.9][rule:6.10][rule:6.11][rule:6.12][rule:6.14]") {
  // send below RTS, receive in RESET, queue full, send elements, receive elements, inline, inline READ, wrong opcode, atomic, sum, bind
  // length
  const std::map<std::string, std::string> table{
      {"ib", "ENOMEM EINVAL ENOMEM ENOMEM EINVAL ENOMEM - - - - EOPNOTSUPP"},
      {"mlx5", "ENOMEM EINVAL ENOMEM ENOMEM EINVAL ENOMEM - - - - EOPNOTSUPP"},
      {"mlx4", "- - ENOMEM ENOMEM ENOMEM ENOMEM - - - - -"},
      {"rxe-6.1", "EINVAL EINVAL ENOMEM EINVAL EINVAL EINVAL - - EINVAL - -"},
      {"rxe-6.12", "EINVAL EINVAL ENOMEM EINVAL EINVAL EINVAL - - EINVAL - -"},
      {"siw", "ENOTCONN - ENOMEM EINVAL EINVAL EINVAL - - - - EOPNOTSUPP"},
      {"irdma", "- - ENOMEM EINVAL EINVAL EINVAL - - - - EOPNOTSUPP"},
      {"hns", "EINVAL EINVAL ENOMEM EINVAL EINVAL EINVAL EINVAL EINVAL - - EOPNOTSUPP"},
  };
  for (const auto& [name, row] : table) {
    INFO(name);
    const auto all = by_name(set(name));
    std::string got;
    for (const char* field : {"send_below_rts", "receive_in_reset", "queue_full", "send_elements", "receive_elements", "inline_bytes",
                              "inline_not_data", "wrong_opcode", "atomic_length", "length_sum", "bind_length"})
      got += (got.empty() ? "" : " ") + all.at(std::string("posting.") + field);
    CHECK(got == row);
    CHECK(all.at("posting.no_opcode") == "EINVAL");
    CHECK(all.at("posting.bind_pd") == "EPERM");
    CHECK(all.at("posting.bind_form") == "EINVAL");
    CHECK(all.at("posting.atomic_alignment") == all.at("posting.atomic_length"));
  }
  CHECK(table.size() == RuleSets::names().size());
}

TEST_CASE("the description has a line for each field of the specification, and for each that a set has a source for") {
  std::istringstream lines(describe_rules());
  std::string line, current;
  std::map<std::string, unsigned> counts;
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    if (line[0] != ' ') current = line.substr(0, line.find(':'));
    else ++counts[current];
  }
  for (const std::string& name : RuleSets::names())
    CHECK(counts[name] == (name == "ib" ? fields(set("ib")).size() : set(name).evidence.size()));
}
