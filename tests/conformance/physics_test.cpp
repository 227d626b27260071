// SPDX-License-Identifier: Apache-2.0
// The scheme's physics, for every registered backend: independent of the oracle, so that an error
// which oracle and backends share is found too.
//
// Tolerances follow from the rounding of one cell in one step (u: unit roundoff, M: largest
// |value|, r: diffusion number; N. Higham, Accuracy and Stability of Numerical Algorithms, 2002,
// ch. 2-4). The partial sums of the Laplacian are at most 2M, 3M, 4M and 8M, its 4*u is exact:
// error
// <= 17 M u. Its product with r adds 8 r M u, the final addition M u. Together (25 r + 1) M u, and
// a step never amplifies errors made before (r <= 1/4).
#include "oracle_check.hpp"
#include "sine_decay.hpp"
#include "target.hpp"
#include "wrong_session.hpp"

#include "diffbench/initial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace diffbench::conformance {
namespace {

constexpr std::int64_t steps = 100;

/// Bound of the error that rounding gives a cell in `steps` steps. The last factor covers terms of
/// second order.
template <typename T>
double rounding_bound(const Problem& problem, double largest) {
  const double unit_roundoff = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  return static_cast<double>(steps) * (25 * problem.diffusion_number() + 1) * largest *
         unit_roundoff * 1.001;
}

/// r = 1/8 or less in powers of two: the same number in every dtype, so that no rounding of the
/// factor enters.
template <typename T>
Problem exact_problem(std::int64_t nx, std::int64_t ny, Boundary boundary, double r = 0.125) {
  return {.nx = nx,
          .ny = ny,
          .dt = r,
          .boundary = boundary,
          .boundary_value = 0.25,
          .dtype = dtype_of<T>};
}

template <typename T>
Field<T> advanced(const SessionMaker<T>& make, const Problem& problem, const Field<T>& initial) {
  const auto session = make(problem);
  Field<T> result(problem.nx, problem.ny);
  session->upload(initial.cells());
  session->advance(steps);
  session->download(result.cells());
  return result;
}

/// The sum in extended precision: its own rounding (2^-64 a cell) does not count.
template <typename T>
long double mass(const Field<T>& field) {
  long double sum = 0;
  for (const T cell : field.cells()) {
    sum += cell;
  }
  return sum;
}

template <typename T>
testing::AssertionResult conserves_mass(const SessionMaker<T>& make, const Problem& problem) {
  const Field<T> initial = field_of<T>(Content::random, problem.nx, problem.ny);
  const auto change = static_cast<double>(mass(advanced(make, problem, initial)) - mass(initial));
  const double bound = static_cast<double>(problem.cells()) * rounding_bound<T>(problem, 1);
  if (std::abs(change) <= bound) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "mass changed by " << change << ", bound " << bound;
}

/// The slowest eigenmode keeps its shape and is multiplied by a known factor in each step.
template <typename T>
testing::AssertionResult sine_decays(const SessionMaker<T>& make, const Problem& problem) {
  Field<T> initial(problem.nx, problem.ny);
  fill_initial(problem, {.kind = InitialField::Kind::sine, .seed = 1, .path = {}}, initial);
  const Field<T> result = advanced(make, problem, initial);
  const double centre = problem.boundary == Boundary::dirichlet ? problem.boundary_value : 0;
  const double decay = std::pow(sine_decay_factor(problem), static_cast<double>(steps));
  // The factor itself is good to a few roundings in double, as is its power; the initial field is
  // the mode rounded to T.
  const double unit_roundoff = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  const double bound = rounding_bound<T>(problem, 1 + centre) + 2 * unit_roundoff +
                       static_cast<double>(steps + 20) * 4 * std::numeric_limits<double>::epsilon();
  for (std::int64_t y = 0; y < problem.ny; ++y) {
    for (std::int64_t x = 0; x < problem.nx; ++x) {
      const double start = static_cast<double>(initial.row(y)[x]);
      const double expected = centre + decay * (start - centre);
      const double error = std::abs(static_cast<double>(result.row(y)[x]) - expected);
      if (!(error <= bound)) {
        return testing::AssertionFailure() << "x=" << x << " y=" << y << ": error " << error
                                           << ", bound " << bound << ", decay " << decay;
      }
    }
  }
  return testing::AssertionSuccess();
}

/// No cell ever leaves the range of the initial field and the boundary.
template <typename T>
testing::AssertionResult stays_in_range(const SessionMaker<T>& make, const Problem& problem) {
  Field<T> field = field_of<T>(Content::random, problem.nx, problem.ny);
  for (T& cell : field.cells()) {
    cell = cell < 0 ? T{-1} : T{1}; // extremes everywhere: the hardest case
  }
  const double bound = rounding_bound<T>(problem, 1);
  const auto session = make(problem);
  session->upload(field.cells());
  for (std::int64_t step = 1; step <= steps; ++step) {
    session->advance(1);
    session->download(field.cells());
    const Summary range = summarize<T>(field.cells());
    if (!(range.nonfinite == 0 && range.min >= -1 - bound && range.max <= 1 + bound)) {
      return testing::AssertionFailure()
             << "range [" << range.min << ", " << range.max << "], " << range.nonfinite
             << " cells not finite, after " << step << " steps";
    }
  }
  return testing::AssertionSuccess();
}

template <typename T, typename Source>
Field<T> rearranged(std::int64_t nx, std::int64_t ny, Source source) {
  Field<T> field(nx, ny);
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = 0; x < nx; ++x) {
      field.row(y)[x] = source(x, y);
    }
  }
  return field;
}

