// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "interrupt.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace diffbench::bench::lesson {

namespace {

/// Not a ChildProcess: whoever takes the lesson sees its tables and its progress. It stays in our
/// process group, so a Ctrl-Z stops both.
pid_t start(const std::vector<std::string>& arguments) {
  std::vector<char*> words{const_cast<char*>("diffbench")}; // exec does not write to them
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t child = 0;
  const int failure =
      posix_spawn(&child, program_path().c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw Error(fmt::format("cannot start diffbench {}: {}",
                            arguments.empty() ? "" : arguments.front(), std::strerror(failure)));
  }
  return child;
}

} // namespace

int run_here(const std::vector<std::string>& arguments) {
  const pid_t child = start(arguments);
  bool passed_on = false;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) != child) {
    if (interrupted() && !passed_on) {
      // From a terminal it has had the signal, too: twice at once is one request (interrupt.hpp).
      kill(child, SIGINT);
      passed_on = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace diffbench::bench::lesson
