// SPDX-License-Identifier: Apache-2.0
// Denormal numbers in the simd backend when it keeps clear of them: the bits are the oracle's, and
// no thread of it computes with one.
#include "oracle_check.hpp"

#include "diffbench/initial.hpp"
#include "diffbench/registry.hpp"
#include "simd/underflow.hpp"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace diffbench::conformance {
namespace {

template <typename T>
class Underflow : public testing::Test {};
using CellTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(Underflow, CellTypes);

std::vector<Isa> isas() {
  std::vector<Isa> all = {Isa::baseline};
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    if (isa <= best_isa()) {
      all.push_back(isa);
    }
  }
  return all;
}

SessionOptions careful(Isa isa, int threads) {
  return {.threads = threads, .isa = isa, .without_denormals = true};
}

template <typename T>
std::unique_ptr<Session<T>> session_of(const Problem& problem, const SessionOptions& options) {
  return require_backend("simd").make<T>()(problem, options);
}

template <typename T>
std::string numbers_of(const Session<T>& session) {
  for (const auto& [key, value] : session.provenance().details) {
    if (key == "numbers") {
      return value;
    }
  }
  return "";
}

/// Magnitudes from the smallest denormal number to 2^50 times it, evenly in their exponents, of
/// both signs, and a few zeros of both: products, sums and differences on both sides of the
/// smallest normal number.
template <typename T>
Field<T> field_at_the_edge(std::int64_t nx, std::int64_t ny, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Field<T> field(nx, ny);
  const int smallest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  for (T& cell : field.cells()) {
    const auto fraction = static_cast<double>(engine() >> 11) * 0x1p-53;
    const int exponent = smallest + static_cast<int>(engine() % 50);
    cell = static_cast<T>(engine() % 8 == 0 ? 0 : std::ldexp(1 + fraction, exponent));
    if (engine() % 2 == 0) {
      cell = -cell;
    }
  }
  return field;
}

/// Factors that make ties of the denormal grid (powers of two), and none.
constexpr double diffusion_numbers[] = {0.25, 0.125, 0.1, 0.2, 0x1p-16, 0.2499999};

template <typename T>
Problem edge_problem(std::int64_t nx, std::int64_t ny, Boundary boundary, double number) {
  return {.nx = nx,
          .ny = ny,
          .dt = number,
          .boundary = boundary,
          .boundary_value = static_cast<double>(3 * std::numeric_limits<T>::min()),
          .dtype = dtype_of<T>};
}

TYPED_TEST(Underflow, HasTheOraclesBitsAtTheEdge) {
  std::uint64_t seed = 0;
  for (const Isa isa : isas()) {
    for (const Boundary boundary : all_boundaries) {
      for (const double number : diffusion_numbers) {
        for (const int threads : {1, 2}) {
          const std::int64_t nx = 61 + static_cast<std::int64_t>(seed) % 40;
          const Problem problem = edge_problem<TypeParam>(nx, 300, boundary, number);
          const Field<TypeParam> initial = field_at_the_edge<TypeParam>(nx, 300, ++seed);
          EXPECT_TRUE(matches_oracle<TypeParam>(
              [&](const Problem& p) { return session_of<TypeParam>(p, careful(isa, threads)); },
              problem, initial, {1, 2, 7, 20}))
              << to_string(isa) << ", diffusion number " << number << ", threads " << threads;
        }
      }
    }
  }
}

// A front that moves through zeros, with blocks of rows before it, at it and behind it: either
// kernel has its part. One field stays in the cache (Resident), the others are swept.
TYPED_TEST(Underflow, HasTheOraclesBitsWhereAFieldSpreads) {
  for (const Isa isa : isas()) {
    for (const Boundary boundary : all_boundaries) {
      for (const std::int64_t n : {48, 320}) {
        for (const int threads : {1, 2}) {
          Problem problem = {.nx = n, .ny = n, .boundary = boundary, .dtype = dtype_of<TypeParam>};
          Field<TypeParam> initial(n, n);
          fill_initial(problem, {}, initial);
          for (TypeParam& cell : initial.cells()) {
            cell *= static_cast<TypeParam>(sizeof(TypeParam) == sizeof(float) ? 1 : 1e-270);
          }
          EXPECT_TRUE(matches_oracle<TypeParam>(
              [&](const Problem& p) { return session_of<TypeParam>(p, careful(isa, threads)); },
              problem, initial, {40, 120}))
              << to_string(isa) << ", threads " << threads;
        }
      }
    }
  }
}

// Products half-way between two denormal numbers: of small integers, where the factor is 1/4 or
// 1/8; zeros keep their sign.
TYPED_TEST(Underflow, RoundsTiesToEven) {
  for (const Isa isa : isas()) {
    for (const double number : {0.25, 0.125, 0x1p-10}) {
      const Problem problem = edge_problem<TypeParam>(97, 200, Boundary::periodic, number);
      Field<TypeParam> initial(97, 200);
      std::mt19937_64 engine(7);
      for (TypeParam& cell : initial.cells()) {
        const auto size = static_cast<TypeParam>(engine() % 9);
        cell = size * std::numeric_limits<TypeParam>::denorm_min();
        if (engine() % 2 == 0) {
          cell = -cell;
        }
      }
      EXPECT_TRUE(matches_oracle<TypeParam>(
          [&](const Problem& p) { return session_of<TypeParam>(p, careful(isa, 1)); }, problem,
          initial, {1, 3}))
          << to_string(isa) << ", diffusion number " << number;
    }
  }
}

