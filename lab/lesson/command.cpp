// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include "diffbench/machine.hpp"
#include "interrupt.hpp"
#include "process.hpp"

#include <csignal>
#include <limits>

namespace diffbench::bench::lesson {

int run_here(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"diffbench"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  // Not a ChildProcess: whoever takes the lesson sees its tables and its progress. It stays in our
  // process group, so a Ctrl-Z stops both.
  Process child({.words = words,
                 .path = program_path().string(),
                 .input = "/dev/null",
                 .own = ProcessPlan::Own::nothing});
  constexpr double for_ever = std::numeric_limits<double>::infinity();
  if (!child.wait(for_ever, interrupted)) {
    // From a terminal it has had the signal, too: twice at once is one request (interrupt.hpp).
    child.send(SIGINT);
  }
  return child.wait(for_ever)->status;
}

} // namespace diffbench::bench::lesson
