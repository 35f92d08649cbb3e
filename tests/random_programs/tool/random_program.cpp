// Writes a random program as a trace: the same program as in the tests, for other machines to run. `--for rxe` makes it one for a real rxe
// of Linux 6.1 on a machine that may be slow, and says on standard error what is in it.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>

#include "random_programs/generator.h"
#include "random_programs/writer.h"

namespace {

using namespace mtsim::random_programs;

constexpr const char* usage =
    "usage: random_program SEED [--operations N] [--racy] [--rules ib|mlx5|rxe-6.1] [--timeout CODE] [--mtu BYTES]\n"
    "                      [--without windows|uc_local_errors|queries|events]... [-o FILE]\n"
    "       random_program SEED --for rxe [--operations N] [--without windows|uc_local_errors|queries]... [-o FILE]\n"
    "--for rxe: a program for a real rxe of Linux 6.1 (rules, timeout and MTU are set), with what is in it on standard error\n";

struct Asked {
  Options options;
  std::string file, device;
};

Asked parse(int count, char** words) {
  Asked asked;
  asked.options.rules = rules_ib();
  bool seed = false, set = false;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&]() -> std::string {
      if (++i >= count) throw std::invalid_argument(word + " needs a value");
      return words[i];
    };
    if (word == "--operations") asked.options.operations = static_cast<unsigned>(std::stoul(value()));
    else if (word == "--racy") asked.options.racy = true;
    else if (word == "--rules") asked.options.rules = rules_named(value()), set = true;
    else if (word == "--timeout") asked.options.timeout = static_cast<unsigned>(std::stoul(value())), set = true;
    else if (word == "--mtu") asked.options.largest_mtu = static_cast<unsigned>(std::stoul(value())), set = true;
    else if (word == "--for") asked.device = value();
    else if (word == "-o") asked.file = value();
    else if (word == "--without") without(asked.options, value());
    else if (seed || word.empty() || word[0] == '-') throw std::invalid_argument("unexpected " + word);
    else asked.options.seed = std::stoull(word), seed = true;
  }
  if (!seed) throw std::invalid_argument("no seed");
  if (asked.device.empty()) return asked;
  if (asked.device != "rxe") throw std::invalid_argument("no programs for '" + asked.device + "': rxe");
  if (set) throw std::invalid_argument("--for rxe sets --rules, --timeout and --mtu itself");
  for_rxe(asked.options);
  return asked;
}

}  // namespace

int main(int count, char** words) {
  try {
    const Asked asked = parse(count, words);
    const Program program = generate(asked.options);
    const std::string text = trace_of(program);
    if (!asked.device.empty()) std::cerr << census_of(program);
    if (asked.file.empty()) std::cout << text;
    else std::ofstream(asked.file, std::ios::binary) << text;
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "random_program: " << error.what() << "\n" << usage;
    return 2;
  }
}
