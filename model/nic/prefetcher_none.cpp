// Lines are fetched when they are asked for.
#include "nic/prefetcher.h"

namespace mtsim::nic {
namespace {

const Prefetchers::Entrant registered("none", "nothing is fetched ahead", [] { return nullptr; });

}  // namespace
}  // namespace mtsim::nic
