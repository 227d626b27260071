// SPDX-License-Identifier: Apache-2.0
#include "duel/served_row.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/field.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/stopwatch.hpp"
#include "diffbench/text.hpp"
#include "diffbench/with_dtype.hpp"
#include "digest.hpp"
#include "row_session.hpp"
#include "timing.hpp"

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <utility>

namespace diffbench::bench {

namespace {

template <typename T>
void serve_samples(const std::string& backend, const StepPlan& plan, std::istream& requests,
                   std::ostream& answers) {
  const Problem& problem = plan.problem;
  const PlannedRow planned{.backend = require_backend(backend, plan.session.device),
                           .probe = {},
                           .session = plan.session};
  Field<T> initial(problem.nx, problem.ny);
  fill_initial(problem, {.kind = InitialField::Kind::random, .seed = plan.seed, .path = {}},
               initial);
  const auto session = make_session<T>(planned, problem, nobody());
  const auto sample = [&] {
    return time_steps<SteadyClock, T>(*session, std::as_const(initial).cells(), plan.steps).seconds;
  };
  (void)sample();
  {
    Field<T> result(problem.nx, problem.ny);
    session->download(result.cells());
    answers << sha256_of_cells(std::as_const(result).cells()) << std::endl;
  }
  for (std::string request; std::getline(requests, request);) {
    answers << fmt::format("{}", sample()) << std::endl;
  }
}

} // namespace

std::string plan_line(const std::string& backend, const StepPlan& plan) {
  return fmt::format("{} {} {} {} {} {} {} {}", backend, plan.problem.nx, plan.problem.ny,
                     plan.steps, to_string(plan.problem.dtype), plan.session.threads,
                     plan.session.device, plan.seed);
}

void serve_row(std::istream& requests, std::ostream& answers) {
  try {
    std::string backend, dtype;
    StepPlan plan;
    if (requests >> backend >> plan.problem.nx >> plan.problem.ny >> plan.steps >> dtype >>
            plan.session.threads >> plan.session.device >> plan.seed &&
        requests.ignore()) { // the line's end
      plan.problem.dtype = dtype_names.parse(dtype);
      with_dtype(plan.problem.dtype,
                 [&]<typename T>(T) { serve_samples<T>(backend, plan, requests, answers); });
    }
  } catch (const std::exception& error) {
    answers << "error " << one_line(error.what()) << std::endl;
  }
}

} // namespace diffbench::bench
