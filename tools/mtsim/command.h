// The commands of mtsim. Each adds itself to the command line and says what to do when it is chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace mtsim::tool {

/// What a chosen command returns: 0 success, 1 an expectation failed, 130 interrupted. Mistakes of the user are thrown as UserError.
using Action = std::function<int()>;

void add_run(CLI::App& app, Action& chosen);
void add_check(CLI::App& app, Action& chosen);
void add_describe(CLI::App& app, Action& chosen);
void add_gen(CLI::App& app, Action& chosen);

}  // namespace mtsim::tool
