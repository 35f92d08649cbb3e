#include "program/op.h"

namespace mtsim::program {
namespace {

template <class Index>
std::optional<std::uint32_t> found(const Index& index, std::string_view name) {
  const auto at = index.find(name);
  if (at == index.end()) return {};
  return at->second;
}

}  // namespace

std::optional<std::uint32_t> Names::find_host(std::string_view name) const { return found(host_index_, name); }
std::optional<ActorId> Names::find_actor(std::string_view name) const { return found(actor_index_, name); }
std::optional<std::uint32_t> Names::find_barrier(std::string_view name) const { return found(barrier_index_, name); }
NameId Names::find_object(std::uint32_t host, std::string_view name, Space space) const {
  return found(object_index_[host * space_count + static_cast<unsigned>(space)], name).value_or(0);
}

std::uint32_t Names::host(std::string_view name) {
  if (const auto known = find_host(name)) return *known;
  const auto index = static_cast<std::uint32_t>(hosts_.size());
  host_index_.emplace(name, index);
  hosts_.emplace_back(name);
  threads_.push_back(0);
  object_index_.resize(hosts_.size() * space_count);
  return index;
}

ActorId Names::actor(std::string_view name) {
  if (const auto known = find_actor(name)) return *known;
  const std::uint32_t on = host(name.substr(0, name.find('.')));
  const auto index = static_cast<ActorId>(actors_.size());
  actor_index_.emplace(name, index);
  actors_.push_back({on, threads_[on]++, std::string(name)});
  return index;
}

NameId Names::object(std::uint32_t host, std::string_view name, Space space) {
  if (const NameId known = find_object(host, name, space)) return known;
  const auto id = static_cast<NameId>(objects_.size());
  object_index_[host * space_count + static_cast<unsigned>(space)].emplace(name, id);
  objects_.push_back({host, std::string(name)});
  return id;
}

std::uint32_t Names::barrier(std::string_view name) {
  if (const auto known = find_barrier(name)) return *known;
  const auto index = static_cast<std::uint32_t>(barriers_.size());
  barrier_index_.emplace(name, index);
  barriers_.emplace_back(name);
  return index;
}

std::optional<std::uint32_t> Names::find_child(std::uint32_t host, std::string_view name) const {
  return host < child_index_.size() ? found(child_index_[host], name) : std::nullopt;
}

std::uint32_t Names::child(std::uint32_t host, std::string_view name) {
  if (const auto known = find_child(host, name)) return *known;
  const auto index = static_cast<std::uint32_t>(children_.size());
  if (child_index_.size() <= host) child_index_.resize(host + 1);
  child_index_[host].emplace(name, index);
  children_.push_back({host, std::string(name)});
  return index;
}

std::optional<std::uint32_t> Names::child_of(ActorId id) const {
  const Actor& actor = actors_[id];
  if (actor.host >= child_index_.size()) return {};
  const std::string_view thread = std::string_view(actor.name).substr(actor.name.find('.') + 1);
  for (std::size_t end = thread.rfind('_'); end != std::string_view::npos && end > 0; end = thread.rfind('_', end - 1))
    if (const auto child = find_child(actor.host, thread.substr(0, end))) return child;
  return {};
}

std::uint32_t Names::host_of(NameId id) const { return objects_[id].host; }
const std::string& Names::object_name(NameId id) const { return objects_[id].name; }

}  // namespace mtsim::program
