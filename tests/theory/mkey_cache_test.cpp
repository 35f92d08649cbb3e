// Does a stream of registrations run at the published pace when the mkey cache serves it, and when it has run empty (targets R2 and R3)?
#include <catch2/catch.hpp>
#include <string>

#include "support/system_run.h"
#include "support/temp_folder.h"

using namespace mtsim;

namespace {

std::string registrations(int count, const std::string& length, bool deregister) {
  std::string text = "mtrace 1\na.t0 mmap buf len=" + length + "\na.t0 alloc_pd pd\n";
  for (int i = 0; i < count; ++i) text += "a.t0 reg_mr m" + std::to_string(i) + " pd=pd addr=buf len=" + length + " access=lw\n";
  for (int i = 0; deregister && i < count; ++i) text += "a.t0 dereg_mr m" + std::to_string(i) + "\n";
  return text;
}

results::Report replay(const std::vector<std::string>& sets, const std::string& trace) {
  const test::TempFolder folder;
  return test::run_system(sets, folder.write("registrations.mtrace", trace)).report;
}

/// The faster of the two hosts whose figures are known (R3).
std::vector<std::string> fast_host(const std::string& limits) {
  return {limits,
          "kernel.syscall=300ns",
          "kernel.registration=3us",
          "kernel.interrupt=1us",
          "kernel.wake_up=2500ns",
          "kernel.pin_grab=30ns",
          "kernel.sg_entry=10ns",
          "nic.firmware.umr=800ns"};
}

std::uint64_t counter(const results::Report& report, const std::string& name) {
  for (const results::Counter& c : report.counters)
    if (c.name == name) return c.value;
  FAIL("no counter " << name);
  return 0;
}

double mean_us(const results::CallStats& calls) { return calls.latency.latency().mean_ns() / 1e3; }

}  // namespace

TEST_CASE("R3: 14 us a hit; when the cache runs empty, a key every 17.5 us with eight creations in flight", "[mkey_cache]") {
  const auto misses = replay(fast_host("driver.cache_limits=250x12 32 16 8 4"), registrations(10000, "256K", false));
  const auto hits = replay(fast_host("driver.cache_limits=1000x10"), registrations(1000, "256K", false));
  CHECK(mean_us(hits.registration.reg_mr) == Approx(14).epsilon(0.2));
  CHECK(counter(hits, "a.kernel.keys_misses") == 0);
  CHECK(mean_us(misses.registration.reg_mr) == Approx(17.3).epsilon(0.2));
  // Every key was taken from the cache or created, in a call or on the side; most on the side.
  const std::uint64_t hit = counter(misses, "a.kernel.keys_hits"), missed = counter(misses, "a.kernel.keys_misses");
  CHECK(hit + missed == 10000);
  CHECK(missed > 100);
  CHECK(missed < 1500);
  CHECK(counter(misses, "a.kernel.keys_refills") + 500 >= hit);
  CHECK(counter(misses, "a.nic.commands") == missed + counter(misses, "a.kernel.keys_refills"));
}

TEST_CASE("R2: what the mkey cache saves: 280 and 200 us without, 50 and 40 with", "[mkey_cache]") {
  const auto with = replay({}, registrations(200, "4K", true));
  const auto without = replay({"driver.keys=counter"}, registrations(200, "4K", true));
  CHECK(mean_us(with.registration.reg_mr) == Approx(50).epsilon(0.2));
  CHECK(mean_us(with.registration.dereg_mr) == Approx(40).epsilon(0.2));
  CHECK(mean_us(without.registration.reg_mr) == Approx(280).epsilon(0.2));
  CHECK(mean_us(without.registration.dereg_mr) == Approx(200).epsilon(0.2));
}
