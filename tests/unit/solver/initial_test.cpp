// SPDX-License-Identifier: Apache-2.0
#include "diffbench/initial.hpp"

#include "diffbench/npy.hpp"
#include "diffbench/verify.hpp"

#include "../../conformance/sine_decay.hpp"
#include "scratch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>

#include <sys/stat.h>

namespace diffbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Kind = InitialField::Kind;

template <typename T = double>
Field<T> filled(const Problem& problem, const InitialField& initial) {
  Field<T> field(problem.nx, problem.ny);
  // A fill must not rely on the field's being zero.
  std::ranges::fill(field.cells(), T{77});
  fill_initial(problem, initial, field);
  return field;
}

TEST(InitialNames, GoBothWays) {
  for (const char* name : {"block", "gaussian", "sine", "random", "some/file.npy"}) {
    EXPECT_EQ(to_string(parse_initial(name)), name);
  }
  EXPECT_EQ(parse_initial("random").kind, Kind::random);
  EXPECT_EQ(parse_initial("some/file.npy").kind, Kind::file);
  for (const char* name : {"", "blocks", "Block", "file.txt", "npy"}) {
    EXPECT_THAT(message_of<InvalidInput>([&] { static_cast<void>(parse_initial(name)); }),
                AllOf(HasSubstr("'" + std::string(name) + "'"),
                      HasSubstr("block, gaussian, sine, random")));
  }
}

TEST(InitialBlock, CoversTheCellsThatPythonsIntWouldName) {
  const Field<float> field =
      filled<float>({.nx = 640, .ny = 37}, {.kind = Kind::block, .path = {}});
  for (std::int64_t y = 0; y < 37; ++y) {
    for (std::int64_t x = 0; x < 640; ++x) {
      const bool inside = x >= 256 && x < 320 && y >= 14 && y < 18; // int(14.8), int(18.5)
      ASSERT_EQ(field.row(y)[x], inside ? 0.005F : 0.0F) << x << ", " << y;
    }
  }
}

TEST(InitialGaussian, HasItsCentreWidthAndSymmetry) {
  const Field<double> field = filled({.nx = 41, .ny = 101}, {.kind = Kind::gaussian, .path = {}});
  EXPECT_EQ(field.row(50)[20], 1.0);
  EXPECT_EQ(field.row(50)[18], field.row(50)[22]);
  EXPECT_DOUBLE_EQ(field.row(50)[22], std::exp(-4 / (2 * 4.1 * 4.1)));
  EXPECT_DOUBLE_EQ(field.row(53)[20], std::exp(-9 / (2 * 10.1 * 10.1)));
  EXPECT_DOUBLE_EQ(field.row(53)[22], field.row(53)[20] * field.row(50)[22]);
}

TEST(InitialRandom, IsTheStandardsGeneratorInRowMajorOrder) {
  // [rand.predef]: the 10000th number of a default-seeded mt19937_64.
  const Field<double> field =
      filled({.nx = 125, .ny = 80},
             {.kind = Kind::random, .seed = std::mt19937_64::default_seed, .path = {}});
  EXPECT_EQ(field.row(79)[124], static_cast<double>(9981545732273789042U >> 11) * 0x1p-53);
}

TEST(InitialRandom, DependsOnTheSeedAndNothingElse) {
  const Problem problem{.nx = 64, .ny = 64};
  const InitialField one{.kind = Kind::random, .seed = 1, .path = {}};
  const InitialField two{.kind = Kind::random, .seed = 2, .path = {}};
  const Field<double> first = filled(problem, one);
  EXPECT_TRUE(std::ranges::equal(first.cells(), filled(problem, one).cells()));
  EXPECT_FALSE(std::ranges::equal(first.cells(), filled(problem, two).cells()));
  const Summary summary = summarize(first.cells());
  EXPECT_GE(summary.min, 0);
  EXPECT_LT(summary.max, 1);
  EXPECT_NEAR(summary.sum / 4096, 0.5, 0.03); // six standard errors
  // Rounded once from the same doubles.
  EXPECT_EQ(filled<float>(problem, one).row(3)[5], static_cast<float>(first.row(3)[5]));
}

TEST(InitialSine, EveryCellDecaysByTheClosedFormFactor) {
  for (const Boundary boundary : {Boundary::periodic, Boundary::dirichlet, Boundary::neumann}) {
    const Problem problem{.nx = 30,
                          .ny = 17,
                          .dt = 0.2,
                          .boundary = boundary,
                          .boundary_value = 3,
                          .dtype = Dtype::float64};
    const double level = boundary == Boundary::dirichlet ? 3 : 0;
    const Field<double> start = filled(problem, {.kind = Kind::sine, .path = {}});
    Field<double> field = filled(problem, {.kind = Kind::sine, .path = {}});
    advance_reference(problem, field, 50);
    const double decay = std::pow(sine_decay_factor(problem), 50);
    EXPECT_LT(decay, 0.9);
    for (std::size_t i = 0; i < field.cells().size(); ++i) {
      ASSERT_NEAR(field.cells()[i], level + decay * (start.cells()[i] - level), 1e-13)
          << to_string(boundary) << " cell " << i;
    }
  }
}

