// SPDX-License-Identifier: Apache-2.0
// Every mistake that is known is named, in whatever order the operations are done.
#include "judgement.hpp"

#include <gmock/gmock.h>

#include <array>

namespace diffbench::bench {
namespace {

template <typename T>
std::vector<JudgedRun<T>> runs_of(const Arithmetic& arithmetic, const Fault& fault) {
  struct Size {
    std::int64_t nx, ny;
    std::vector<std::int64_t> steps;
    double factor;
  };
  const std::vector<Size> sizes = {{7, 5, {1, 2, 3, 17}, 0.15},
                                   {13, 19, {1, 2}, 0.03},
                                   {37, 21, {1, 3}, 0.23},
                                   {67, 34, {1, 2}, 0.12},
                                   {257, 131, {2}, 0.11}};
  std::vector<JudgedRun<T>> runs;
  for (const Size& size : sizes) {
    for (const std::int64_t steps : size.steps) {
      Problem problem;
      problem.nx = size.nx;
      problem.ny = size.ny;
      problem.dtype = sizeof(T) == 4 ? Dtype::float32 : Dtype::float64;
      problem.dt = size.factor;
      Field<T> initial(size.nx, size.ny);
      fill_secret(initial, static_cast<std::uint64_t>(100 * size.nx + steps));
      Field<T> result = advance_varied(problem, initial, steps, arithmetic, fault);
      runs.push_back({problem, steps, std::move(initial), std::move(result)});
    }
  }
  return runs;
}

/// What leaves a field of so many cells and steps as another mistake does.
std::string_view twin(std::string_view id) { return id == "steps_rounded" ? "odd_buffer" : id; }

TEST(Explain, NamesEveryMistakeBesideAnyOrderOfOperations) {
  using enum Neighbour;
  const std::array<Arithmetic, 3> orders = {
      Arithmetic{},
      Arithmetic{.order = {right, up, left, down}, .centre = Arithmetic::Centre::folded},
      Arithmetic{.order = {left, down, up, right}, .in_pairs = true, .fused = 1}};
  std::size_t each = 0;
  for (const Mistake& mistake : mistakes()) {
    const auto found = explain(runs_of<float>(orders.at(each++ % orders.size()), mistake.fault));
    ASSERT_TRUE(found.mistake) << mistake.text;
    if (found.mistake->id != twin(mistake.id)) {
      EXPECT_EQ(found.mistake->id, mistake.id) << mistake.text << " / " << found.mistake->text;
    }
  }
}

TEST(Explain, NamesAFactorThatIsNotTheOneAskedFor) {
  for (const auto& [fault, text] :
       {std::pair{Fault{.factor = 0.1}, "the factor is 0.1, whatever it is asked for"},
        std::pair{Fault{.factor = 1.0 / 6}, "the factor is 0.1667, whatever it is asked for"},
        std::pair{Fault{.factor_scale = 1.0 / 3}, "the factor is 0.3333 times what it should be"},
        std::pair{Fault{.factor_scale = 2}, "the factor is 2 times what it should be"}}) {
    for (const auto precision : {Arithmetic::Precision::own, Arithmetic::Precision::wide_step}) {
      const auto found = explain(runs_of<float>({.precision = precision}, fault));
      ASSERT_TRUE(found.mistake) << text;
      EXPECT_EQ(found.mistake->text, text);
    }
    EXPECT_EQ(explain(runs_of<double>({}, fault)).mistake->text, text);
  }
}

TEST(Explain, NamesNoMistakeOfWhatIsRight) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, arithmetics().size() - 1}) {
    const auto found = explain(runs_of<float>(arithmetics()[i], {}));
    EXPECT_TRUE(found.arithmetic) << i; // several have the same bits
    EXPECT_FALSE(found.mistake);
  }
}

} // namespace
} // namespace diffbench::bench
