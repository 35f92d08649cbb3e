#include "man_page.h"

#include <CLI/CLI.hpp>
#include <cctype>

namespace mtsim::tool {
namespace {

const char* const opening = R"(.SH DESCRIPTION
mtsim simulates to the cycle what registering memory for RDMA costs, and what the network adapter pays to translate and protect it
afterwards: from ibv_reg_mr in the kernel, through the tables that the adapter reads over PCIe, to the last completion.
It replays programs (traces recorded from real ones, or generated loads) on hosts described in YAML.
)";

const char* const closing = R"(.SH EXIT STATUS
.TP
.B 0
Success.
.TP
.B 1
An expectation failed, or a program could not go on.
.TP
.B 2
The input is wrong: standard error says what, where, and what is allowed; nothing is on standard output.
.TP
.B 3
A fault of mtsim's own.
.TP
.B 130
The run was interrupted; what was measured so far is printed and marked.
.SH ENVIRONMENT
.TP
.B NO_COLOR
Where it is set, no colour is used on a terminal.
.TP
.B MTSIM_CONFIGS
The folder of the shipped configurations, where it is not the one below.
.SH FILES
.TP
.I share/mtsim/configs
A complete system (base.yaml), overlays for adapters and drivers, examples, and the JSON Schema of configurations (schema.json).
A name that begins with mtsim: is looked for here, on the command line and in `extends': mtsim:examples/pool_vs_per_op.yaml.
.TP
.I share/mtsim/traces
Small lessons, and traces recorded from real programs.
.TP
.I share/doc/mtsim
What is modelled, and how configurations and traces are written.
.PP
They stand beside the folder of the command: below
.I /usr
where it is
.IR /usr/bin/mtsim .
)";

/// Text that no macro or escape is taken out of.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') out += "\\(rs";
    else if (c == '-') out += "\\-";
    else if (c == '\n') out += ' ';
    else out += c;
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

/// What an option takes: `FILE`, or the words of `TEXT:{asap,recorded}`.
std::string value_of(const CLI::Option& option) {
  if (option.get_type_size() == 0) return {};
  const std::string type = option.get_type_name();
  const auto words = type.find(":{");
  return words == std::string::npos ? type : type.substr(words + 1);
}

std::string names_of(const CLI::Option& option) {
  std::string names = option.get_name(false, true);
  for (std::size_t at = names.find(','); at != std::string::npos; at = names.find(',', at + 2)) names.insert(at + 1, " ");
  return bold(names);
}

std::string options_text(const std::vector<const CLI::Option*>& options) {
  std::string out;
  for (const CLI::Option* option : options) {
    out += ".TP\n";
    if (option->get_positional()) out += italic(upper(option->get_name(true)));
    else out += names_of(*option);
    if (const std::string value = value_of(*option); !value.empty() && !option->get_positional()) out += " " + italic(value);
    // On a line of its own, where a leading dot would be a macro.
    out += "\n\\&" + plain(option->get_description()) + "\n";
  }
  return out;
}

/// Those of a command, besides --help, which all have.
std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  return command.get_options([&](const CLI::Option* option) { return !option->get_group().empty() && option != command.get_help_ptr(); });
}

/// The words of a command as one types them: `mtsim run [OPTION]... CONFIG [TRACE]`.
std::string usage(const CLI::App& command) {
  std::string out = bold("mtsim " + command.get_name()) + " [" + italic("OPTION") + "]...";
  for (const CLI::Option* option : options_of(command)) {
    if (option->get_positional()) {
      const std::string name = italic(upper(option->get_name(true)));
      out += option->get_required() ? " " + name : " [" + name + "]";
    } else if (option->get_required()) {
      out += " " + bold(option->get_name()) + " " + italic(value_of(*option));
    }
  }
  return out;
}

}  // namespace

std::string man_page(const CLI::App& app) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const std::string about = app.get_description();
  std::string out = ".TH MTSIM 1 \"\" \"mtsim " MTSIM_VERSION "\" \"User Commands\"\n";
  out += ".SH NAME\nmtsim \\- " + plain(about.substr(about.find(": ") + 2)) + "\n.SH SYNOPSIS\n";
  for (const CLI::App* command : commands) out += usage(*command) + "\n.br\n";
  out += bold("mtsim") + " [" + italic("COMMAND") + "] " + bold("--help") + "\n.br\n" + bold("mtsim --version") + "\n" + opening +
         ".SH COMMANDS\n";
  for (const CLI::App* command : commands)
    out += ".SS " + command->get_name() + "\n" + usage(*command) + "\n.PP\n\\&" + plain(command->get_description()) + ".\n" +
           options_text(options_of(*command));
  return out + ".SH GENERAL OPTIONS\n" + options_text(app.get_options()) + closing;
}

}  // namespace mtsim::tool
