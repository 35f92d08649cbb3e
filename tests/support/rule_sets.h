// Traces run under several rule sets: a configuration for each, and which of them a trace is for.
#pragma once

#include <map>
#include <sstream>
#include <string>

#include "support/run_command.h"

namespace mtsim::test {

/// Configurations by rule set. rxe's need its driver as well, for what it answers to calls.
inline std::map<std::string, std::string> configurations(const TempFolder& folder) {
  const std::string rxe =
      "extends: [" MTSIM_SOURCE_DIR "/configs/examples/recorded.yaml, " MTSIM_SOURCE_DIR "/configs/drivers/rxe.yaml]\nrules: ";
  return {{"ib", MTSIM_SOURCE_DIR "/configs/examples/recorded.yaml"},
          {"rxe-6.1", folder.write("rxe_6_1.yaml", rxe + "rxe-6.1\n")},
          // What configs/drivers/rxe.yaml says of Linux 6.12.
          {"rxe-6.12", folder.write("rxe_6_12.yaml", rxe + "rxe-6.12\ndriver: {refused_access: zb ht, rkey: lkey, flush: true}\n"
                                                           "kernel: {pin_by_force: false, without_on_demand: EOPNOTSUPP}\n")}};
}

/// Whether the trace has something to say under `set`: with `meta sets="..."` under those alone.
inline bool is_for(const std::string& text, const std::string& set) {
  const std::string mark = "\nmeta sets=\"";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return true;
  std::istringstream words(text.substr(at + mark.size(), text.find('"', at + mark.size()) - at - mark.size()));
  for (std::string word; words >> word;)
    if (word == set) return true;
  return false;
}

}  // namespace mtsim::test
