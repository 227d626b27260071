// SPDX-License-Identifier: Apache-2.0
// The suite stencil with one backend that cannot be trusted: in float32 its last cell is one unit
// in the last place off, in float64 it has no session at all.
#include "suite.hpp"
#include "suites.hpp"
#include "wrong_session.hpp"

#include <memory>
#include <vector>

int main(int argc, char** argv) {
  using namespace diffbench;
  BackendInfo wrong{.name = "wrong_corner", .description = "for tests"};
  wrong.make_float32 = [](const Problem& problem,
                          const SessionOptions&) -> std::unique_ptr<Session<float>> {
    return std::make_unique<conformance::WrongSession<float>>(problem,
                                                              conformance::Fault::wrong_corner);
  };
  wrong.make_float64 = [](const Problem&,
                          const SessionOptions&) -> std::unique_ptr<Session<double>> {
    throw Error("no session");
  };
  const std::vector<BackendInfo> backends = {require_backend("scalar"), wrong};
  bench::add_stencils(backends, {});
  return bench::run_suite("suite_with_wrong_backend", argc, argv);
}
