// Is the file what viewers read, and does it keep to its window, its sample and its limit?
#include "results/timeline_file.h"

#include <array>
#include <catch2/catch.hpp>
#include <functional>

#include "support/temp_folder.h"
#include "support/timeline_events.h"

using namespace mtsim;
using namespace mtsim::results;
using Kind = Timeline::Kind;

namespace {

std::string text_of(const TimelineOptions& options, const std::function<void(TimelineFile&)>& draw) {
  const test::TempFolder folder;
  OutputFile file(folder.path("t.json"));
  TimelineFile timeline(file, options);
  draw(timeline);
  timeline.finish({{"trace", "by \"hand\""}});
  file.commit();
  return test::read_file(folder.path("t.json"));
}

test::DrawnTimeline drawn(const TimelineOptions& options, const std::function<void(TimelineFile&)>& draw) {
  return test::read_timeline(text_of(options, draw));
}

}  // namespace

TEST_CASE("an empty timeline is a whole file") {
  CHECK(text_of({}, [](TimelineFile&) {}) ==
        "{\"displayTimeUnit\": \"ns\",\n\"traceEvents\": [\n],\n\"otherData\": {\n  \"trace\": \"by \\\"hand\\\"\",\n"
        "  \"from\": \"0s\",\n  \"sample\": 1,\n  \"events\": 0\n}}\n");
}

TEST_CASE("a span says who did what when, to the picosecond") {
  const std::string text = text_of({}, [](TimelineFile& t) {
    t.span(t.row("a\"", "CPU 0", Kind::exclusive), "pin", ps(1'000'001), ps(12'345'678'901'234),
           {{"pages", 16}, {"thread", 0, "t0"}, {"wr", ~std::uint64_t{0}}});
  });
  CHECK(text.find("{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"a\\\"\"}}") != std::string::npos);
  CHECK(text.find("{\"ph\":\"M\",\"pid\":1,\"tid\":100001,\"name\":\"thread_name\",\"args\":{\"name\":\"CPU 0\"}}") != std::string::npos);
  CHECK(text.find("{\"ph\":\"B\",\"pid\":1,\"tid\":100001,\"ts\":1.000001,\"name\":\"pin\","
                  "\"args\":{\"pages\":16,\"thread\":\"t0\",\"wr\":\"18446744073709551615\"}},\n"
                  "{\"ph\":\"E\",\"pid\":1,\"tid\":100001,\"ts\":12345678.901234}") != std::string::npos);
}

TEST_CASE("spans within a span, and spans of less than a nanosecond, come out nested as a viewer reads them") {
  const auto t = drawn({}, [](TimelineFile& f) {
    const auto row = f.row("a", "thread t0", Kind::exclusive);
    // Ends and begins that doubles cannot hold: 1.005 times 1000 is less than 1005.
    using Part = TimelineFile::Part;
    f.draw(
        row, "reg_mr", ps(900), ps(1'005'000), {},
        std::array{Part{"syscall", ps(900), ps(1'000)}, Part{"pin", ps(1'000), ps(1'004'999)}, Part{"key", ps(1'004'999), ps(1'005'000)}});
    for (int i = 0; i < 1000; ++i) f.draw(row, "poll", ps(1'005'000 + i * 300), ps(1'005'300 + i * 300));
    f.draw(row, "nothing", ps(1'305'000), ps(1'305'000));
  });
  const auto& spans = t.rows.at("a/thread t0");
  REQUIRE(spans.size() == 1002);
  CHECK(test::one_at_a_time(spans));
  REQUIRE(spans[0].inner.size() == 3);
  CHECK(spans[0].inner[2].name == "key");
  CHECK(spans[1001].begin == spans[1001].end);
}

TEST_CASE("a life holds its steps one after the other, without those that were skipped") {
  const std::vector<std::string> steps{"post", "wire", "completion"};
  const std::array<Time, 3> ends{ns(5), ns(2), ns(9)};
  const auto t =
      drawn({}, [&](TimelineFile& f) { f.draw_life(f.row("a", "QP q", Kind::overlapping), "write wr=1", ns(3), ends, steps, {}); });
  REQUIRE(t.async.at("a/QP q").size() == 1);
  const test::DrawnSpan life = t.operations().at(0);
  CHECK(life.name == "write wr=1");
  CHECK(std::pair(life.begin, life.end) == std::pair(ns(3).raw, ns(9).raw));
  REQUIRE(life.inner.size() == 2);
  CHECK(life.inner[0].name == "post");
  CHECK(life.inner[0].end == ns(5).raw);
  CHECK(life.inner[1].name == "completion");
  CHECK(life.inner[1].begin == ns(5).raw);
  CHECK(t.events == 8);
}

