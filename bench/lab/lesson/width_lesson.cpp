// SPDX-License-Identifier: Apache-2.0
// Lesson 2, after "Run time comparisons" (HSF training).
#include "lesson.hpp"

#include <set>

namespace diffbench::bench::lesson {

namespace {

/// Whether the mistake makes it look faster ('a') or slower: measured, or as is to be expected.
Answer looks(const StepResult& result, std::string_view name, char expected) {
  const Answer here = factor_of(result, name, Reads::too_much);
  return here.source == Source::absent ? reasoned(expected)
                                       : chosen(here.figure.low < 1 ? 'a' : 'b', here);
}

/// Of `cpu` at a place among the sizes, in seconds.
double step_at(const StepResult& result, std::size_t place) {
  const Value::List& points = result.rows("mlp_width.points");
  if (place >= points.size()) {
    return no_figure;
  }
  const StepResult point{points[place], result.card};
  return figure(point.row("rows", "racer", "cpu"), "seconds_per_step");
}

Answer equal_errors(const StepResult& result) {
  std::set<double> errors;
  for (const Value& row : result.rows("mlp_train.results")) {
    if (text_at(row, "status") == "ok") {
      errors.insert(figure(row, "test.errors"));
    }
  }
  return errors.empty() ? Answer{} : chosen(errors.size() == 1 ? 'a' : 'b', measured(1));
}

/// What a net reaches that knows the first class only, in percent.
Answer accuracy_of_one_answer(const StepResult& result) {
  const Value::List& rows = result.rows("mlp_train.results");
  if (rows.empty()) {
    return {};
  }
  const StepResult first{rows.front(), result.card};
  const Value::List& classes = first.rows("test.classes");
  return classes.empty() ? Answer{}
                         : measured(100 * figure(classes.front(), "support") /
                                    figure(result.own, "mlp_train.test_rows"));
}

LessonStep clock_stops() {
  const std::vector<std::string_view> directions = {"faster than it is", "slower than it is"};
  return {
      .name = "clock",
      .text =
          "Time with a wall clock, and stop it when the work is done, not when it has been "
          "requested. A launch returns before its kernel ends. So does a line of a lazy array "
          "library, and that needs no GPU.",
      .command =
          "pitfalls --only lazy-expression --only context-timed --only no-synchronization "
          "--only synchronize-every-step --grid {640|64} --budget {4|0.3}",
      .questions =
          {
              {.text = "The clock stops after a line that only notes what is to be computed. How "
                       "many times too short is the time that it reads?",
               .unit = "times",
               .answer =
                   [](const StepResult& result) {
                     return factor_of(result, "lazy-expression", Reads::too_little);
                   },
               .why = "The factor has no limit: the more work is noted, the better it looks.",
               .tolerance = 10},
              {.text = "When must the clock of a run on a GPU stop?",
               .unit = "",
               .choices = {"when the last launch has returned", "after a synchronization",
                           "at any time: a launch waits"},
               .answer = [](const StepResult&) { return reasoned('b'); },
               .why = "Launches are asynchronous. A copy to ordinary memory synchronizes, too, "
                      "which is why a missing wait is often not noticed."},
              {.text = "A clock without synchronization makes a GPU look:",
               .unit = "",
               .choices = directions,
               .answer =
                   [](const StepResult& result) {
                     return looks(result, "no-synchronization", 'a');
                   },
               .why = "It reads only the host's time to request the work."},
              {.text = "The first run of a process is timed with the others. That makes a GPU "
                       "look:",
               .unit = "",
               .choices = directions,
               .answer =
                   [](const StepResult& result) { return looks(result, "context-timed", 'b'); },
               .why = "The first run makes the context and loads the kernels. Report it "
                      "separately."},
          },
      .gpu_pitfalls = {"context-timed", "no-synchronization", "synchronize-every-step"}};
}

LessonStep width() {
  return {
      .name = "width",
      .text =
          "A classifier with two hidden layers of N neurons, 2-N-N-2, in batches of 100. Without "
          "a GPU two engines on this CPU are compared: cpu takes a step in a few fused products; "
          "cpu_xtensor takes it array by array, with OpenBLAS' products.",
      .command = "mlp width --hidden {100,1000,2000|10,40} --budget {10|0.3}",
      .questions = {
          {.text =
               "From N = {100|10} to N = {1000|40}: how many times as long does a training step "
               "of cpu take?",
           .unit = "times",
           .answer =
               [](const StepResult& result) {
                 return measured(step_at(result, 1) / step_at(result, 0));
               },
           .why = "The arithmetic grows nearly with the square of N; the fixed cost of a step "
                  "does not. A GPU has a higher fixed cost, and so loses where N is small."},
          {.text = "On a P100, from which N on did the GPU win?",
           .unit = "",
           .choices = {"at every N", "from about 1000 on", "nowhere"},
           .answer = [](const StepResult&) { return reported('b'); },
           .why = "It was slower below, and 4 to 5 times as fast at 2000. Another card, CPU or "
                  "program has another N: where there is a GPU, the table above has yours."},
      }};
}

LessonStep equal_quality() {
  return {
      .name = "quality",
      .text =
          "A faster run counts only if its result is as good. The engines train one net from the "
          "same parameters on the same rows: class 1 is a quarter of a disc in the unit square.",
      .command = "mlp train --data disc --layers 2,4,8,16,2 --epochs {100|5}",
      .questions = {
          {.text = "Do all engines misclassify the same number of test rows?",
           .unit = "",
           .choices = {"yes", "no"},
           .answer = equal_errors,
           .why = "They differ only by rounding. Where the quality differs, that difference is "
                  "the result, not the time."},
          {.text = "Class 1 is an eighth of the square. A net always answers 0. What is its "
                   "accuracy, in percent?",
           .unit = "%",
           .answer = accuracy_of_one_answer,
           .why = "Accuracy hides a net that has learnt nothing. Precision, recall and F1 of each "
                  "class, with its support, do not.",
           .tolerance = 1.1},
      }};
}

} // namespace

Lesson width_lesson() {
  return {.number = 2,
          .title = "synchronization and width",
          .teaches =
              "Where a clock must stop, from which size of a layer another engine wins, and "
              "why the quality belongs beside the time.",
          .takes = "15 s",
          .steps = {clock_stops(), width(), equal_quality()}};
}

} // namespace diffbench::bench::lesson
