// SPDX-License-Identifier: Apache-2.0
// The one definition of "this backend is right": what it downloads has the oracle's bits, and it
// touches nothing of the caller's memory that is not its own.
// Every check here takes a function that makes sessions and returns an AssertionResult, so that it
// runs over registered backends and, in wrong_backends_test.cpp, over sessions wrong on purpose.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace diffbench::conformance {

inline constexpr std::array all_boundaries = {Boundary::periodic, Boundary::dirichlet,
                                              Boundary::neumann};

template <typename T>
using SessionMaker = std::function<std::unique_ptr<Session<T>>(const Problem&)>;

template <typename T>
SessionMaker<T> maker_of(const BackendInfo& backend, const SessionOptions& options = {}) {
  return [=](const Problem& problem) { return backend.make<T>()(problem, options); };
}

/// A problem none of whose constants is exact in binary: a backend that rounds the factor twice, or
/// forgets to round the ghost value to T, gives other bits.
template <typename T>
Problem problem_of(std::int64_t nx, std::int64_t ny, Boundary boundary) {
  return {.nx = nx,
          .ny = ny,
          .spacing = 0.9,
          .diffusivity = 0.7,
          .dt = 0.2,
          .boundary = boundary,
          .boundary_value = 0.3,
          .dtype = dtype_of<T>};
}

/// What a test field holds; beside plain random values those that careless arithmetic changes.
enum class Content {
  random,
  denormal,      ///< all denormal: a flush to zero shows
  near_denormal, ///< differences and products are denormal, most values are not
  huge,          ///< eight times short of overflow: the scheme itself does not overflow
  signed_zeros,  ///< mostly +0 and -0
  one_nan,
  one_infinity,
};

template <typename T>
Field<T> field_of(Content content, std::int64_t nx, std::int64_t ny, std::uint64_t seed = 1) {
  using Limits = std::numeric_limits<T>;
  double scale = 1;
  switch (content) {
    case Content::denormal: scale = 700.0 * static_cast<double>(Limits::denorm_min()); break;
    case Content::near_denormal: scale = 4.0 * static_cast<double>(Limits::min()); break;
    case Content::huge: scale = static_cast<double>(Limits::max()) / 8; break;
    default: break;
  }
  std::mt19937_64 engine(seed);
  Field<T> field(nx, ny);
  for (T& cell : field.cells()) {
    const double uniform = static_cast<double>(engine() >> 11) * 0x1p-52 - 1; // [-1, 1)
    cell = static_cast<T>(scale * uniform);
    if (content == Content::signed_zeros && engine() % 8 != 0) {
      cell = std::copysign(T{0}, cell);
    }
  }
  T& middle = field.row(ny / 2)[nx / 2];
  if (content == Content::one_nan) {
    middle = Limits::quiet_NaN();
  } else if (content == Content::one_infinity) {
    middle = Limits::infinity();
  }
  return field;
}

template <typename T>
Field<T> copy_of(const Field<T>& field) {
  Field<T> copy(field.nx(), field.ny());
  std::ranges::copy(field.cells(), copy.cells().begin());
  return copy;
}

template <typename T>
Field<T> advanced_by_oracle(const Problem& problem, const Field<T>& initial, std::int64_t steps) {
  Field<T> field = copy_of(initial);
  advance_reference(problem, field, steps);
  return field;
}

/// Cells between sentinels. They begin at an odd index, off every vector alignment, as a caller's
/// array may; the sentinel is a NaN, so a backend that reads one shows it in the result.
template <typename T>
class GuardedCells {
 public:
  explicit GuardedCells(std::int64_t size)
      : memory_(static_cast<std::size_t>(size) + 2 * guard, sentinel()) {}

  [[nodiscard]] std::span<T> cells() {
    return std::span<T>(memory_).subspan(guard, memory_.size() - 2 * guard);
  }
  [[nodiscard]] bool guards_unchanged() const {
    const auto is_sentinel = [](const T& cell) {
      const T expected = sentinel();
      return std::memcmp(&cell, &expected, sizeof(T)) == 0;
    };
    return std::all_of(memory_.begin(), memory_.begin() + guard, is_sentinel) &&
           std::all_of(memory_.end() - guard, memory_.end(), is_sentinel);
  }

 private:
  static constexpr int guard = 67;
  // A payload that no arithmetic makes.
  static T sentinel() {
    using Bits = std::conditional_t<sizeof(T) == sizeof(float), std::uint32_t, std::uint64_t>;
    return std::bit_cast<T>(std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN()) | Bits{0xbad});
  }

  std::vector<T> memory_;
};

template <typename T>
std::string cell_report(std::span<const T> result, std::span<const T> expected, std::int64_t nx,
                        std::int64_t index) {
  const auto i = static_cast<std::size_t>(index);
  std::ostringstream text;
  text << "first difference in cell x=" << index % nx << " y=" << index / nx << std::hexfloat
       << ": " << result[i] << ", oracle " << expected[i];
  return text.str();
}

