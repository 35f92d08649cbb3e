// Runs the built command as a user would, and keeps what it wrote.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_folder.h"

extern char** environ;

namespace mtsim::test {

struct CommandResult {
  int code = -1;  ///< exit code, or minus the signal that ended it
  std::string out, err;
};

/// The command under way. Waits for it at the end of its life; a test that is over does not leave it running.
class Command {
 public:
  explicit Command(const std::vector<std::string>& arguments) : Command(MTSIM_COMMAND, arguments) {}
  /// Another program; a name without a slash is looked for on PATH.
  Command(const std::string& program, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, folder_.path("out").c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, folder_.path("err").c_str(), O_WRONLY | O_CREAT, 0600);
    const int error = posix_spawnp(&pid_, argv[0], &files, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw std::runtime_error(std::string("cannot start ") + argv[0]);
  }
  ~Command() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  void signal(int number) const { ::kill(pid_, number); }
  /// Waits until it ends, or kills it: nothing here takes that long, also where other work keeps the machine busy.
  CommandResult finish(std::chrono::seconds limit = std::chrono::minutes(10)) {
    const auto until = std::chrono::steady_clock::now() + limit;
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > until) throw std::runtime_error("the command does not end");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    pid_ = -1;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return {code, read_file(folder_.path("out")), read_file(folder_.path("err"))};
  }

 private:
  TempFolder folder_;
  pid_t pid_ = -1;
};

inline CommandResult run_command(const std::vector<std::string>& arguments) { return Command(arguments).finish(); }
inline CommandResult run_program(const std::string& program, const std::vector<std::string>& arguments) {
  return Command(program, arguments).finish();
}

}  // namespace mtsim::test
