// SPDX-License-Identifier: Apache-2.0
// The oracle and every backend against digests of NumPy's results, so that the meaning of "right"
// is pinned in this file, and neither oracle nor backends can drift together.
#include "hashed_field.hpp"

#include "diffbench/registry.hpp"
#include "diffbench/verify.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace diffbench::golden {
namespace {

struct Pinned {
  Dtype dtype;
  Boundary boundary;
  std::uint64_t digest; ///< of the raw cells, row-major, little-endian
};

// hashed_field(64, 48) after 100 steps, by NumPy 1.24.2: python3 numpy_golden.py pinned
constexpr Pinned pinned[] = {
    {Dtype::float32, Boundary::periodic, 0x6273e67bee06c040},
    {Dtype::float32, Boundary::dirichlet, 0x8e1602537eee7adf},
    {Dtype::float32, Boundary::neumann, 0x213fb4e9d6c77abc},
    {Dtype::float64, Boundary::periodic, 0xbc6ed5315f2a20a0},
    {Dtype::float64, Boundary::dirichlet, 0x728f681dcea578c3},
    {Dtype::float64, Boundary::neumann, 0x46b45c72a15139f7},
};

/// FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo, 1991): a digest that needs no library, so that this
/// runs wherever the solver does.
template <typename T>
std::uint64_t digest_of(std::span<const T> cells) {
  std::uint64_t digest = 0xcbf29ce484222325;
  for (const std::byte byte : std::as_bytes(cells)) {
    digest = (digest ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  }
  return digest;
}

Problem problem_of(const Pinned& result) {
  return {.nx = 64,
          .ny = 48,
          .spacing = 0.9,
          .diffusivity = 0.7,
          .dt = 0.2,
          .boundary = result.boundary,
          .boundary_value = 0.3,
          .dtype = result.dtype};
}

template <typename T>
void expect_pinned(const Pinned& result) {
  const Problem problem = problem_of(result);
  const Field<T> initial = hashed_field<T>(problem.nx, problem.ny);

  Field<T> field = hashed_field<T>(problem.nx, problem.ny);
  advance_reference(problem, field, 100);
  EXPECT_EQ(digest_of<T>(field.cells()), result.digest) << "the oracle";

  for (const BackendInfo& backend : all_backends()) {
    if (!backend.probe(0).available) {
      continue;
    }
    const auto session = backend.make<T>()(problem, {});
    session->upload(initial.cells());
    session->advance(100);
    session->download(field.cells());
    EXPECT_EQ(digest_of<T>(field.cells()), result.digest) << backend.name;
  }
}

class PinnedTest : public testing::TestWithParam<Pinned> {};

TEST_P(PinnedTest, GivesNumpysDigest) {
  if (GetParam().dtype == Dtype::float32) {
    expect_pinned<float>(GetParam());
  } else {
    expect_pinned<double>(GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Numpy, PinnedTest, testing::ValuesIn(pinned), [](const auto& result) {
  return std::string(to_string(result.param.dtype)) + "_" +
         std::string(to_string(result.param.boundary));
});

} // namespace
} // namespace diffbench::golden
