// SPDX-License-Identifier: Apache-2.0
// Lesson 5, after "Measuring inference time correctly" (Deci).
#include "lesson.hpp"

namespace diffbench::bench::lesson {

namespace {

const Value& cpu_row(const StepResult& result) {
  return result.row("mlp_latency.results", "engine", "cpu");
}

const Value& misreading(const StepResult& result, std::string_view name) {
  return StepResult{cpu_row(result), result.card}.row("misreadings", "name", name);
}

Answer milliseconds_left(const StepResult& result) {
  const double read = figure(misreading(result, "coarse clock"), "mistaken_seconds");
  return read >= 0 ? chosen(read == 0 ? 'a' : 'b', measured(1)) : Answer{};
}

Answer gain_of_batches(const StepResult& result) {
  const Value& row = result.row("mlp_throughput.results", "row", "cpu");
  const StepResult inside{row, result.card};
  const Value::List& curve = inside.rows("curve");
  return curve.empty() ? Answer{}
                       : measured(figure(row, "best_rows_per_second") /
                                  figure(curve.front(), "rows_per_second"));
}

LessonStep answers() {
  return {
      .name = "answers",
      .text =
          "One row goes through the net 784-128-10, {300|20} times. At least 10 calls warm up. "
          "Then each call is timed alone, from rows in host memory to outputs there. Beside the "
          "right readings the table has those of classic mistakes, from the same calls.",
      .command = "mlp latency --repetitions {300|20}",
      .questions = {
          {.text = "How many microseconds does one answer of cpu take (the median)?",
           .unit = "us",
           .answer =
               [](const StepResult& result) {
                 return measured(1e6 * figure(cpu_row(result), "seconds.median"));
               },
           .why = "An answer is some 100,000 multiplications. A framework adds microseconds for "
                  "each operation that it issues; a GPU adds both copies and its launches.",
           .tolerance = 3},
          {.text = "How many times as long as the median is the first call of a new engine?",
           .unit = "times",
           .answer =
               [](const StepResult& result) {
                 return measured(figure(misreading(result, "no warm-up"), "factor"));
               },
           .why = "Memory is touched for the first time, and caches are cold. A GPU must also "
                  "load kernels and wake from low power, which takes up to seconds.",
           .tolerance = 3},
          {.text = "The slowest of the {300|20} calls: how many times the median?",
           .unit = "times",
           .answer =
               [](const StepResult& result) {
                 const Value& row = cpu_row(result);
                 return measured(figure(row, "seconds.max") / figure(row, "seconds.median"));
               },
           .why = "A single sample may be that one, and the mean includes it. Report the median "
                  "with the 99th percentile, or mean and standard deviation of many calls.",
           .tolerance = 5},
          {.text = "What does a clock that counts milliseconds read for one call?",
           .unit = "",
           .choices = {"0", "1 or more"},
           .answer = milliseconds_left,
           .why = "Time many calls together, or use a finer clock and know the cost of reading "
                  "it."},
      }};
}

LessonStep mistakes() {
  return {
      .name = "mistakes",
      .text =
          "These are the same mistakes with steps of the solver, and the mistakes that need "
          "a GPU.",
      .command =
          "pitfalls --only no-warm-up --only copies-timed --only one-sample --only "
          "context-timed --only no-synchronization --only event-pairs --grid {640|64} "
          "--budget {4|0.3}",
      .questions =
          {
              {.text = "Both copies of the field are inside the timing of a step. How many times "
                       "too long is the time that it reads?",
               .unit = "times",
               .answer =
                   [](const StepResult& result) {
                     return factor_of(result, "copies-timed", Reads::too_much);
                   },
               .why = "Over a GPU's bus it is far more. Say what a time includes; time copies "
                      "separately.",
               .tolerance = 2},
              {.text = "The first use of a GPU makes its context. How many milliseconds is that?",
               .unit = "ms",
               .answer =
                   [](const StepResult& result) {
                     const Assumption& context = result.card.context;
                     return assumed(Assumption{1e3 * context.low, 1e3 * context.high});
                   },
               .why = "It is paid once in a process: that is nothing for a service, and "
                      "everything for a program that answers once.",
               .tolerance = 3},
              {.text = "How is a GPU timed best?",
               .unit = "",
               .choices = {"by the host's clock round the launch",
                           "by events round many calls, then a synchronization",
                           "by events round each kernel, summed"},
               .answer = [](const StepResult&) { return reasoned('b'); },
               .why = "The host's clock stops too early. A pair of events round each kernel adds "
                      "a microsecond or two, and the gap until the host has launched the kernel."},
          },
      .gpu_pitfalls = {"context-timed", "no-synchronization", "event-pairs"}};
}

LessonStep throughput() {
  return {
      .name = "throughput",
      .text = "Rows a second by batch size, up to the end of memory or of the time for it.",
      .command =
          "mlp throughput {--layers 784,128,10|--layers 20,10,3 --most-batch 16} --budget "
          "{5|0.3}",
      .questions = {
          {.text =
               "How many times as many rows a second does cpu answer in its best batches as one "
               "at a time?",
           .unit = "times",
           .answer = gain_of_batches,
           .why = "Weights are read once for a whole batch. A GPU needs far larger batches to be "
                  "busy, and gains more from them."},
          {.text = "The time of a batch, divided by its rows, is:",
           .unit = "",
           .choices = {"the latency of an answer", "the cost of an answer, not how long it takes"},
           .answer = [](const StepResult&) { return reasoned('b'); },
           .why = "A user waits until the batch is full, and then for the whole batch."},
      }};
}

} // namespace

Lesson latency_lesson() {
  return {.number = 5,
          .title = "latency and throughput",
          .teaches =
              "How long an answer takes, how to measure that, and what it has to do with "
              "rows a second.",
          .takes = "20 s",
          .steps = {answers(), mistakes(), throughput()}};
}

} // namespace diffbench::bench::lesson
