// mlx5's mkey cache, Linux 6.12 hw/mlx5/mr.c. Keys are parked by size class when their MR goes, and the one parked last is taken first:
// registering again gives the very same key. A class that runs low is filled again on the side; sizes without a class get one of their
// own for a while. Everything old is looked at when the driver is next called: a parked key's age has no effect before that.
#include <algorithm>
#include <map>
#include <vector>

#include "kernel/key_index.h"
#include "kernel/key_policy.h"

namespace mtsim::kernel {
namespace {

constexpr std::uint64_t smallest_class = 4;  // MLX5_MR_CACHE_PERSISTENT_ENTRY_MIN_DESCS
constexpr Time second = us(1'000'000);
constexpr Time never{INT64_MAX};

/// Keys of a class can stand in for each other (mlx5r_cache_rb_key). Those that are made ahead have no fixed flags.
struct ClassKey {
  verbs::Access fixed = verbs::Access::none;
  std::uint64_t entries = 0;
  friend auto operator<=>(const ClassKey&, const ClassKey&) = default;
};

struct Class {
  std::uint32_t limit = 0;
  bool temporary = false;
  std::vector<Key> parked;
  std::uint32_t pending = 0;  ///< creations under way
  bool filling = false;       ///< fill_to_high_water
  bool work = false;          ///< one more creation is asked for
  Time look = never;          ///< when what is too many is looked at, or a temporary class cleaned
};

class CachedKeys : public KeyPolicy {
 public:
  explicit CachedKeys(const KeyPolicyOptions& options) : options_(options.cache), indices_(options.most_keys) {
    for (std::size_t i = 0; i < options_.limits.size(); ++i) {
      Class& made = classes_[{verbs::Access::none, smallest_class << i}];
      made.limit = options_.limits[i];
      for (unsigned n = 0; options_.prefill && n < 2 * made.limit; ++n)
        if (const auto index = indices_.take()) made.parked.emplace_back(*index, ++variant_);
      adjust(made, Time());
    }
    // Always there, never filled ahead (mlx5_odp_init_mkey_cache).
    classes_[{verbs::Access::none, table_of_keys | implicit_region_keys}];
  }

  std::optional<KeyGrant> take(const KeyNeed& need, Time now) override {
    age(now);
    // mlx5_ib_alloc_mw creates the key itself.
    if (need.window) {
      const auto index = indices_.take();
      return index ? std::optional(KeyGrant{Key(*index, ++variant_)}) : std::nullopt;
    }
    const auto found = find(need);
    if (found == classes_.end()) {
      // reg_create, under slow_path_mutex
      const auto index = indices_.take();
      ++uncached_;
      if (!index) return std::nullopt;
      return KeyGrant{Key(*index, ++variant_), false, true, need.entries, need.fixed};
    }
    Class& from = found->second;
    if (!from.parked.empty()) {
      const Key key = from.parked.back();
      from.parked.pop_back();
      ++hits_;
      adjust(from, now);
      return KeyGrant{key, true, false, found->first.entries, need.fixed};
    }
    adjust(from, now);
    ++misses_;
    // create_cache_mkey, which leaves the variant 0
    const auto index = indices_.take();
    if (!index) return std::nullopt;
    last_added_ = now;
    return KeyGrant{Key(*index, 0), false, false, found->first.entries, need.fixed};
  }

  bool keeps(const KeyGrant&) const override { return true; }
  bool of_device() const override { return true; }

  /// cache_ent_find_and_store
  void give_back(const KeyGrant& grant, Time now) override {
    age(now);
    if (!grant.created) {
      indices_.give_back(grant.key.index());
      return;
    }
    const auto [at, made] = classes_.try_emplace(ClassKey{grant.fixed, grant.entries});
    Class& into = at->second;
    if (made) into.temporary = true;
    into.parked.push_back(grant.key);
    if (into.temporary && into.look == never) look_at(into, now + options_.temporary_age);
  }

