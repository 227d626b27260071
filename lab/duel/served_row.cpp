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
#include <sstream>
#include <utility>

namespace diffbench::bench {

namespace {

template <typename T>
void serve_samples(const ServedRow& row, std::istream& requests, std::ostream& answers) {
  const Problem problem{.nx = row.nx, .ny = row.ny, .dtype = row.dtype};
  const PlannedRow planned{.backend = require_backend(row.backend, row.device),
                           .probe = {},
                           .session = {.threads = row.threads, .device = row.device}};
  Field<T> initial(problem.nx, problem.ny);
  fill_initial(problem, {.kind = InitialField::Kind::random, .seed = row.seed, .path = {}},
               initial);
  const auto session = make_session<T>(planned, problem, nobody());
  const auto sample = [&] {
    return time_steps<SteadyClock, T>(*session, std::as_const(initial).cells(), row.steps).seconds;
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

std::string line_of(const ServedRow& row) {
  return fmt::format("{} {} {} {} {} {} {} {}", row.backend, row.nx, row.ny, row.steps,
                     to_string(row.dtype), row.threads, row.device, row.seed);
}

ServedRow parse_served_row(const std::string& line) {
  std::istringstream words(line);
  ServedRow row;
  std::string dtype;
  if (!(words >> row.backend >> row.nx >> row.ny >> row.steps >> dtype >> row.threads >>
        row.device >> row.seed)) {
    throw InvalidInput(fmt::format("no plan of a row: {}", line));
  }
  row.dtype = dtype_names.parse(dtype);
  return row;
}

void serve_row(std::istream& requests, std::ostream& answers) {
  try {
    std::string line;
    if (!std::getline(requests, line)) {
      return;
    }
    const ServedRow row = parse_served_row(line);
    with_dtype(row.dtype, [&]<typename T>(T) { serve_samples<T>(row, requests, answers); });
  } catch (const std::exception& error) {
    answers << "error " << one_line(error.what()) << std::endl;
  }
}

} // namespace diffbench::bench