TYPED_TEST(Underflow, ThereAndBackAreTheSameBits) {
  const Field<TypeParam> cells = field_at_the_edge<TypeParam>(1000, 20, 3);
  Field<TypeParam> scaled(1000, 20);
  EXPECT_TRUE(simd::to_scaled(cells.cells(), scaled.cells().data()));
  for (const TypeParam cell : scaled.cells()) {
    EXPECT_TRUE(cell == 0 || std::isnormal(cell)) << cell;
  }
  simd::to_natural<TypeParam>(scaled.cells(), scaled.cells().data());
  EXPECT_TRUE(same_bits<TypeParam>(scaled.cells(), cells.cells(), 1000));
}

TYPED_TEST(Underflow, LeavesFieldsAloneThatHaveNoRoom) {
  using Limits = std::numeric_limits<TypeParam>;
  TypeParam scaled{};
  for (const TypeParam cell : {Limits::max() / 8, Limits::infinity(), Limits::quiet_NaN()}) {
    EXPECT_FALSE(simd::to_scaled<TypeParam>({&cell, 1}, &scaled)) << cell;
  }
  EXPECT_EQ(simd::can_be_scaled<TypeParam>({.dt = 0.25}), simd::has_underflow_flag);
  EXPECT_FALSE(simd::can_be_scaled<TypeParam>({.dt = 0.26}));
  EXPECT_FALSE(simd::can_be_scaled<TypeParam>({.dt = 1e-9}));
  EXPECT_FALSE(simd::can_be_scaled<TypeParam>({.boundary_value = Limits::max() / 8}));
}

// A row comes that cannot be scaled: the whole field then is as it was, and with the next field
// scaled again.
TYPED_TEST(Underflow, RowsWithoutRoomMayComeAtAnyTime) {
  const std::string scaled = simd::has_underflow_flag ? "scaled" : "natural";
  for (const std::int64_t n : {20, 400}) {
    const Problem problem = edge_problem<TypeParam>(n, n, Boundary::periodic, 0.1);
    Field<TypeParam> field = field_at_the_edge<TypeParam>(n, n, 5);
    Field<TypeParam> huge = field_of<TypeParam>(Content::huge, n, 2);
    const auto session = session_of<TypeParam>(problem, careful(best_isa(), 2));
    session->upload(field.cells());
    session->advance(3);
    EXPECT_EQ(numbers_of(*session), scaled);
    session->upload_rows(7, huge.cells());
    EXPECT_EQ(numbers_of(*session), "natural");
    session->advance(5);

    Field<TypeParam> expected = advanced_by_oracle(problem, field, 3);
    std::ranges::copy(huge.cells(), expected.row(7));
    advance_reference(problem, expected, 5);
    EXPECT_TRUE(holds(*session, expected));
    session->upload(field.cells());
    EXPECT_EQ(numbers_of(*session), scaled);
    session->advance(4);
    EXPECT_TRUE(holds(*session, advanced_by_oracle(problem, field, 4)));
  }
}

#if defined(__x86_64__)

// Runs the main job with the exceptions of denormal operands and of underflow unmasked, in this
// thread and, since a thread begins with the state of the one that makes it, in the team: what
// computes with a denormal number outside FlushToZero dies.
template <typename T>
[[noreturn]] void main_job(Isa isa, bool without_denormals) {
  constexpr unsigned flags = 0x3f;
  constexpr unsigned unmasked = 1U << 8 | 1U << 11; // denormal operand, underflow
  const SessionOptions options = {.threads = 2, .isa = isa, .without_denormals = without_denormals};
  const Problem problem = {.dtype = dtype_of<T>};
  (void)session_of<T>(problem, options); // measures kernels, with denormal numbers too
  Field<T> field(problem.nx, problem.ny);
  fill_initial(problem, {}, field);
  _mm_setcsr(_mm_getcsr() & ~(flags | unmasked));
  const auto session = session_of<T>(problem, options);
  session->upload(field.cells());
  session->advance(1000);
  session->download(field.cells());
  std::_Exit(_mm_getcsr() & 1U << 1 ? 1 : 0); // no operand was denormal, in this thread for sure
}

TYPED_TEST(Underflow, NoThreadComputesWithDenormalNumbers) {
  for (const Isa isa : isas()) {
    EXPECT_EXIT(main_job<TypeParam>(isa, true), testing::ExitedWithCode(0), "") << to_string(isa);
  }
}

// That the check detects what it is for.
TYPED_TEST(Underflow, TheNaturalKernelIsCaught) {
  EXPECT_EXIT(main_job<TypeParam>(best_isa(), false), testing::KilledBySignal(SIGFPE), "");
}

#endif

} // namespace
} // namespace diffbench::conformance
