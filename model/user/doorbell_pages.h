// Where the provider library keeps doorbell records: in pages of their own, one record a cache line (rdma-core providers/mlx5/dbrec.c).
// Pure state.
#pragma once

#include <cstdint>
#include <map>

namespace mtsim::user {

class DoorbellPages {
 public:
  static constexpr std::uint32_t records = 64;  ///< of a page

  struct Place {
    std::uint32_t page = 0;
    bool fresh = false;  ///< the page has to be allocated first
  };
  /// A place for one more record.
  Place take() {
    for (auto& [page, used] : used_)
      if (used < records) {
        ++used;
        return {page, false};
      }
    used_[++last_] = 1;
    return {last_, true};
  }
  /// True: the page has no record any more and goes.
  bool give_back(std::uint32_t page) {
    const auto at = used_.find(page);
    if (--at->second != 0) return false;
    used_.erase(at);
    return true;
  }

 private:
  std::map<std::uint32_t, std::uint32_t> used_;  ///< records by page
  std::uint32_t last_ = 0;
};

}  // namespace mtsim::user
