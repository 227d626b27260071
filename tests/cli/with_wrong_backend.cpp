// The diffbench program with two rows instead of the registry's: the oracle, and a backend whose
// last cell is one unit in the last place off. What it prints, writes and returns for the wrong row
// is the real program's; only the error messages of main.cpp are missing.
#include "comparison.hpp"
#include "diffbench/registry.hpp"
#include "options.hpp"
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
  const std::vector<Candidate> candidates = {{.backend = require_backend("scalar"), .probe = {}},
                                             {.backend = wrong, .probe = {}}};
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return run_comparison(std::get<Options>(parse_options(arguments)), candidates, std::cout,
                        std::cerr);
}
