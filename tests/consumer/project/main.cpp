// SPDX-License-Identifier: Apache-2.0
// Solves one problem with two backends of the installed library and compares their fields.
#include "diffbench/initial.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/verify.hpp"

#include <cstdio>
#include <string_view>

namespace {

diffbench::Field<float> solve(const diffbench::Problem& problem, std::string_view backend) {
  diffbench::Field<float> field(problem.nx, problem.ny);
  diffbench::fill_initial(problem, diffbench::InitialField{}, field);
  const auto session = diffbench::require_backend(backend).make_float32(problem, {});
  session->upload(field.cells());
  session->advance(100);
  session->download(field.cells());
  return field;
}

} // namespace

int main() {
  diffbench::Problem problem;
  problem.nx = 67;
  problem.ny = 41;
  diffbench::validate(problem);

  const diffbench::Field<float> fused = solve(problem, "fused");
  const diffbench::Field<float> scalar = solve(problem, "scalar");
  const auto comparison = diffbench::compare<float>(fused.cells(), scalar.cells());
  const auto summary = diffbench::summarize<float>(fused.cells());
  std::printf("fused and scalar: %s, sum %.6f\n", comparison.bitwise ? "equal" : "DIFFERENT",
              summary.sum);
  // A field of zeros would be equal too.
  return comparison.bitwise && summary.sum > 0 ? 0 : 1;
}
