// What the command says of input that it refuses.
#pragma once

#include "support/run_command.h"

namespace mtsim::test {

/// stderr of a call that ends with exit code 2 and writes nothing on stdout, without the name of `folder`. Any other end gives a text
/// that no message equals.
inline std::string refusal(const TempFolder& folder, const std::vector<std::string>& arguments) {
  const CommandResult result = run_command(arguments);
  if (result.code != 2 || !result.out.empty())
    return "exit code " + std::to_string(result.code) + ", " + std::to_string(result.out.size()) + " bytes on stdout\n" + result.err;
  std::string text = result.err;
  const std::string prefix = folder.path("");
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) text.erase(at, prefix.size());
  return text;
}

}  // namespace mtsim::test