/// Every bit equal and every cell finite.
template <typename T>
testing::AssertionResult same_bits(std::span<const T> result, std::span<const T> expected,
                                   std::int64_t nx) {
  const Comparison comparison = compare(result, expected);
  if (comparison.bitwise) {
    return testing::AssertionSuccess();
  }
  auto failure = testing::AssertionFailure();
  if (comparison.first_difference >= 0) {
    failure << cell_report(result, expected, nx, comparison.first_difference);
  }
  return failure << "; max |error| " << comparison.max_abs_error << ", not finite "
                 << comparison.nonfinite << " of " << result.size();
}

/// For fields that hold NaN on purpose, which compare() never passes: NaN in the same cells (IEEE
/// 754 leaves its payload open), the bits of all others equal.
template <typename T>
testing::AssertionResult same_bits_or_nan(std::span<const T> result, std::span<const T> expected,
                                          std::int64_t nx) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool both_nan = std::isnan(result[i]) && std::isnan(expected[i]);
    if (!both_nan && std::memcmp(&result[i], &expected[i], sizeof(T)) != 0) {
      return testing::AssertionFailure()
             << cell_report(result, expected, nx, static_cast<std::int64_t>(i));
    }
  }
  return testing::AssertionSuccess();
}

template <typename T>
using SameCells = testing::AssertionResult (*)(std::span<const T>, std::span<const T>,
                                               std::int64_t);

/// Whether the calling thread rounds to nearest and keeps denormals. A backend that changes this
/// for its caller changes the oracle too, so that comparing bits would not show it.
template <typename T>
bool arithmetic_is_exact() {
  using Limits = std::numeric_limits<T>;
  const volatile T smallest_normal = Limits::min();
  const volatile T smallest = Limits::denorm_min();
  return std::fegetround() == FE_TONEAREST && smallest_normal / 2 > 0 && smallest * 2 > 0;
}

/// Rows [first, last) of a field.
struct RowRange {
  std::int64_t first;
  std::int64_t last;
};

template <typename T>
std::span<const T> part_of(const Field<T>& field, const RowRange& rows) {
  return {field.row(rows.first), static_cast<std::size_t>((rows.last - rows.first) * field.nx())};
}

/// Downloads these rows without waiting first and compares them with those of `expected`.
template <typename T>
testing::AssertionResult holds_rows(Session<T>& session, const Field<T>& expected,
                                    const RowRange& rows, SameCells<T> same = same_bits<T>) {
  const std::span<const T> part = part_of(expected, rows);
  GuardedCells<T> output(std::ssize(part));
  session.download_rows(rows.first, output.cells());
  if (!output.guards_unchanged()) {
    return testing::AssertionFailure() << "download wrote outside the span it was given";
  }
  if (!arithmetic_is_exact<T>()) {
    return testing::AssertionFailure() << "the session changed its caller's rounding or flushes "
                                          "denormals to zero";
  }
  return same(output.cells(), part, expected.nx());
}

/// Downloads without waiting first and compares with `expected`.
template <typename T>
testing::AssertionResult holds(Session<T>& session, const Field<T>& expected,
                               SameCells<T> same = same_bits<T>) {
  return holds_rows(session, expected, {.first = 0, .last = expected.ny()}, same);
}

/// Uploads rows of `field` from `input`, which has their size and is overwritten as soon as
/// upload_rows returns.
template <typename T>
testing::AssertionResult uploads_rows(Session<T>& session, const Field<T>& field,
                                      const RowRange& rows, GuardedCells<T>& input) {
  const std::span<const T> part = part_of(field, rows);
  std::ranges::copy(part, input.cells().begin());
  session.upload_rows(rows.first, input.cells());
  const bool unchanged = std::memcmp(input.cells().data(), part.data(), part.size_bytes()) == 0;
  if (!unchanged || !input.guards_unchanged()) {
    return testing::AssertionFailure() << "upload changed the caller's memory";
  }
  std::ranges::fill(input.cells(), std::numeric_limits<T>::quiet_NaN());
  return testing::AssertionSuccess();
}

/// Uploads `initial` from `input`, which is overwritten as soon as upload returns.
template <typename T>
testing::AssertionResult uploads(Session<T>& session, const Field<T>& initial,
                                 GuardedCells<T>& input) {
  return uploads_rows(session, initial, {.first = 0, .last = initial.ny()}, input);
}

/// A new session for each of the ascending `step_counts`, each compared with the oracle.
template <typename T>
testing::AssertionResult matches_oracle(const SessionMaker<T>& make, const Problem& problem,
                                        const Field<T>& initial,
                                        const std::vector<std::int64_t>& step_counts,
                                        SameCells<T> same = same_bits<T>) {
  Field<T> expected = copy_of(initial);
  GuardedCells<T> input(problem.cells());
  std::int64_t done = 0;
  for (const std::int64_t steps : step_counts) {
    advance_reference(problem, expected, steps - done);
    done = steps;
    const auto session = make(problem);
    testing::AssertionResult ok = uploads(*session, initial, input);
    if (ok) {
      session->advance(steps);
      ok = holds(*session, expected, same);
    }
    if (!ok) {
      return testing::AssertionFailure()
             << ok.message() << " [" << problem.nx << "x" << problem.ny << " "
             << to_string(problem.dtype) << " " << to_string(problem.boundary) << ", " << steps
             << " steps]";
    }
  }
  return testing::AssertionSuccess();
}

} // namespace diffbench::conformance
