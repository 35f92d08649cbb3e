#include "program/actor_observer.h"

namespace mtsim::program {

void Tally::called(Kind kind, int error) {
  ++operations_;
  ++by_kind_[static_cast<std::size_t>(kind)];
  if (error == 0) return;
  ++failed_;
  ++failures_[static_cast<std::size_t>(kind)][error];
}

void Tally::unexpected(const Surprise& surprise) {
  ++surprises_;
  if (first_.size() < kept) first_.push_back(surprise);
}

}  // namespace mtsim::program
