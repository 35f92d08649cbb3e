#include "program/actors.h"

#include <algorithm>
#include <utility>

namespace mtsim::program {

Actors::Actors(const Program& program, std::vector<verbs::Device*> devices, verbs::Meeting& meeting, Observer& observer, ReplayTime time)
    : objects_(program.names()), devices_(std::move(devices)), children_(program.names().child_count()) {
  const Names& names = program.names();
  std::vector<std::uint32_t> threads(names.hosts().size(), 0);
  for (const Names::Actor& actor : names.actors()) ++threads[actor.host];
  for (const std::uint32_t count : threads) requests_.emplace_back(count);
  lookouts_.resize(threads.size());
  const Scene scene{names, objects_, requests_, lookouts_, devices_, meeting, observer, children_, time};
  for (ActorId id = 0; id < names.actors().size(); ++id) actors_.push_back(std::make_unique<Actor>(id, scene, program.cursor(id)));
}

void Actors::start() {
  for (const auto& actor : actors_) actor->start();
}

bool Actors::done() const {
  return std::all_of(actors_.begin(), actors_.end(), [](const auto& actor) { return actor->done(); });
}

std::uint64_t Actors::operations_begun() const {
  std::uint64_t sum = 0;
  for (const auto& actor : actors_) sum += actor->operations_begun();
  return sum;
}

std::vector<std::string> Actors::standing() const {
  std::vector<std::string> out;
  for (const auto& actor : actors_)
    if (!actor->done()) out.push_back(actor->where());
  return out;
}

}  // namespace mtsim::program
