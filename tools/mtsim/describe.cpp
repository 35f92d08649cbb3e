// mtsim describe.
#include "base/describe.h"

#include <iostream>

#include "base/sections.h"
#include "command.h"

namespace mtsim::tool {

void add_describe(CLI::App& app, Action& chosen) {
  auto* command = app.add_subcommand("describe", "Every component and parameter: unit, default, range, meaning, source of the default");
  auto name = std::make_shared<std::string>();
  command->add_option("component", *name, "A section (nic.mtt_cache), a parameter of one, or the beginning of several");
  command->callback([&chosen, name] {
    chosen = [name] {
      std::cout << (name->empty() ? describe(Sections::all()) : describe(Sections::all(), *name));
      return 0;
    };
  });
}

}  // namespace mtsim::tool
