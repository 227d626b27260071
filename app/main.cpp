// SPDX-License-Identifier: Apache-2.0
// The diffbench program: parses, runs, and turns every error into one line and an exit code.
#include "command_line.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/problem.hpp"
#include "diffbench/text.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"
#include "launched.hpp"
#include "output.hpp"
#include "text_width.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace diffbench;
using namespace diffbench::bench;

int complain(std::string_view message, int exit_code) {
  tell(std::cerr, message);
  return exit_code;
}

struct Run {
  cluster::Ranks* ranks;

  int operator()(const Text& text) const {
    write_text(std::cout, text.text);
    return exit_ok;
  }
  int operator()(const ParsedVerb& verb) const {
    if (ranks != nullptr && ranks->size() > 1 && !verb.on_ranks) {
      throw InvalidInput("this verb does not run on several ranks; start it without the launcher");
    }
    std::ostream nowhere(nullptr);
    return verb.action({std::cout, verb.quiet ? nowhere : static_cast<std::ostream&>(std::cerr),
                        verb.command, ranks, verb.quiet});
  }
};

/// `launched` is filled, and outlives what is thrown: ranks end in order also after an error.
int run(const std::vector<std::string>& arguments, std::unique_ptr<LaunchedRanks>& launched) {
  try {
    launched = LaunchedRanks::join(arguments);
    if (launched && !launched->leads()) {
      launched->serve();
      return exit_ok;
    }
    cluster::Ranks* const ranks = launched ? &launched->lead() : nullptr;
    return std::visit(Run{ranks}, parse_options(arguments, program()));
  } catch (const SaidByRank0& end) {
    return end.exit_code;
  } catch (const OutputClosed&) {
    return exit_error;
  } catch (const Interrupted&) {
    return complain("interrupted", exit_interrupted);
  } catch (const Unstable& error) {
    return complain(fmt::format("{}, or --allow-unstable to see it diverge", error.what()),
                    exit_usage);
  } catch (const InvalidInput& error) {
    return complain(error.what(), exit_usage);
  } catch (const Unavailable& error) {
    return complain(error.what(), exit_unavailable);
  } catch (const std::bad_alloc&) {
    return complain("out of memory: choose a smaller problem (--grid, --batch) or fewer rows",
                    exit_error);
  } catch (const std::exception& error) {
    return complain(error.what(), exit_error);
  }
}

std::array<cpu_set_t, 64> own_cpus; // as many as a kernel may have
bool has_own_cpus = false;

/// Before the libraries are set up: with OMP_PROC_BIND libgomp then binds the first thread, and
/// with it all that asks for its CPUs later, also in children.
void note_own_cpus(int /*argc*/, char** /*argv*/, char** /*environment*/) {
  has_own_cpus = ::sched_getaffinity(0, sizeof own_cpus, own_cpus.data()) == 0;
}
[[gnu::section(".preinit_array"),
  gnu::used]] void (*const before_libraries)(int, char**, char**) = note_own_cpus;

} // namespace

int main(int argc, char** argv) {
  if (has_own_cpus) {
    ::sched_setaffinity(0, sizeof own_cpus, own_cpus.data());
  }
  // A reader that goes away (a pipe into head) is an error of a write, not the end of the program.
  // So is a file that grows beyond the limit of the shell (ulimit -f).
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // A parent may ignore the end of its children, and nobody could wait for one then.
  std::signal(SIGCHLD, SIG_DFL);
  if (const auto terminal = terminal_size()) {
    text_width = static_cast<std::size_t>(terminal->columns);
  }
  if (const auto terminal = terminal_size(STDERR_FILENO)) {
    error_width = static_cast<std::size_t>(terminal->columns);
  }
  std::unique_ptr<LaunchedRanks> launched;
  const std::vector<std::string> arguments{argv + (argc > 0 ? 1 : 0), argv + argc};
  return run(arguments, launched);
}
