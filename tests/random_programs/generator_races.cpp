#include "generator.h"

namespace mtsim::random_programs {

void Generator::racy_round() { burst(); }

}  // namespace mtsim::random_programs