TEST(InitialSine, TheDecayFactorAgainstNumbersWorkedByHand) {
  // Periodic, n = 4: 4 sin^2(pi/4) = 2 in each direction.
  EXPECT_NEAR(sine_decay_factor({.nx = 4, .ny = 4, .dt = 0.1}), 0.6, 1e-15);
  // Dirichlet, n = 3: 4 sin^2(pi/8) = 2 - sqrt(2). Neumann, n = 3: 4 sin^2(pi/6) = 1.
  EXPECT_NEAR(sine_decay_factor({.nx = 3, .ny = 3, .dt = 0.25, .boundary = Boundary::dirichlet}),
              std::sqrt(2.0) / 2, 1e-15);
  EXPECT_NEAR(sine_decay_factor({.nx = 3, .ny = 3, .dt = 0.25, .boundary = Boundary::neumann}), 0.5,
              1e-15);
}

class InitialFile : public ScratchTest {
 public:
  [[nodiscard]] InitialField file() const {
    return {.kind = Kind::file, .path = directory() / "in.npy"};
  }
  template <typename T = float>
  std::string complaint(const Problem& problem) const {
    return message_of<InvalidInput>([&] { filled<T>(problem, file()); });
  }
};

TEST_F(InitialFile, IsReadToTheBit) {
  const Problem problem{.nx = 7, .ny = 5};
  const Field<float> saved = filled<float>(problem, {.kind = Kind::random, .path = {}});
  write_npy(file().path, saved);
  EXPECT_TRUE(compare<float>(filled<float>(problem, file()).cells(), saved.cells()).bitwise);
}

// Beyond it 4u may be infinite in NumPy's way, and finite where it is fused.
TEST_F(InitialFile, ItsValuesLeaveRoomForAStep) {
  const Problem problem{.nx = 4, .ny = 3};
  Field<float> field(4, 3);
  field.row(1)[2] = -1e38F;
  write_npy(file().path, field);
  EXPECT_THAT(complaint(problem), AllOf(HasSubstr("-1e+38 at row 1, column 2"),
                                        HasSubstr("beyond 4.25e+37"), HasSubstr("float64")));
  field.row(1)[2] = -4e37F;
  write_npy(file().path, field);
  EXPECT_EQ(filled<float>(problem, file()).row(1)[2], -4e37F);
}

// Opening it would wait for somebody who writes.
TEST_F(InitialFile, APipeIsRefused) {
  ASSERT_EQ(::mkfifo(file().path.c_str(), 0600), 0);
  EXPECT_THAT(complaint({.nx = 4, .ny = 3}), HasSubstr("not a regular file"));
}

// Whoever holds a span of the cells goes on using it.
TEST_F(InitialFile, IsReadInPlace) {
  write_npy(file().path, Field<float>(7, 5));
  Field<float> field(7, 5);
  const float* const memory = field.cells().data();
  fill_initial({.nx = 7, .ny = 5}, file(), field);
  EXPECT_EQ(field.cells().data(), memory);
}

TEST_F(InitialFile, AnotherShapeNamesBothAndTheOption) {
  write_npy(file().path, Field<float>(7, 5));
  EXPECT_THAT(complaint({.nx = 5, .ny = 7}),
              AllOf(HasSubstr("7x5"), HasSubstr("5x7"), HasSubstr("--grid 7x5")));
}

TEST_F(InitialFile, AnotherDtypeIsRefused) {
  write_npy(file().path, Field<double>(7, 5));
  EXPECT_THAT(complaint({.nx = 7, .ny = 5}), HasSubstr("--dtype float64"));
}

TEST_F(InitialFile, CellsThatAreNotFiniteAreCountedAndLocated) {
  Field<float> field(7, 5);
  field.row(3)[2] = std::numeric_limits<float>::quiet_NaN();
  field.row(4)[0] = -std::numeric_limits<float>::infinity();
  write_npy(file().path, field);
  EXPECT_THAT(complaint({.nx = 7, .ny = 5}),
              AllOf(HasSubstr("holds 2 values"), HasSubstr("row 3, column 2")));
}

TEST_F(InitialFile, AMissingOrForeignFileIsTheReadersError) {
  EXPECT_THAT(complaint({.nx = 7, .ny = 5}), HasSubstr("no such file"));
  put("in.npy", "no array");
  EXPECT_THAT(complaint({.nx = 7, .ny = 5}), HasSubstr("magic"));
}

} // namespace
} // namespace diffbench
