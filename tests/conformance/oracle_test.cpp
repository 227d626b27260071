// SPDX-License-Identifier: Apache-2.0
// Every registered backend against the oracle, bit for bit: small, odd, prime, thin, square and
// random grids, each instruction set, and values that careless arithmetic changes.
#include "oracle_check.hpp"
#include "target.hpp"

#include "diffbench/errors.hpp"

#include <cmath>
#include <optional>
#include <random>
#include <utility>

namespace diffbench::conformance {
namespace {

constexpr std::pair<std::int64_t, std::int64_t> sizes[] = {
    {3, 3}, {5, 7}, {31, 33}, {64, 64}, {127, 257}, {3, 1000}, {1000, 3}, {17, 4}, {1030, 70}};

/// Whether the backend has kernels for several instruction sets: it then says which one ran.
template <typename T>
std::optional<Isa> isa_that_runs(const BackendInfo& backend, const SessionOptions& options = {}) {
  const Problem problem = problem_of<T>(64, 64, Boundary::periodic);
  const auto session = maker_of<T>(backend, options)(problem);
  session->upload(field_of<T>(Content::random, problem.nx, problem.ny).cells());
  session->advance(1);
  session->wait();
  return session->provenance().isa;
}

/// The instruction sets to ask a backend for: each that this CPU has, or none in particular.
template <typename T>
std::vector<SessionOptions> isa_choices(const BackendInfo& backend) {
  if (!isa_that_runs<T>(backend)) {
    return {{}};
  }
  std::vector<SessionOptions> choices;
  for (int isa = 0; isa <= static_cast<int>(best_isa()); ++isa) {
    choices.push_back({.threads = 0, .isa = static_cast<Isa>(isa)});
  }
  return choices;
}

std::string name_of(const SessionOptions& options) {
  return (options.isa ? std::string(to_string(*options.isa)) : "default isa") + ", threads " +
         std::to_string(options.threads);
}

class OracleTest : public BackendTest {};

TEST_P(OracleTest, SameBitsAtEverySize) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    for (const SessionOptions& options : isa_choices<T>(GetParam().backend)) {
      for (const auto& [nx, ny] : sizes) {
        if (refuses<T>(problem_of<T>(nx, ny, boundary))) {
          continue;
        }
        EXPECT_TRUE(matches_oracle(maker_of<T>(GetParam().backend, options),
                                   problem_of<T>(nx, ny, boundary),
                                   field_of<T>(Content::random, nx, ny), {0, 1, 2, 17, 100}))
            << name_of(options);
      }
    }
  });
}

// 100 steps at this size take long in a sanitizer build: full_size_test.cpp has them.
TEST_P(OracleTest, SameBitsAt640) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    if (refuses<T>(problem_of<T>(640, 640, boundary))) {
      return;
    }
    for (const SessionOptions& options : isa_choices<T>(GetParam().backend)) {
      EXPECT_TRUE(matches_oracle(maker_of<T>(GetParam().backend, options),
                                 problem_of<T>(640, 640, boundary),
                                 field_of<T>(Content::random, 640, 640), {0, 1, 2, 17}))
          << name_of(options);
    }
  });
}

// Blocking, strips and remainders meet in combinations that nobody lists by hand.
TEST_P(OracleTest, SameBitsAtRandomShapes) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    const std::vector<SessionOptions> isas = isa_choices<T>(GetParam().backend);
    std::mt19937 engine(20);
    const auto log_uniform = [&](double low, double high) {
      std::uniform_real_distribution<double> exponent(std::log(low), std::log(high));
      return static_cast<std::int64_t>(std::exp(exponent(engine)));
    };
    for (int shape = 0; shape < 40; ++shape) {
      const std::int64_t nx = log_uniform(3, 4000);
      const std::int64_t ny = log_uniform(3, std::max(4.0, 30'000.0 / static_cast<double>(nx)));
      const std::int64_t steps = log_uniform(1, 80);
      SessionOptions options = isas[engine() % isas.size()];
      options.threads = static_cast<int>(1 + engine() % 6);
      if (refuses<T>(problem_of<T>(nx, ny, boundary))) {
        continue;
      }
      EXPECT_TRUE(matches_oracle(maker_of<T>(GetParam().backend, options),
                                 problem_of<T>(nx, ny, boundary),
                                 field_of<T>(Content::random, nx, ny), {steps}))
          << name_of(options);
    }
  });
}

TEST_P(OracleTest, SameBitsOfUnusualValues) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    const std::pair<Content, SameCells<T>> contents[] = {
        {Content::denormal, same_bits<T>},       {Content::near_denormal, same_bits<T>},
        {Content::huge, same_bits<T>},           {Content::signed_zeros, same_bits<T>},
        {Content::one_nan, same_bits_or_nan<T>}, {Content::one_infinity, same_bits_or_nan<T>}};
    const Problem problem = problem_of<T>(67, 19, boundary);
    for (const SessionOptions& options : isa_choices<T>(GetParam().backend)) {
      for (const auto& [content, same] : contents) {
        EXPECT_TRUE(matches_oracle(maker_of<T>(GetParam().backend, options), problem,
                                   field_of<T>(content, problem.nx, problem.ny), {0, 1, 2, 17},
                                   same))
            << name_of(options) << ", content " << static_cast<int>(content);
      }
    }
  });
}

TEST_P(OracleTest, RunsOnTheInstructionSetAskedFor) {
  const BackendInfo& backend = GetParam().backend;
  const std::optional<Isa> chosen = isa_that_runs<float>(backend);
  if (!chosen) {
    return; // does not choose one
  }
  EXPECT_LE(*chosen, best_isa()); // which of them, measured times decide
  for (const SessionOptions& options : isa_choices<float>(backend)) {
    EXPECT_EQ(isa_that_runs<float>(backend, options), options.isa);
    EXPECT_EQ(isa_that_runs<double>(backend, options), options.isa);
  }
  // The value after the last known set stands for those that no CPU has, so that this can fail on a
  // CPU that has them all.
  const int last = static_cast<int>(Isa::avx512) + 1;
  for (int isa = static_cast<int>(best_isa()) + 1; isa <= last; ++isa) {
    const SessionOptions options = {.threads = 0, .isa = static_cast<Isa>(isa)};
    EXPECT_THROW((void)isa_that_runs<float>(backend, options), Unavailable);
    EXPECT_THROW((void)isa_that_runs<double>(backend, options), Unavailable);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, OracleTest, testing::ValuesIn(all_targets()), test_name);

} // namespace
} // namespace diffbench::conformance
