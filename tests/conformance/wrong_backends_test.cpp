// SPDX-License-Identifier: Apache-2.0
// Each fault is caught by the check that is there for it, and the same check passes without it.
#include "session_checks.hpp"
#include "wrong_session.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

namespace diffbench::conformance {
namespace {

template <typename T>
SessionMaker<T> maker_with(Fault fault) {
  return [=](const Problem& problem) { return std::make_unique<WrongSession<T>>(problem, fault); };
}

constexpr std::int64_t nx = 31;
constexpr std::int64_t ny = 17;

template <typename T, Content Initial, SameCells<T> Same = same_bits<T>>
testing::AssertionResult matches(const SessionMaker<T>& make, const Problem& problem) {
  return matches_oracle(make, problem, field_of<T>(Initial, nx, ny), {0, 1, 17}, Same);
}

template <typename T>
using Check = testing::AssertionResult (*)(const SessionMaker<T>&, const Problem&);

struct Case {
  const char* name;
  Fault fault;
  Check<float> check_float32;
  Check<double> check_float64;
};
std::ostream& operator<<(std::ostream& stream, const Case& wrong) { return stream << wrong.name; }

template <Content Initial>
Case caught_by_oracle(const char* name, Fault fault) {
  return {name, fault, matches<float, Initial>, matches<double, Initial>};
}

const Case cases[] = {
    caught_by_oracle<Content::random>("Contracts", Fault::contracts),
    caught_by_oracle<Content::random>("WrongCorner", Fault::wrong_corner),
    caught_by_oracle<Content::denormal>("FlushesDenormals", Fault::flushes_denormals),
    caught_by_oracle<Content::near_denormal>("FlushesSomeDenormals", Fault::flushes_denormals),
    caught_by_oracle<Content::random>("WritesAfterOutput", Fault::writes_after_output),
    caught_by_oracle<Content::random>("WritesBeforeOutput", Fault::writes_before_output),
    caught_by_oracle<Content::random>("ReadsBeforeInput", Fault::reads_before_input),
    caught_by_oracle<Content::random>("ChangesInput", Fault::changes_input),
    caught_by_oracle<Content::random>("KeepsInput", Fault::keeps_input),
    caught_by_oracle<Content::random>("StepsForNone", Fault::steps_for_none),
    caught_by_oracle<Content::random>("DownloadsTooEarly", Fault::downloads_too_early),
    caught_by_oracle<Content::random>("DropsLastRow", Fault::drops_last_row),
    {"SwallowsNan", Fault::swallows_nan, matches<float, Content::one_nan, same_bits_or_nan<float>>,
     matches<double, Content::one_nan, same_bits_or_nan<double>>},
    {"RestartsEachAdvance", Fault::restarts_each_advance, splits<float>, splits<double>},
    {"IgnoresSecondUpload", Fault::ignores_second_upload, starts_anew<float>, starts_anew<double>},
    {"ReplacesRowsAbove", Fault::replaces_rows_above, replaces_rows<float>, replaces_rows<double>},
    {"ClearsOtherRows", Fault::clears_other_rows, replaces_rows<float>, replaces_rows<double>},
    {"IgnoresRows", Fault::ignores_rows, replaces_rows<float>, replaces_rows<double>},
    {"DownloadsFirstRows", Fault::downloads_first_rows, replaces_rows<float>,
     replaces_rows<double>},
    {"WritesAnotherRow", Fault::writes_another_row, replaces_rows<float>, replaces_rows<double>},
    {"SharesItsField", Fault::shares_its_field, keeps_apart<float>, keeps_apart<double>},
};

class WrongBackendTest : public testing::TestWithParam<Case> {
 protected:
  template <typename T>
  static void expect_caught(Check<T> check) {
    for (const Boundary boundary : all_boundaries) {
      const Problem problem = problem_of<T>(nx, ny, boundary);
      EXPECT_TRUE(check(maker_with<T>(Fault::none), problem));
      EXPECT_FALSE(check(maker_with<T>(GetParam().fault), problem));
    }
  }
};

TEST_P(WrongBackendTest, IsCaught) {
  expect_caught<float>(GetParam().check_float32);
  expect_caught<double>(GetParam().check_float64);
}

INSTANTIATE_TEST_SUITE_P(Faults, WrongBackendTest, testing::ValuesIn(cases),
                         [](const auto& wrong) { return std::string(wrong.param.name); });

// The message leads to the cell.
TEST(WrongBackend, MessageNamesTheCell) {
  const Problem problem = problem_of<float>(nx, ny, Boundary::periodic);
  const auto result =
      matches<float, Content::random>(maker_with<float>(Fault::wrong_corner), problem);
  EXPECT_NE(std::string(result.message()).find("x=30 y=16"), std::string::npos) << result.message();
  EXPECT_NE(std::string(result.message()).find("31x17 float32 periodic, 1 steps"),
            std::string::npos)
      << result.message();
}

// It would change the oracle's bits alike, so it has a check of its own.
TEST(WrongBackend, ChangedRoundingIsNamed) {
  const Problem problem = problem_of<float>(nx, ny, Boundary::periodic);
  const auto result =
      matches<float, Content::random>(maker_with<float>(Fault::changes_rounding), problem);
  EXPECT_NE(std::string(result.message()).find("rounding"), std::string::npos) << result.message();
}

// NaN never passes as equal, not even as NaN against NaN.
TEST(WrongBackend, NanDoesNotPassTheBitwiseCheck) {
  const Field<float> field = field_of<float>(Content::one_nan, nx, ny);
  EXPECT_FALSE(same_bits<float>(field.cells(), field.cells(), nx));
  EXPECT_TRUE(same_bits_or_nan<float>(field.cells(), field.cells(), nx));
}

} // namespace
} // namespace diffbench::conformance
