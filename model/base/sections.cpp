#include "base/sections.h"

#include <algorithm>
#include <tuple>

namespace mtsim {
namespace {

std::vector<const Section*>& table() {
  static std::vector<const Section*> sections;
  return sections;
}

}  // namespace

std::vector<const Section*> Sections::all() {
  auto sections = table();
  // The meaning decides between sections of one path (the kinds of a workload, say): the order of registration is the linker's.
  std::sort(sections.begin(), sections.end(),
            [](const Section* a, const Section* b) { return std::tie(a->path, a->meaning) < std::tie(b->path, b->meaning); });
  return sections;
}

void Sections::add(const Section* section) {
  if (std::find(table().begin(), table().end(), section) == table().end()) table().push_back(section);
}

}  // namespace mtsim
