// The diffbench program: parses, runs, and turns every error into one line and an exit code.
#include "command_line.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "text_table.hpp"
#include "verbs.hpp"

#include <csignal>
#include <cstddef>
#include <exception>
#include <iostream>
#include <new>
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
    return verb.action({std::cout, std::cerr, verb.command});
  }
};

} // namespace

int main(int argc, char** argv) {
  // A reader that goes away (a pipe into head) is an error of a write, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  if (const auto columns = terminal_columns()) {
    table_width = static_cast<std::size_t>(*columns);
  }
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return std::visit(Run{}, parse_options(arguments, program()));
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
