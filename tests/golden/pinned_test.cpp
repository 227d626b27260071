// The oracle and every backend against digests of NumPy's results, so that the meaning of "right"
// is pinned in this file, and neither oracle nor backends can drift together.
#include "hashed_field.hpp"

#include "diffbench/registry.hpp"
#include "diffbench/verify.hpp"

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <array>
#include <span>
#include <string>

namespace diffbench::golden {
namespace {

struct Pinned {
  Dtype dtype;
  Boundary boundary;
  const char* sha256; ///< of the raw cells, row-major, little-endian
};

// hashed_field(64, 48) after 100 steps, by NumPy 1.24.2: python3 numpy_golden.py pinned
constexpr Pinned pinned[] = {
    {Dtype::float32, Boundary::periodic,
     "882b63b6e08cc0c3c523cf6f4bbbb98367aa948ba18cf4557c43aca49f45c0e2"},
    {Dtype::float32, Boundary::dirichlet,
     "de80885e393254ec2e8962705cb48f9192246385f1b755f9596cd31c9412fb29"},
    {Dtype::float32, Boundary::neumann,
     "683a8beb53b46333c2499da6b0107a2dbe2de171ac45bd3eb4c15406223d434a"},
    {Dtype::float64, Boundary::periodic,
     "746d5332bd9533d6d82f2cc3abead4cdf35acd290527f3edbc7b1283cf4f3100"},
    {Dtype::float64, Boundary::dirichlet,
     "e082268e62f1010bb79bb1a199095ca192c0584e51b29d01a11848368f68600d"},
    {Dtype::float64, Boundary::neumann,
     "771a015535886f8f0b009c6dc73c983d34334d3eb4b653337d51efedf4d0f4ef"},
};

template <typename T>
std::string sha256(std::span<const T> cells) {
  const auto bytes = std::as_bytes(cells);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  std::string text;
  for (const unsigned char byte : digest) {
    text += "0123456789abcdef"[byte / 16];
    text += "0123456789abcdef"[byte % 16];
  }
  return text;
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
  EXPECT_EQ(sha256<T>(field.cells()), result.sha256) << "the oracle";

  for (const BackendInfo& backend : backend_ladder()) {
    if (!backend.probe(0).available) {
      continue;
    }
    const auto session = backend.make<T>()(problem, {});
    session->upload(initial.cells());
    session->advance(100);
    session->download(field.cells());
    EXPECT_EQ(sha256<T>(field.cells()), result.sha256) << backend.name;
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