template <typename T>
double largest_difference(const Field<T>& a, const Field<T>& b) {
  return compare<T>(a.cells(), b.cells()).max_abs_error;
}

/// Mirroring or transposing commutes with the time step: in y to the last bit, because u(y-1) and
/// u(y+1) are added first; otherwise within rounding, because the order of additions changes.
template <typename T>
testing::AssertionResult is_symmetric(const SessionMaker<T>& make, const Problem& problem) {
  const std::int64_t n = problem.nx;
  const Field<T> initial = field_of<T>(Content::random, n, n);
  const Field<T> result = advanced(make, problem, initial);
  const auto mirrored_y = [n](const Field<T>& f) {
    return rearranged<T>(n, n, [&](auto x, auto y) { return f.row(n - 1 - y)[x]; });
  };
  const auto mirrored_x = [n](const Field<T>& f) {
    return rearranged<T>(n, n, [&](auto x, auto y) { return f.row(y)[n - 1 - x]; });
  };
  const auto transposed = [n](const Field<T>& f) {
    return rearranged<T>(n, n, [&](auto x, auto y) { return f.row(x)[y]; });
  };
  if (auto ok = same_bits<T>(advanced(make, problem, mirrored_y(initial)).cells(),
                             mirrored_y(result).cells(), n);
      !ok) {
    return ok << " [mirrored in y]";
  }
  const double bound = 2 * rounding_bound<T>(problem, 1);
  const double in_x =
      largest_difference(advanced(make, problem, mirrored_x(initial)), mirrored_x(result));
  const double across =
      largest_difference(advanced(make, problem, transposed(initial)), transposed(result));
  if (in_x <= bound && across <= bound) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << "mirrored in x: " << in_x << ", transposed: " << across << ", bound " << bound;
}

/// Under periodic boundaries no cell is special: shifting commutes with the time step, bit for bit.
template <typename T>
testing::AssertionResult is_shift_invariant(const SessionMaker<T>& make, const Problem& problem) {
  const auto shifted = [&](const Field<T>& f) {
    return rearranged<T>(problem.nx, problem.ny, [&](auto x, auto y) {
      return f.row((y + 5) % problem.ny)[(x + 11) % problem.nx];
    });
  };
  const Field<T> initial = field_of<T>(Content::random, problem.nx, problem.ny);
  return same_bits<T>(advanced(make, problem, shifted(initial)).cells(),
                      shifted(advanced(make, problem, initial)).cells(), problem.nx);
}

class PhysicsTest : public BackendTest {};

