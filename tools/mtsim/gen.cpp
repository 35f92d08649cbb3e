// mtsim gen.
#include <iostream>
#include <sstream>

#include "base/config.h"
#include "base/error.h"
#include "command.h"
#include "program/trace_writer.h"
#include "program/workload.h"
#include "results/output_file.h"
#include "system/settings.h"

namespace mtsim::tool {
int generate(const GenArguments& arguments) {
  const Config config = Config::load(arguments.config, arguments.sets);
  if (!config.has("workload")) throw UserError(arguments.config + ": there is no workload to write out");
  const std::string kind = config.word("workload.kind", "", program::Workloads::names());
  const auto workload = program::Workloads::make(kind, config);
  // The rest of the configuration is read for its mistakes.
  system::read_settings(config);
  const std::vector<std::string> hosts = workload ? workload->names().hosts() : std::vector<std::string>{""};
  for (const std::string& host : hosts) system::read_host(config, host);
  config.finish();

  results::OutputFile out(arguments.output);
  std::ostringstream text;
  program::TraceWriter writer(text, workload->names());
  writer.meta({{"source", "mtsim gen"}, {"workload", kind}});
  for (const std::string& host : workload->names().hosts()) writer.host(host, 0);
  const auto all = workload->all();
  const auto flush = [&] {
    out.write(text.str());
    text.str({});
  };
  for (program::Op op; all->next(op);) {
    writer.write(op);
    if (text.tellp() > 1 << 20) flush();
  }
  flush();
  out.commit();
  return 0;
}

}  // namespace mtsim::tool
