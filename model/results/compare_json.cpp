#include <nlohmann/json.hpp>

#include "results/compare.h"

namespace mtsim::results {
namespace {

using Json = nlohmann::ordered_json;

Json to_object(const ComparedSide& side) {
  Json out{{"name", side.name}, {"trace", side.trace}, {"version", side.version}};
  if (!side.measured_on.empty()) out["measured_on"] = side.measured_on;
  if (side.rules) out["rules"] = *side.rules;
  out["runs"] = side.runs;
  return out;
}

Json to_object(const OperationDifference& d) {
  Json out{{"host", d.host}, {"wr", d.wr}};
  for (const auto& [letter, side] : {std::pair("a", &d.a), std::pair("b", &d.b)})
    if (*side)
      out[letter] = {{"qp", (*side)->qp},
                     {"opcode", verbs::name((*side)->opcode)},
                     {"bytes", (*side)->bytes},
                     {"status", verbs::name((*side)->status)}};
  if (!d.licence.empty()) out["rules"] = d.licence;
  return out;
}

Json to_object(const OrderDifference& d) {
  Json out{{"host", d.host},
           {"qp", d.qp},
           {"side", d.receives ? "receive" : "send"},
           {"position", d.position},
           {"statuses_alone", d.statuses_alone}};
  for (const auto& [letter, side] : {std::pair("a", &d.a), std::pair("b", &d.b)})
    if (*side) out[letter] = {{"wr", (*side)->wr}, {"status", verbs::name((*side)->status)}};
  return out;
}

Json to_object(const TimesComparison::Figures& f) {
  return {{"min_ns", f.min}, {"median_ns", f.median}, {"p90_ns", f.p90}, {"p99_ns", f.p99}, {"mean_ns", f.mean}};
}

Json to_object(const statistics::Fit& f) {
  using Kind = statistics::Fit::Kind;
  static constexpr std::array names{"factor", "offset", "factor_and_offset", "offset_and_bytes"};
  Json out{{"law", names[static_cast<std::size_t>(f.kind)]}};
  if (f.kind == Kind::factor || f.kind == Kind::both) out["factor"] = f.factor;
  if (f.kind != Kind::factor) out["offset_ns"] = f.offset;
  if (f.kind == Kind::bytes) out["per_byte_ns"] = f.per_byte;
  out["explained_share"] = f.explained;
  out["ks"] = f.ks;
  return out;
}

Json to_object(const TimesComparison& t);

template <class T>
Json to_array(const std::vector<T>& all) {
  Json out = Json::array();
  for (const T& one : all) out.push_back(to_object(one));
  return out;
}

Json to_object(const TimesComparison& t) {
  Json out{{"name", t.name}, {"of_one_size_class", t.part}, {"approximate", t.approximate}, {"n_a", t.n_a}, {"n_b", t.n_b}};
  if (t.n_a != 0) out["a"] = to_object(t.a);
  if (t.n_b != 0) out["b"] = to_object(t.b);
  if (!t.comparable()) return out;
  Json& ratios = out["ratios"] = Json::object();
  for (const auto& [name, figure] :
       {std::pair("min", &TimesComparison::Figures::min), std::pair("median", &TimesComparison::Figures::median),
        std::pair("p90", &TimesComparison::Figures::p90), std::pair("p99", &TimesComparison::Figures::p99),
        std::pair("mean", &TimesComparison::Figures::mean)})
    if (t.a.*figure != 0) ratios[name] = t.b.*figure / (t.a.*figure);
  out["ks"] = t.ks;
  out["ks_critical_1_percent"] = t.critical;
  out["differs"] = t.differs();
  if (!t.explanation.fits.empty()) out["laws"] = to_array(t.explanation.fits);
  if (t.explanation.best) out["best"] = to_object(t.explanation.fits[*t.explanation.best])["law"];
  out["explanation"] = explained(t);
  return out;
}

}  // namespace

std::string to_json(const Comparison& c) {
  Json out{{"schema", comparison_schema_version}, {"version", MTSIM_VERSION}, {"differs", c.differs()}};
  out["a"] = to_object(c.a);
  out["b"] = to_object(c.b);
  out["notes"] = c.notes;
  Json& counts = out["counts"] = Json::object();
  for (const CountRow& row : c.counts) counts[row.name] = {{"a", row.a}, {"b", row.b}, {"differs", row.differs()}};
  if (c.operations) {
    const OperationsComparison& o = *c.operations;
    out["operations"] = {{"rows_a", o.rows_a},       {"rows_b", o.rows_b},      {"matched", o.matched}, {"differing", o.differing_total},
                         {"only_a", o.only_a_total}, {"only_b", o.only_b_total}};
    out["first_differing"] = to_array(o.differing);
    out["first_only_a"] = to_array(o.only_a);
    out["first_only_b"] = to_array(o.only_b);
    out["queues"] = o.queues;
    out["order"] = to_array(o.order);
  }
  out["times"] = to_array(c.times);
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace mtsim::results
