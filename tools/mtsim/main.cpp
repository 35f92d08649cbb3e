// mtsim: the command.
#include <cstdlib>
#include <iostream>
#include <systemc>

#include "base/error.h"
#include "command.h"

namespace {

using namespace mtsim;

/// Exit codes of the command, besides 0, 1 and 130.
constexpr int users_mistake = 2, our_fault = 3;

/// Of an unknown word the parser would say only that a command is missing.
void refuse_unknown_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  std::string list;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == word) return;
    known.push_back(command->get_name());
    list += (list.empty() ? "" : ", ") + command->get_name();
  }
  throw UserError("there is no command '" + word + "'; known: " + list + did_you_mean(word, known));
}

int execute(int argc, char** argv) {
  CLI::App app{"mtsim: cycle-level simulator of how an RDMA NIC translates and protects memory"};
  app.set_version_flag("--version", MTSIM_VERSION);
  app.require_subcommand(1);
  tool::Action chosen;
  tool::add_run(app, chosen);
  tool::add_check(app, chosen);
  tool::add_describe(app, chosen);
  tool::add_gen(app, chosen);
  if (argc > 1 && argv[1][0] != '-') refuse_unknown_command(app, argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);
    return code == 0 ? 0 : users_mistake;
  }
  return chosen();
}

}  // namespace

int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  // SystemC greets on stderr unless it is told not to; what it would report ends in our own words.
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_INSTANCE_EXISTS_, sc_core::SC_DO_NOTHING);
  try {
    return execute(argc, argv);
  } catch (const UserError& error) {
    for (const std::string& message : error.messages()) std::cerr << message << '\n';
    return users_mistake;
  } catch (const std::exception& error) {
    std::cerr << "mtsim: internal error: " << error.what() << '\n';
    return our_fault;
  }
}