TEST_CASE("a flow needs two ends") {
  const auto t = drawn({}, [](TimelineFile& f) {
    const auto row = f.row("a", "wire", Kind::exclusive);
    f.draw_flow({});
    f.draw_flow(std::array{TimelineFile::Anchor{row, ns(1)}});
    for (int i = 1; i < 4; ++i) f.draw(row, "write", ns(i), ns(i + 1));
    f.draw_flow(std::array{TimelineFile::Anchor{row, ns(1)}, TimelineFile::Anchor{row, ns(2)}, TimelineFile::Anchor{row, ns(3)}});
  });
  REQUIRE(t.flows.size() == 1);
  std::string phases;
  for (const test::DrawnPoint& p : t.flows.begin()->second) phases += p.phase;
  CHECK(phases == "stf");
}

TEST_CASE("a window draws what touches it, whole, and what levels were when it began") {
  TimelineOptions options;
  options.from = ns(10);
  options.to = ns(20);
  const auto t = drawn(options, [](TimelineFile& f) {
    const auto row = f.row("a", "CPU 0", Kind::exclusive), level = f.row("a", "pinned bytes", Kind::level);
    for (int i = 0; i < 30; ++i) f.span(row, "work", ns(i), ns(i + 1));
    for (int i = 1; i < 30; i += 4) f.level(level, ns(i), unsigned(i));
  });
  REQUIRE(t.rows.at("a/CPU 0").size() == 12);
  CHECK(t.rows.at("a/CPU 0").front().begin == ns(9).raw);
  CHECK(t.rows.at("a/CPU 0").back().end == ns(21).raw);
  using Level = std::pair<std::int64_t, std::uint64_t>;
  CHECK(t.levels.at("a/pinned bytes") == std::vector<Level>{{ns(10).raw, 9}, {ns(13).raw, 13}, {ns(17).raw, 17}});
}

TEST_CASE("a sample draws every so-many-th span of each row, and about so many operations") {
  TimelineOptions options;
  options.sample = 10;
  std::size_t chosen = 0;
  const auto t = drawn(options, [&](TimelineFile& f) {
    const auto one = f.row("a", "one", Kind::exclusive), two = f.row("a", "two", Kind::exclusive);
    for (int i = 0; i < 100; ++i) f.span(one, "x", ns(i), ns(i + 1));
    for (int i = 0; i < 25; ++i) f.span(two, "x", ns(i), ns(i + 1));
    for (std::uint64_t key = 0; key < 100'000; ++key) chosen += f.samples(key << 7);
  });
  CHECK(t.rows.at("a/one").size() == 10);
  CHECK(t.rows.at("a/two").size() == 3);
  CHECK(chosen > 9'500);
  CHECK(chosen < 10'500);
}

TEST_CASE("at its limit the file says that it is cut, and what belongs together is not torn") {
  TimelineOptions options;
  options.most_events = 9;
  std::string cut;
  const auto t = drawn(options, [&](TimelineFile& f) {
    const std::vector<std::string> steps{"post", "wire"};
    const auto row = f.row("a", "QP q", Kind::overlapping);
    CHECK(f.cut().empty());
    f.draw_life(row, "write wr=1", ns(1), std::array{ns(2), ns(3)}, steps, {});
    f.draw_life(row, "write wr=2", ns(2), std::array{ns(3), ns(1500)}, steps, {});
    f.span(f.row("a", "wire", Kind::exclusive), "write", ns(1600), ns(1601));
    cut = f.cut();
  });
  CHECK(t.operations().size() == 1);
  CHECK(t.events == 8);
  CHECK(cut ==
        "the timeline was cut at its limit of 9 events: what ended later than about 1.5 us is missing; draw a part (--from, --to) or a "
        "sample (--sample)");
  CHECK(t.notes.at("cut") == cut);
}