  /// __cache_work_func
  std::optional<KeyChore> next_chore(Time now) override {
    age(now);
    if (!destroying_ && !doomed_.empty()) {
      // One after the other. The index is free at once: in life the command came earlier.
      const Key key = doomed_.back();
      doomed_.pop_back();
      indices_.give_back(key.index());
      destroying_ = true;
      ++removed_;
      return KeyChore{KeyChore::Kind::destroy, key, 0};
    }
    if (!any_work_) return std::nullopt;
    for (auto& [key, of] : classes_) {
      if (!of.work) continue;
      of.work = false;
      if (!of.filling || of.parked.size() + of.pending >= 2 * of.limit || now < fill_again_ || of.pending >= options_.in_flight) continue;
      const auto index = indices_.take();
      if (!index) {
        // create_mkey_callback: the device has refused, and nobody tries for a second.
        fill_again_ = now + second;
        return std::nullopt;
      }
      ++of.pending;
      ++refills_;
      return KeyChore{KeyChore::Kind::create, Key(*index, ++variant_), key.entries};
    }
    any_work_ = false;
    return std::nullopt;
  }

  void done(const KeyChore& chore, Time now) override {
    if (chore.kind == KeyChore::Kind::destroy) {
      destroying_ = false;
      return;
    }
    Class& into = classes_[{verbs::Access::none, chore.entries}];
    --into.pending;
    into.parked.push_back(chore.key);
    last_added_ = now;
    adjust(into, now);
  }

  std::vector<KeyCount> counts() const override {
    std::uint64_t parked = 0;
    for (const auto& [key, of] : classes_) parked += of.parked.size();
    return {{"hits", "keys taken from the cache", hits_},
            {"misses", "keys created in a call, as their class was empty", misses_},
            {"uncached", "keys created in a call, as there was no class of their size", uncached_},
            {"refills", "keys created on the side", refills_},
            {"removed", "parked keys destroyed for their age", removed_},
            {"parked", "keys parked now", parked, true}};
  }

 private:
  /// mkey_cache_ent_from_rb_key: the smallest class with room, unless it is more than twice too large.
  std::map<ClassKey, Class>::iterator find(const KeyNeed& need) {
    if ((need.entries & table_of_keys) != 0) return classes_.find({need.fixed, need.entries});
    const auto found = classes_.lower_bound({need.fixed, need.entries});
    if (found == classes_.end() || found->first.fixed != need.fixed) return classes_.end();
    return found->first.entries > std::max(2 * need.entries, smallest_class) ? classes_.end() : found;
  }

  /// queue_adjust_cache_locked
  void adjust(Class& of, Time now) {
    if (of.temporary || now < fill_again_) return;
    if (of.parked.size() < of.limit) {
      of.filling = of.work = any_work_ = true;
    } else if (of.filling && of.parked.size() + of.pending < 2 * of.limit) {
      of.work = any_work_ = true;
    } else if (of.parked.size() >= 2 * of.limit) {
      of.filling = false;
      if (of.parked.size() > 2 * of.limit && of.look == never) look_at(of, of.pending == 0 ? now : now + second);
    }
  }

  void look_at(Class& of, Time when) {
    of.look = when;
    next_look_ = std::min(next_look_, when);
  }

  /// What the delayed work of the classes would have done up to now.
  void age(Time now) {
    if (now < next_look_) return;
    next_look_ = never;
    for (auto& [key, of] : classes_) {
      while (of.look <= now) {
        const std::size_t most = of.temporary ? 0 : 2 * of.limit;
        if (!of.temporary && of.parked.size() > most && (somebody_adds() || of.look <= last_added_ + options_.age)) {
          of.look += options_.age;
          continue;
        }
        while (of.parked.size() > most) {
          doomed_.push_back(of.parked.back());
          of.parked.pop_back();
        }
        of.look = never;
      }
      next_look_ = std::min(next_look_, of.look);
    }
  }

  bool somebody_adds() const {
    return std::any_of(classes_.begin(), classes_.end(), [](const auto& of) { return of.second.parked.size() < of.second.limit; });
  }

  KeyCacheOptions options_;
  KeyIndices indices_;
  std::map<ClassKey, Class> classes_;
  std::vector<Key> doomed_;
  bool destroying_ = false, any_work_ = false;
  Time next_look_ = never;  ///< of all classes
  Time last_added_, fill_again_;
  std::uint8_t variant_ = 0;
  std::uint64_t hits_ = 0, misses_ = 0, uncached_ = 0, refills_ = 0, removed_ = 0;
};

const KeyPolicies::Entrant registered("cache", "keys are parked by size and used again, the last one first (mlx5)",
                                      [](const KeyPolicyOptions& options) { return std::make_unique<CachedKeys>(options); });

}  // namespace
}  // namespace mtsim::kernel
