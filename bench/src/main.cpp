// The diffbench program: parses, runs, and turns every error into one line and an exit code.
#include "comparison.hpp"
#include "diffbench/errors.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "output.hpp"

#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace diffbench;
using namespace diffbench::bench;

int complain(std::string_view message, int exit_code) {
  std::cerr << "diffbench: " << one_line(message) << std::endl;
  return exit_code;
}

struct Run {
  int operator()(const Text& text) const {
    write_out(std::cout, text.text);
    return exit_ok;
  }
  int operator()(const Verb& verb) const {
    std::ostringstream text;
    int exit_code = exit_error;
    Outputs outputs; // what a verb has said before one of its files fails is not lost
    outputs.attempt([&] { exit_code = verb.action({text, std::cerr, verb.command}); });
    outputs.attempt([&] { write_out(std::cout, text.str()); });
    outputs.rethrow_failure();
    return exit_code;
  }
  int operator()(const Options& options) const {
    return run_comparison(options, std::cout, std::cerr);
  }
};

} // namespace

int main(int argc, char** argv) {
  // A reader that goes away (a pipe into head) is an error of a write, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return std::visit(Run{}, parse_options(arguments));
  } catch (const OutputClosed&) {
    return exit_error;
  } catch (const Interrupted&) {
    return complain("interrupted", exit_interrupted);
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
