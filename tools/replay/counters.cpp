#include "counters.h"

#include <sys/resource.h>

#include <filesystem>
#include <fstream>

namespace mtsim::replay {
namespace {

std::uint64_t ns_of(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_usec) * 1'000;
}

void add_folder(const std::filesystem::path& folder, const std::string& prefix, Counts& counts) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::ifstream in(entry.path());
    std::uint64_t value = 0;
    const std::string name = entry.path().filename().string();
    if (name != "lifespan" && in >> value) counts[prefix + name] = value;
  }
}

}  // namespace

Counts count_now(const std::vector<std::string>& devices, std::uint8_t port) {
  Counts counts;
  for (const std::string& device : devices) {
    const auto of_port = std::filesystem::path("/sys/class/infiniband") / device / "ports" / std::to_string(port);
    for (const std::string group : {"counters", "hw_counters"}) add_folder(of_port / group, device + "." + group + ".", counts);
  }
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  counts["process.minor_faults"] = static_cast<std::uint64_t>(use.ru_minflt);
  counts["process.major_faults"] = static_cast<std::uint64_t>(use.ru_majflt);
  counts["process.user"] = ns_of(use.ru_utime);
  counts["process.system"] = ns_of(use.ru_stime);
  return counts;
}

std::vector<results::Counter> counted_between(const Counts& before, const Counts& after) {
  std::vector<results::Counter> out;
  for (const auto& [name, value] : after) {
    const auto found = before.find(name);
    const std::uint64_t earlier = found == before.end() ? 0 : found->second;
    if (value < earlier) continue;
    const bool time = name == "process.user" || name == "process.system";
    const char* meaning = "counter of the device's port in sysfs";
    if (time) meaning = "CPU time of the process that replayed, all of its threads";
    else if (name.starts_with("process.")) meaning = "page faults of the process that replayed, all of its threads";
    out.push_back({name, time ? "ns" : "count", meaning, value - earlier, false});
  }
  return out;
}

std::uint64_t faults_of_this_thread() {
  rusage use{};
  getrusage(RUSAGE_THREAD, &use);
  return static_cast<std::uint64_t>(use.ru_minflt + use.ru_majflt);
}

}  // namespace mtsim::replay
