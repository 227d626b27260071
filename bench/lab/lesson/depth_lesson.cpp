// SPDX-License-Identifier: Apache-2.0
// Lesson 3, after "When to use the GPU for training" (the disc set).
#include "lesson.hpp"

namespace diffbench::bench::lesson {

namespace {

enum class End { first, last };

/// The smallest or the largest net; null without any.
const Value& net(const StepResult& result, End end) {
  static const Value none;
  const Value::List& points = result.rows("mlp_depth.points");
  return points.empty() ? none : end == End::first ? points.front() : points.back();
}

/// Of an engine's first row for that net.
double of_engine(const StepResult& result, End end, std::string_view engine, std::string_view key) {
  const StepResult point{net(result, end), result.card};
  return figure(point.row("rows", "racer", engine), key);
}

double step_of(const StepResult& result, End end, std::string_view engine) {
  return of_engine(result, end, engine, "seconds_per_step");
}

Answer launches_in_a_step(const StepResult& result) {
  const double step = step_of(result, End::first, "cpu");
  return measured(step).source == Source::absent
             ? Answer{}
             : assumed(Assumption{step / result.card.launch.high, step / result.card.launch.low});
}

Answer errs_less(const StepResult& result) {
  const double small = of_engine(result, End::first, "cpu", "train_errors");
  const double large = of_engine(result, End::last, "cpu", "train_errors");
  return small >= 0 && large >= 0 ? chosen(large < small   ? 'a'
                                           : large > small ? 'b'
                                                           : 'c',
                                           measured(1))
                                  : Answer{};
}

LessonStep nets() {
  return {
      .name = "nets",
      .text =
          "Nets 2-4-8-...-T-2, which grow in depth and width at once, learn 1000 points of the "
          "unit square: inside the quarter of a disc or not. SGD with rate 0.1, batches of 100. "
          "The table has the time of one training step.",
      .command = "mlp depth --last {4:1024:x4|4,16} --budget {10|0.3}",
      .questions = {
          {.text =
               "How many parameters has the net with T = {1024|16}? (On paper: the layer before "
               "the last has {512x1024|8x16} weights and {1024|16} biases.)",
           .unit = "parameters",
           .answer =
               [](const StepResult& result) {
                 return reasoned(figure(net(result, End::last), "parameters"));
               },
           .why = "That layer has most of them: each doubling of T makes it four times as large.",
           .tolerance = 1.5},
          {.text = "From T = 4 to T = {1024|16}: how many times as long does a step of cpu take?",
           .unit = "times",
           .answer =
               [](const StepResult& result) {
                 return measured(step_of(result, End::last, "cpu") /
                                 step_of(result, End::first, "cpu"));
               },
           .why = "Usually the time grows far less than the arithmetic (MFLOP/step). At T = 4 "
                  "nearly all of a step is its fixed cost.",
           .tolerance = 3},
          {.text = "At T = 4: how many times as fast is cpu (a few fused products) as "
                   "cpu_xtensor (array by array)?",
           .unit = "times",
           .answer =
               [](const StepResult& result) {
                 return measured(step_of(result, End::first, "cpu_xtensor") /
                                 step_of(result, End::first, "cpu"));
               },
           .why = "A small net measures the cost of issuing operations, not of computing them."},
          {.text = "A GPU starts one kernel after the other. How many launches fit in the time "
                   "of cpu's step at T = 4?",
           .unit = "launches",
           .answer = launches_in_a_step,
           .why = "A framework makes a dozen or more of them in such a step. No card wins there, "
                  "however fast it computes.",
           .tolerance = 3},
          {.text = "From which T on did the GPU win in the tutorial that this lesson follows?",
           .unit = "",
           .choices = {"4 (22 parameters)", "64 (2982 parameters)", "1024 (703,142 parameters)"},
           .answer = [](const StepResult&) { return reported('c'); },
           .why = "That is one GPU against PyTorch on one CPU. A faster CPU code moves the point, "
                  "and so does a faster card; where there is a GPU, the table above has yours."},
      }};
}

LessonStep quality_by_size() {
  return {.name = "quality",
          .text = "The same nets, trained for 100 epochs each: does size pay?",
          .command = "mlp depth --last {4:64:x2|4,8} --quality --engine cpu --budget {3|0.3}",
          .questions = {
              {.text = "Does the largest of these nets misclassify fewer training rows than the "
                       "smallest?",
               .unit = "",
               .choices = {"fewer", "more", "the same number"},
               .answer = errs_less,
               .why = "A net that is large enough for a GPU to win may be larger than its problem "
                      "needs. Rows that it has not seen decide (mlp train shows them)."},
          }};
}

} // namespace

Lesson depth_lesson() {
  return {.number = 3,
          .title = "doubling nets",
          .teaches =
              "Why small nets are slow everywhere, why a GPU needs large ones to win, and "
              "whether the problem does.",
          .takes = "15 s",
          .steps = {nets(), quality_by_size()}};
}

} // namespace diffbench::bench::lesson