TEST_P(PhysicsTest, ConservesMass) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    if (boundary == Boundary::dirichlet) {
      return; // a source or sink
    }
    EXPECT_TRUE(
        conserves_mass(maker_of<T>(GetParam().backend), exact_problem<T>(67, 49, boundary)));
  });
}

TEST_P(PhysicsTest, SineModeDecaysByItsFactor) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    EXPECT_TRUE(sine_decays(maker_of<T>(GetParam().backend), exact_problem<T>(24, 37, boundary)));
  });
}

TEST_P(PhysicsTest, ObeysTheMaximumPrinciple) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    for (const double r : {0.125, stability_limit}) {
      EXPECT_TRUE(
          stays_in_range(maker_of<T>(GetParam().backend), exact_problem<T>(67, 49, boundary, r)))
          << "r = " << r;
    }
  });
}

TEST_P(PhysicsTest, IsSymmetric) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    EXPECT_TRUE(is_symmetric(maker_of<T>(GetParam().backend), exact_problem<T>(41, 41, boundary)));
  });
}

TEST_P(PhysicsTest, IsShiftInvariantUnderPeriodicBoundaries) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    if (boundary == Boundary::periodic) {
      EXPECT_TRUE(
          is_shift_invariant(maker_of<T>(GetParam().backend), exact_problem<T>(67, 49, boundary)));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, PhysicsTest, testing::ValuesIn(all_targets()), test_name);

// The bounds are tight enough to catch what they are there for.
template <typename T>
class PhysicsOfWrongBackendTest : public testing::Test {
 protected:
  static SessionMaker<T> maker_with(Fault fault) {
    return
        [=](const Problem& problem) { return std::make_unique<WrongSession<T>>(problem, fault); };
  }
  /// A correct session whose numerics were changed by `change`.
  template <typename Change>
  static SessionMaker<T> maker_of_changed(Change change) {
    return [=](Problem problem) {
      change(problem);
      return std::make_unique<WrongSession<T>>(problem, Fault::none);
    };
  }
};
using Dtypes = testing::Types<float, double>;
TYPED_TEST_SUITE(PhysicsOfWrongBackendTest, Dtypes);

TYPED_TEST(PhysicsOfWrongBackendTest, FluxLostThroughOneCellIsFound) {
  const auto problem = exact_problem<TypeParam>(67, 49, Boundary::neumann);
  EXPECT_FALSE(conserves_mass(this->maker_with(Fault::loses_flux), problem));
  EXPECT_FALSE(conserves_mass(this->maker_with(Fault::drops_last_row), problem));
  EXPECT_FALSE(is_shift_invariant(this->maker_with(Fault::drops_last_row),
                                  exact_problem<TypeParam>(67, 49, Boundary::periodic)));
  EXPECT_FALSE(is_symmetric(this->maker_with(Fault::loses_flux),
                            exact_problem<TypeParam>(41, 41, Boundary::neumann)));
}

TYPED_TEST(PhysicsOfWrongBackendTest, WrongFactorIsFound) {
  const auto maker = this->maker_of_changed([](Problem& problem) {
    problem.dt *= 1 + 1e4 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon());
  });
  EXPECT_FALSE(sine_decays<TypeParam>(maker, exact_problem<TypeParam>(24, 37, Boundary::neumann)));
}

TYPED_TEST(PhysicsOfWrongBackendTest, AnotherBoundaryIsFound) {
  for (const Boundary boundary : all_boundaries) {
    const auto maker = this->maker_of_changed([](Problem& problem) {
      problem.boundary =
          problem.boundary == Boundary::neumann ? Boundary::periodic : Boundary::neumann;
    });
    EXPECT_FALSE(sine_decays<TypeParam>(maker, exact_problem<TypeParam>(24, 37, boundary)));
  }
}

TYPED_TEST(PhysicsOfWrongBackendTest, UnstableStepIsFound) {
  const auto maker = this->maker_of_changed([](Problem& problem) { problem.dt *= 1.001; });
  EXPECT_FALSE(stays_in_range<TypeParam>(
      maker, exact_problem<TypeParam>(67, 49, Boundary::periodic, stability_limit)));
}

} // namespace
} // namespace diffbench::conformance
