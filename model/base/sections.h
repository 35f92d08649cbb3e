// Every declared section, for `mtsim describe`, the schema and the check for unknown keys.
#pragma once

#include <vector>

#include "base/parameter.h"

namespace mtsim {

class Sections {
 public:
  /// Sorted by path.
  static std::vector<const Section*> all();

  /// Put one at namespace scope beside the parameters: `const Sections::Entrant<LinkParams> declared;`
  template <class Params>
  struct Entrant {
    Entrant() { add(&section_of<Params>()); }
  };

 private:
  static void add(const Section*);
};

}  // namespace mtsim
