#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "results/compare.h"
#include "results/human.h"
#include "results/page.h"

namespace mtsim::results {
namespace {

constexpr std::ptrdiff_t page_lines = 50;
constexpr std::size_t count_width = 40, times_width = 24, figure_width = 8, side_width = 14;
constexpr double explains_from = 0.5;  ///< less than half is no explanation

/// How much of each part there is room for.
struct Room {
  std::size_t operations, order, counts, times, sentences;
  bool sizes;  ///< classes of size as well, where all of them have room
};
constexpr std::array<Room, 7> rooms{{{20, 20, 20, 30, 12, true},
                                     {20, 10, 12, 16, 12, true},
                                     {20, 10, 12, 12, 12, false},
                                     {20, 5, 8, 8, 6, false},
                                     {10, 5, 6, 8, 5, false},
                                     {6, 3, 5, 6, 4, false},
                                     {3, 2, 3, 5, 3, false}}};

/// Three significant digits, and all of a whole number.
std::string figure(double v) { return std::abs(v) >= 1000 ? fmt::format("{:.0f}", v) : fmt::format("{:.3g}", v); }

std::string share(double v) { return v > 0.995 && v < 1 ? fmt::format("{:.1f} %", v * 100) : fmt::format("{:.0f} %", v * 100); }

std::string plus(double ns) { return fmt::format("{} {}", ns < 0 ? "less" : "plus", human::time_ns(std::abs(ns))); }

/// What B is, by a law: `A times 41.2`.
std::string law(const statistics::Fit& f) {
  using Kind = statistics::Fit::Kind;
  switch (f.kind) {
    case Kind::factor:
      return "A times " + figure(f.factor);
    case Kind::offset:
      return "A " + plus(f.offset);
    case Kind::both:
      return fmt::format("A times {} {}", figure(f.factor), plus(f.offset));
    case Kind::bytes:
      return fmt::format("A {} {} a byte", plus(f.offset), plus(f.per_byte));
  }
  return {};
}

const char* named(statistics::Fit::Kind kind) {
  static constexpr std::array names{"a factor explains", "an offset explains", "factor and offset explain",
                                    "an offset and a slope by size explain"};
  return names[static_cast<std::size_t>(kind)];
}

const statistics::Fit* fit_of(const statistics::Explanation& e, statistics::Fit::Kind kind) {
  const auto found = std::find_if(e.fits.begin(), e.fits.end(), [&](const statistics::Fit& f) { return f.kind == kind; });
  return found == e.fits.end() ? nullptr : &*found;
}

/// The other law of one figure where it explains as much: samples of one value, or nearly, cannot tell them apart.
std::string as_well(const statistics::Explanation& e, const statistics::Fit& best) {
  using Kind = statistics::Fit::Kind;
  if (best.kind != Kind::factor && best.kind != Kind::offset) return {};
  const statistics::Fit* other = fit_of(e, best.kind == Kind::factor ? Kind::offset : Kind::factor);
  if (other == nullptr || other->explained < best.explained - 0.01) return {};
  return ", and so does " + law(*other);
}

std::string ratio(double a, double b) { return a == 0 ? (b == 0 ? "1" : "-") : figure(b / a); }

/// As human::count, in seven characters at most.
std::string few(std::uint64_t n) {
  if (n < 1'000'000) return human::count(n);
  return figure(static_cast<double>(n) / (n < 1'000'000'000 ? 1e6 : 1e9)) + (n < 1'000'000'000 ? " M" : " G");
}

/// Differences by line. What the rules say of several is said once, below them.
class Listing {
 public:
  Listing(Page& page, std::size_t room) : page_(page), room_(room) {}
  void add(const std::vector<OperationDifference>& all, std::uint64_t total) {
    const std::size_t shown = std::min(room_, all.size());
    for (std::size_t i = 0; i < shown; ++i) page_.paragraph("  " + described(all[i]) + mark(all[i].licence));
    if (total > shown) page_.line(fmt::format("  and {} more", human::count(total - shown)));
  }
  ~Listing() {
    for (std::size_t i = 0; i < licences_.size(); ++i) page_.paragraph(fmt::format("  [{}] {}", i + 1, licences_[i]));
  }
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

 private:
  std::string mark(const std::string& licence) {
    if (licence.empty()) return {};
    auto at = std::find(licences_.begin(), licences_.end(), licence);
    if (at == licences_.end()) at = licences_.insert(at, licence);
    return fmt::format(" [{}]", at - licences_.begin() + 1);
  }
  Page& page_;
  std::size_t room_;
  std::vector<std::string> licences_;
};

void order(Page& page, const OperationsComparison& o, std::size_t room) {
  std::vector<const OrderDifference*> told;
  for (const OrderDifference& d : o.order)
    if (!d.statuses_alone) told.push_back(&d);
  std::string heading = fmt::format("Order in which they end: {} of {} queues differ", o.order.size(), o.queues);
  if (told.size() != o.order.size()) heading += fmt::format(", {} of them in statuses alone", o.order.size() - told.size());
  if (o.order.empty()) page.heading(heading);
  else page.alarm(heading);
  const std::size_t shown = std::min(room, told.size());
  for (std::size_t i = 0; i < shown; ++i) page.paragraph("  " + described(*told[i]));
  if (told.size() > shown) page.line(fmt::format("  and {} more", told.size() - shown));
}

void operations(Page& page, const OperationsComparison& o, const Room& room) {
  page.gap();
  const std::string heading = fmt::format("Operations: {} in both, of which {} differ; {} only in A, {} only in B", human::count(o.matched),
                                          human::count(o.differing_total), human::count(o.only_a_total), human::count(o.only_b_total));
  if (o.differing_total + o.only_a_total + o.only_b_total == 0) page.heading(heading);
  else page.alarm(heading);
  {
    Listing listing(page, room.operations);
    listing.add(o.differing, o.differing_total);
    listing.add(o.only_a, o.only_a_total);
    listing.add(o.only_b, o.only_b_total);
  }
  order(page, o, room.order);
}

void counts(Page& page, const Comparison& c, const Room& room) {
  const std::size_t differing = c.counts_differing();
  page.gap();
  const std::string title = fmt::format("Counts: {} compared, {} differ", c.counts.size(), differing);
  if (differing == 0) return page.heading(title);
  page.heading_row({title, "A", "B"}, count_width, side_width);
  std::size_t shown = 0;
  for (const CountRow& row : c.counts)
    if (row.differs() && shown++ < room.counts)
      page.row({"  " + row.name, human::count(row.a), human::count(row.b)}, count_width, side_width);
  if (differing > room.counts) page.line(fmt::format("  and {} more", differing - room.counts));
}

std::vector<std::string> cells(const TimesComparison& t) {
  std::vector<std::string> out{(t.part ? "    " : "  ") + t.name + (t.approximate ? " ~" : ""), few(t.n_a), few(t.n_b)};
  using Figures = TimesComparison::Figures;
  for (double Figures::*of : {&Figures::min, &Figures::median, &Figures::p90, &Figures::p99, &Figures::mean})
    out.push_back(t.comparable() ? ratio(t.a.*of, t.b.*of) : "-");
  out.push_back(t.comparable() ? fmt::format("{:.3f}", t.ks) : "-");
  out.push_back(t.comparable() ? fmt::format("{:.3f}", t.critical) : "-");
  return out;
}

void times(Page& page, const Comparison& c, const Room& room) {
  std::vector<const TimesComparison*> rows, kinds;
  for (const TimesComparison& t : c.times) {
    rows.push_back(&t);
    if (!t.part) kinds.push_back(&t);
  }
  if (rows.empty()) return;
  const std::size_t classes = rows.size() - kinds.size();
  const bool sizes = room.sizes && rows.size() <= room.times;
  if (!sizes) rows = kinds;
  page.gap();
  page.heading_row({"Times, B over A", "n of A", "n of B", "min", "median", "p90", "p99", "mean", "KS", "at 1 %"}, times_width,
                   figure_width);
  const std::size_t shown = std::min(room.times, rows.size());
  for (std::size_t i = 0; i < shown; ++i) page.row(cells(*rows[i]), times_width, figure_width);
  if (rows.size() > shown) page.line(fmt::format("  and {} more", rows.size() - shown));
  if (!sizes && classes != 0) page.line(fmt::format("  and {} classes of size, which the JSON has", classes));
  if (std::any_of(kinds.begin(), kinds.end(), [](const TimesComparison* t) { return t->approximate; }))
    page.line("  ~ approximate: from histograms");
  page.gap();
  const std::size_t told = std::min(room.sentences, kinds.size());
  for (std::size_t i = 0; i < told; ++i) page.paragraph(fmt::format("{}: {}", kinds[i]->name, explained(*kinds[i])));
}

void opening(Page& page, const Comparison& c) {
  for (const auto& [letter, side] : {std::pair("A", &c.a), std::pair("B", &c.b)}) {
    page.heading(fmt::format("{}: {} ({}, rules {})", letter, side->name, side->trace.empty() ? "no trace" : side->trace,
                             side->rules ? *side->rules : "not told"));
    if (!side->measured_on.empty()) page.line("   measured on " + side->measured_on);
  }
  for (const std::string& note : c.notes) page.paragraph(note);
}

std::string composed(const Comparison& c, TextOptions options, const Room& room) {
  Page page(options.colour);
  opening(page, c);
  if (c.operations) operations(page, *c.operations, room);
  counts(page, c, room);
  times(page, c, room);
  page.gap();
  const char* what = c.operations ? "Statuses, order and counts" : "Counts";
  if (c.differs()) page.alarm(fmt::format("{} differ.", what));
  else page.heading(fmt::format("{} agree.", what));
  return page.text();
}

}  // namespace

std::string described(const OperationDifference& d) {
  if (!d.a || !d.b) {
    const OperationDifference::Side& s = d.a ? *d.a : *d.b;
    return fmt::format("{} {} wr={} {}: only in {}, with {}", d.host, s.qp, d.wr, verbs::name(s.opcode), d.a ? "A" : "B",
                       verbs::name(s.status));
  }
  const OperationDifference::Side &a = *d.a, &b = *d.b;
  std::string parts;
  const auto part = [&](bool differs, const std::string& text) {
    if (differs) parts += (parts.empty() ? "" : ", ") + text;
  };
  part(a.status != b.status, fmt::format("{} in A, {} in B", verbs::name(a.status), verbs::name(b.status)));
  part(a.opcode != b.opcode, fmt::format("{} in B", verbs::name(b.opcode)));
  part(a.bytes != b.bytes, fmt::format("{} bytes in A, {} in B", a.bytes, b.bytes));
  part(a.qp != b.qp, fmt::format("on QP {} in B", b.qp));
  return fmt::format("{} {} wr={} {}: {}", d.host, a.qp, d.wr, verbs::name(a.opcode), parts);
}

std::string described(const OrderDifference& d) {
  const auto side = [](const std::optional<OrderDifference::Side>& s) {
    return s ? fmt::format("wr={} {}", s->wr, verbs::name(s->status)) : std::string("no more");
  };
  return fmt::format("{} {}, {} number {}: {} in A, {} in B", d.host, d.qp, d.receives ? "receive" : "send", d.position, side(d.a),
                     side(d.b));
}

std::string explained(const TimesComparison& t) {
  if (!t.comparable()) return t.n_a == 0 ? "only B has any." : "only A has any.";
  const statistics::Explanation& e = t.explanation;
  if (!e.best) return "the same.";
  if (!t.differs())
    return fmt::format("no difference that samples of {} and {} can show at 1 %.", human::count(t.n_a), human::count(t.n_b));
  const statistics::Fit& best = e.fits[*e.best];
  const std::string change = fmt::format("KS from {:.2f} to {:.2f}, critical {:.2f}", t.ks, best.ks, t.critical);
  if (best.explained < explains_from)
    return fmt::format("neither factor nor offset explains the difference; nearest comes {} with {} of it ({}).", law(best),
                       share(best.explained), change);
  return fmt::format("B is {}: {} {} of the difference ({}){}.", law(best), named(best.kind), share(best.explained), change,
                     as_well(e, best));
}

std::string to_text(const Comparison& c, TextOptions options) {
  std::string text;
  for (const Room& room : rooms) {
    text = composed(c, options, room);
    if (std::count(text.begin(), text.end(), '\n') <= page_lines) break;
  }
  return text;
}

}  // namespace mtsim::results
