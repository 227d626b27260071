// SPDX-License-Identifier: Apache-2.0
// The diffbench program with other rows than the registry's: the oracle, and a backend whose last
// cell is one unit in the last place off; or, where the first argument is `planted`, all of
// planted_session.hpp. What it prints, writes and returns for wrong rows is the real program's;
// only the error messages of main.cpp are missing.
#include "command_line.hpp"
#include "comparison.hpp"
#include "diffbench/registry.hpp"
#include "planted_session.hpp"
#include "wrong_session.hpp"

#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace {

using namespace diffbench;
using namespace diffbench::bench;

BackendInfo wrong_corner() {
  BackendInfo wrong{.name = "wrong_corner", .description = "for tests"};
  wrong.make_float32 = [](const Problem& problem,
                          const SessionOptions&) -> std::unique_ptr<Session<float>> {
    return std::make_unique<conformance::WrongSession<float>>(problem,
                                                              conformance::Fault::wrong_corner);
  };
  return wrong;
}

std::vector<PlannedRow> rows_of(const std::vector<BackendInfo>& wrong) {
  std::vector<PlannedRow> rows{{.backend = require_backend("scalar"), .probe = {}}};
  for (const BackendInfo& backend : wrong) {
    rows.push_back({.backend = backend, .probe = {}});
  }
  return rows;
}

} // namespace

int main(int argc, char** argv) {
  const bool planted = argc > 1 && std::string_view(argv[1]) == "planted";
  static const std::vector<PlannedRow> planned_rows =
      rows_of(planted ? conformance::planted_backends() : std::vector{wrong_corner()});
  const std::vector<std::string> arguments(argv + (planted ? 2 : 1), argv + argc);
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
