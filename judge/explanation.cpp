// SPDX-License-Identifier: Apache-2.0
#include "explanation.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace diffbench::bench {

namespace {

/// Rows and columns of a map: every character is a part of the field, wrong where a cell of it is.
template <typename T>
std::string map_of(const Field<T>& result, const Field<T>& expected) {
  constexpr std::int64_t widest = 40, highest = 16;
  const std::int64_t columns = std::min(widest, result.nx());
  const std::int64_t rows = std::min(highest, result.ny());
  std::vector<std::string> lines(static_cast<std::size_t>(rows),
                                 std::string(static_cast<std::size_t>(columns), '.'));
  for (std::int64_t y = 0; y < result.ny(); ++y) {
    for (std::int64_t x = 0; x < result.nx(); ++x) {
      if (!(result.row(y)[x] == expected.row(y)[x])) {
        lines[static_cast<std::size_t>(y * rows / result.ny())]
             [static_cast<std::size_t>(x * columns / result.nx())] = '#';
      }
    }
  }
  std::string map;
  for (const std::string& line : lines) {
    map += line + '\n';
  }
  return map;
}

/// Whether a mistake explains a run, whatever is rounded. What grows without end says nothing.
template <typename T>
bool gives(const JudgedRun<T>& run, const Fault& fault) {
  const Field<T> expected = advance_varied(run.problem, run.initial, run.steps, {}, fault);
  return Rounding(run, expected).allows(run.result, expected) ||
         std::ranges::any_of(expected.cells(), [](T cell) { return std::isinf(cell); });
}

/// The factor that explains most cells of a run of one step.
template <typename T>
std::optional<double> factor_in(const JudgedRun<T>& run) {
  Fault unit{.factor = 1.0};
  const Field<T> whole = advance_varied(run.problem, run.initial, 1, {}, unit);
  std::vector<double> factors;
  for (std::size_t i = 0; i < whole.cells().size(); ++i) {
    const double u = run.initial.cells()[i], lap = whole.cells()[i] - u;
    if (std::abs(lap) > 0.1 && std::isfinite(run.result.cells()[i])) {
      factors.push_back((run.result.cells()[i] - u) / lap);
    }
  }
  if (run.steps != 1 || factors.empty()) {
    return std::nullopt;
  }
  const auto middle = factors.begin() + std::ssize(factors) / 2;
  std::ranges::nth_element(factors, middle);
  return *middle;
}

/// Another factor than is asked for: always the same one, or a part or a multiple of it; as well as
/// each run tells it.
template <typename T>
std::vector<Mistake> factor_mistakes(const std::vector<const JudgedRun<T>*>& runs) {
  std::vector<Mistake> found;
  for (const JudgedRun<T>* run : runs) {
    if (const auto factor = factor_in(*run)) {
      found.push_back({"factor_constant",
                       fmt::format("the factor is {:.4g}, whatever it is asked for{}", *factor,
                                   std::abs(*factor - 0.25) < 1e-5
                                       ? ": a Jacobi step, 0.25 * (up + down + left + right)"
                                       : ""),
                       "out = u + factor * lap, with the factor of the call",
                       {.factor = factor}});
      const double scale = *factor / static_cast<double>(run->problem.template update_factor<T>());
      if (std::abs(scale - 1) > 1e-3) {
        found.push_back({"factor_wrong",
                         fmt::format("the factor is {:.4g} times what it should be", scale),
                         "factor is dt D / h^2 already",
                         {.factor_scale = scale}});
      }
    }
  }
  return found;
}

} // namespace

template <typename T>
Field<T> reference_of(const JudgedRun<T>& run) {
  Field<T> expected(run.problem.nx, run.problem.ny);
  std::ranges::copy(run.initial.cells(), expected.cells().begin());
  advance_reference(run.problem, expected, run.steps);
  return expected;
}
template Field<float> reference_of(const JudgedRun<float>&);
template Field<double> reference_of(const JudgedRun<double>&);

template <typename T>
WrongCells wrong_cells(const JudgedRun<T>& run, const Field<T>& expected) {
  WrongCells wrong{.nx = run.problem.nx, .ny = run.problem.ny, .steps = run.steps};
  const Field<T> result = Rounding(run, expected).beyond(run.result, expected);
  wrong.difference = difference<T>(result.cells(), expected.cells(), run.problem.nx, run.steps);
  wrong.expected = expected.row(wrong.difference.y)[wrong.difference.x];
  wrong.found = run.result.row(wrong.difference.y)[wrong.difference.x];
  wrong.unwritten = std::ranges::count_if(run.result.cells(), is_poison<T>);
  wrong.map = map_of(result, expected);
  return wrong;
}
template WrongCells wrong_cells(const JudgedRun<float>&, const Field<float>&);
template WrongCells wrong_cells(const JudgedRun<double>&, const Field<double>&);

template <typename T>
Explanation explain(const std::vector<JudgedRun<T>>& runs) {
  std::vector<const JudgedRun<T>*> by_work;
  by_work.reserve(runs.size());
  for (const JudgedRun<T>& run : runs) {
    by_work.push_back(&run);
  }
  // The smallest first: it refuses most of them quickly.
  std::ranges::stable_sort(
      by_work, {}, [](const JudgedRun<T>* run) { return run->problem.cells() * run->steps; });
  for (std::size_t i = 0; i < arithmetics().size(); ++i) {
    if (std::ranges::all_of(by_work, [&](const JudgedRun<T>* run) {
          return same_bits(advance_varied(run->problem, run->initial, run->steps, arithmetics()[i]),
                           run->result);
        })) {
      return {.arithmetic = i};
    }
  }
  const auto explains = [&](const Mistake& mistake) {
    return std::ranges::all_of(by_work,
                               [&](const JudgedRun<T>* run) { return gives(*run, mistake.fault); });
  };
  for (const std::vector<Mistake>& all : {mistakes(), factor_mistakes(by_work)}) {
    if (const auto found = std::ranges::find_if(all, explains); found != all.end()) {
      return {.mistake = *found};
    }
  }
  return {};
}
template Explanation explain(const std::vector<JudgedRun<float>>&);
template Explanation explain(const std::vector<JudgedRun<double>>&);

} // namespace diffbench::bench
