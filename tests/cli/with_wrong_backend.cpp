// The diffbench program with two rows instead of the registry's: the oracle, and a backend whose
// last cell is one unit in the last place off. What it prints, writes and returns for the wrong row
// is the real program's; only the error messages of main.cpp are missing.
#include "command_line.hpp"
#include "comparison.hpp"
#include "comparison_options.hpp"
#include "diffbench/registry.hpp"
#include "wrong_session.hpp"

#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

int main(int argc, char** argv) {
  using namespace diffbench;
  using namespace diffbench::bench;

  BackendInfo wrong{.name = "wrong_corner", .description = "for tests"};
  wrong.make_float32 = [](const Problem& problem,
                          const SessionOptions&) -> std::unique_ptr<Session<float>> {
    return std::make_unique<conformance::WrongSession<float>>(problem,
                                                              conformance::Fault::wrong_corner);
  };
  static const std::vector<PlannedRow> planned_rows = {
      {.backend = require_backend("scalar"), .probe = {}}, {.backend = wrong, .probe = {}}};
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  Verb program{.name = "diffbench", .description = {}, .example = {}};
  program.declare = [](OptionList& options) -> Action {
    const auto run = std::make_shared<ComparisonOptions>();
    declare_comparison(options, *run);
    return [run](const Invocation& invocation) {
      return run_comparison(*run, planned_rows, invocation);
    };
  };
  const auto verb = std::get<ParsedVerb>(parse_options(arguments, program));
  return verb.action({std::cout, std::cerr, verb.command});
}
