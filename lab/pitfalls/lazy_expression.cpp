// SPDX-License-Identifier: Apache-2.0
// The CPU's own form of "asynchronous": an expression of an array library that nobody has asked for
// its values. A file of its own, since xtensor takes long to compile.
#include "pitfall.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <xtensor/xadapt.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

namespace diffbench::bench {

namespace {

using Cells = xt::xtensor<float, 2>;

/// One time step, in the oracle's order, of the cells that have four neighbours, not evaluated.
/// Both arguments must outlive it: it refers to them.
auto step_of(const Cells& u, const float& factor) {
  const auto rows = static_cast<std::ptrdiff_t>(u.shape(0));
  const auto columns = static_cast<std::ptrdiff_t>(u.shape(1));
  const auto shifted = [&](std::ptrdiff_t dy, std::ptrdiff_t dx) {
    return xt::view(u, xt::range(1 + dy, rows - 1 + dy), xt::range(1 + dx, columns - 1 + dx));
  };
  return shifted(0, 0) + factor * (shifted(-1, 0) + shifted(1, 0) + shifted(0, -1) + shifted(0, 1) -
                                   4.0F * shifted(0, 0));
}

/// `inner` is a field without its outermost cells.
bool is_inside_of(std::span<const float> field, const Cells& inner) {
  const std::size_t rows = inner.shape(0);
  const std::size_t columns = inner.shape(1);
  for (std::size_t y = 0; y < rows; ++y) {
    const auto row = field.subspan((y + 1) * (columns + 2) + 1, columns);
    if (!std::ranges::equal(row, std::span(inner.data() + y * columns, columns))) {
      return false;
    }
  }
  return true;
}

Finding lazy_expression(Workbench& bench) {
  const Problem& problem = bench.problem();
  Solve<float> solve = bench.solve("fused", 1);
  solve.start();
  solve.run();
  solve.finish();
  const std::array shape{static_cast<std::size_t>(problem.ny),
                         static_cast<std::size_t>(problem.nx)};
  const Cells u =
      xt::adapt(solve.initial().data(), solve.initial().size(), xt::no_ownership(), shape);
  const auto factor = problem.update_factor<float>();
  Cells next = xt::zeros<float>({shape[0] - 2, shape[1] - 2});
  const auto unevaluated = [&] {
    const double start = bench.now();
    const auto expression = step_of(u, factor);
    const double read = bench.now() - start;
    next = expression; // here it is computed
    return read;
  };
  const auto evaluated = [&] {
    next.fill(0);
    return bench.seconds([&] { xt::noalias(next) = step_of(u, factor); });
  };
  const auto was_right = [&] { return solve.was_right() && is_inside_of(solve.result(), next); };
  return bench.in_turns({unevaluated, was_right}, {evaluated, was_right});
}

} // namespace

std::span<const MeasuredPitfall> lazy_pitfalls() {
  static constexpr std::array table{
      MeasuredPitfall{"lazy-expression", lazy_expression},
  };
  return table;
}

} // namespace diffbench::bench
