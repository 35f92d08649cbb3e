// Does the manual page name all that the command takes, and can it be read?
#include <catch2/catch.hpp>
#include <set>
#include <sstream>
#include <string>

#include "support/run_command.h"

using namespace mtsim::test;

namespace {

/// Words of `help` that begin with `-`, and the word that each line of `Subcommands:` begins with.
std::set<std::string> options_in(const std::string& help) {
  std::set<std::string> out;
  std::string text = help;
  for (char& c : text)
    if (std::string(",[]()").find(c) != std::string::npos) c = ' ';
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (word.size() > 1 && word[0] == '-' && word != "--") out.insert(word);
  return out;
}

std::vector<std::string> commands_in(const std::string& help) {
  std::vector<std::string> out;
  std::istringstream lines(help.substr(help.find("Subcommands:\n")));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line))
    if (line.size() > 2 && line[2] != ' ') out.push_back(line.substr(2, line.find(' ', 2) - 2));
  return out;
}

}  // namespace

TEST_CASE("The manual page renders without a warning and names every command and option", "[man_page]") {
  const CommandResult markup = run_command({"--man-page"});
  REQUIRE(markup.code == 0);
  const TempFolder folder;
  // Debian's package man-db brings it: tools/install-dependencies test.
  const CommandResult man =
      run_program("env", {"LC_ALL=C", "MANWIDTH=100", "MANROFFOPT=-ww", "man", "--warnings=w", "-l", folder.write("mtsim.1", markup.out)});
  CHECK(man.code == 0);
  CHECK(man.err.empty());
  CHECK(man.out.find("\nNAME\n") != std::string::npos);

  const std::string help = run_command({"--help"}).out;
  const auto commands = commands_in(help);
  REQUIRE(commands.size() >= 4);
  std::set<std::string> options = options_in(help);
  for (const std::string& command : commands) {
    INFO(command);
    CHECK(man.out.find("\n   " + command + "\n") != std::string::npos);
    CHECK(man.out.find("\n       mtsim " + command + " [OPTION]...") != std::string::npos);
    options.merge(options_in(run_command({command, "--help"}).out));
  }
  CHECK(options.count("--json") == 1);
  for (const std::string& option : options) {
    INFO(option);
    CHECK(options_in(man.out).count(option) == 1);
  }
}
