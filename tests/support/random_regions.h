// Regions whose memory lies in many ways, and what a count page by page makes of them.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "translate/architecture.h"

namespace mtsim::test {

/// A region of `pages` frames: runs of random length, some of them whole 2 MiB, that lie where a 2 MiB page may or askew.
inline translate::Region random_region(std::mt19937_64& random, std::uint32_t index, std::uint64_t most_pages, bool law = true) {
  translate::Region r;
  const std::uint64_t pages = 1 + random() % most_pages, lead = random() % 4096;
  std::uint64_t start = (random() % 5 == 0 ? (std::uint64_t{1} << 27) - random() % most_pages : random() % (1u << 20));
  if (random() % 2 == 0) start = start / 512 * 512;
  std::vector<FrameExtent> extents;
  FrameLaw frames;
  if (law && random() % 2 == 0) {
    const double runs[] = {1, 2.5, 40, 300, 512};
    frames = FrameLaw(random(), runs[random() % 5]);
    const std::uint64_t count = 1 + random() % 3;
    for (std::uint64_t i = 0, left = pages; i < count && left != 0; ++i) {
      FrameExtent extent;
      extent.count = i + 1 == count ? left : 1 + random() % left;
      left -= extent.count;
      extent.first = (i + 1) * 512 * 4096 + (random() % 2 ? (start + pages - left - extent.count) % 512 : random() % 512);
      extent.layout = random() % 3 == 0 ? Layout::segments : Layout::pages;
      extents.push_back(extent);
    }
  } else {
    std::uint64_t next = 1u << 20;
    for (std::uint64_t done = 0; done < pages;) {
      FrameExtent extent;
      extent.count = std::min<std::uint64_t>(pages - done, random() % 3 == 0 ? 1 + random() % 2000 : 1 + random() % 20);
      const std::uint64_t page = start + done;
      // Half of them where the address and the frame agree on where 2 MiB begin.
      extent.first = (next + 1024) / 512 * 512 + (random() % 2 ? page % 512 : random() % 512);
      next = extent.first + extent.count;
      done += extent.count;
      extents.push_back(extent);
    }
  }
  const Bytes length{pages * 4096 - lead - (pages == 1 ? 0 : random() % 4096)};
  r.grant = {Key(index, 0), 1, verbs::Access::local_write, Iova(start * 4096 + lead), length, true};
  r.map = std::make_shared<DmaMap>(frames, extents, Bytes(lead), length);
  return r;
}

/// The frame of each page, one by one.
inline std::vector<std::uint64_t> frames_of(const translate::Region& r) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < r.map->pages().raw; ++i) out.push_back(r.map->page(i).raw / 4096);
  return out;
}

/// An address in page `i` of the region.
inline Iova address_in(const translate::Region& r, std::uint64_t i) {
  const std::uint64_t first = r.grant.start.raw / 4096;
  return i == 0 ? r.grant.start : Iova((first + i) * 4096);
}

}  // namespace mtsim::test
