// SPDX-License-Identifier: Apache-2.0
// Lesson 4, after "Predicting and measuring performance" (LLSC, Practical HPC).
#include "lesson.hpp"

namespace diffbench::bench::lesson {

namespace {

/// `key` of all threads over that of one; no_figure on one CPU.
double all_over_one(const StepResult& result, std::string_view rows, std::string_view key) {
  const Value* first = nullptr;
  const Value* last = nullptr;
  for (const Value& row : result.rows(rows)) {
    if (text_at(row, "device") == "cpu" && text_at(row, "status") == "ok") {
      first = first == nullptr ? &row : first;
      last = &row;
    }
  }
  return first == last ? no_figure : figure(*last, key) / figure(*first, key);
}

/// Of a whole run, both copies included, where there is the time of one.
Answer gpu_over_threads(const StepResult& result) {
  for (const char* figure_of : {"scaling.gpu.warm", "scaling.gpu.per_iteration"}) {
    if (const Answer here = measured(figure(result.own, figure_of));
        here.source == Source::measured) {
      return here;
    }
  }
  return assumed(result.own.find("scaling.assumed.times_as_fast"));
}

Answer worth_it(const StepResult& result) {
  constexpr double rule = 10;
  const Answer pace = gpu_over_threads(result);
  if (pace.source == Source::measured && result.own.find("scaling.gpu.worth_it").is_null()) {
    return {.source = Source::unclear};
  }
  return chosen(pace.figure.low >= rule ? 'a' : pace.figure.high < rule ? 'b' : 'c', pace);
}

LessonStep training() {
  return {
      .name = "training",
      .text =
          "A training step of MNIST's net on 1, 2, 4, ... threads, as OMP_NUM_THREADS would set "
          "them. Where MNIST's files are missing (diffbench get-data mnist), Fashion-MNIST or "
          "made-up rows of the same size take their place, and the table says so. A step takes "
          "as long on them.",
      .command =
          "mlp scaling {--layers 784,512,512,10|--data made-up --layers 784,16,10} --budget "
          "{10|0.3}",
      .questions = {
          {.text = "One thread's time over that of all CPUs, T1/Tn: how many times as fast is a "
                   "training step on all of them?",
           .unit = "times",
           .answer =
               [](const StepResult& result) {
                 return measured(all_over_one(result, "mlp_scaling.results", "speedup"));
               },
           .why = "Divided by n, that is the efficiency. The rest is lost to serial work, to "
                  "threads that wait for each other, and to the memory that they share.",
           .tolerance = 1.5},
          {.text = "A tenth of the work stays serial. How many times as fast can it become, with "
                   "any number of threads?",
           .unit = "times",
           .answer = [](const StepResult&) { return reasoned(10.0); },
           .why = "Amdahl's law: 1 / (s + (1-s)/n) goes to 1/s. It holds for a GPU, too: the "
                  "part that is not ported sets the limit.",
           .tolerance = 1.1},
      }};
}

LessonStep solver() {
  return {
      .name = "solver",
      .text =
          "The diffusion solver is measured in the same way. Then one GPU is compared with the "
          "best number of threads, in a whole run with both copies. Without a GPU the card is "
          "assumed.",
      .command = "scaling --grid {2048|512} --iters {200|20} --budget {8|0.3}",
      .assumes = true,
      .questions = {
          {.text = "How many times as fast is the solver on all CPUs as on one thread?",
           .unit = "times",
           .answer =
               [](const StepResult& result) {
                 return measured(all_over_one(result, "scaling.results", "speedup"));
               },
           .why = "Two CPUs of a virtual machine may be two threads of one core, and the clock of "
                  "many CPUs falls as more of them work.",
           .tolerance = 1.5},
          {.text = "How large is peak memory (MaxRSS) on all CPUs, compared with one thread?",
           .unit = "",
           .choices = {"about the same", "half as much again, or more"},
           .answer =
               [](const StepResult& result) {
                 const Answer ratio =
                     measured(all_over_one(result, "scaling.results", "peak_host_bytes"));
                 return chosen(ratio.figure.low < 1.5 ? 'a' : 'b', ratio);
               },
           .why = "Threads share the fields, and each has little memory of its own. Processes, "
                  "such as ranks, each hold all the data that they work on."},
          {.text = "In a whole run: how many times as fast is the GPU as the best number of "
                   "threads?",
           .unit = "times",
           .answer = gpu_over_threads,
           .why = "Against one thread of NumPy-style code it would be many times that. Against "
                  "the best that the CPU can do, it is this.",
           .tolerance = 3},
          {.text = "The rule here is that a GPU is worth it from 10 times on. Is it?",
           .unit = "",
           .choices = {"yes", "no", "perhaps: the ends of what is assumed disagree"},
           .answer = worth_it,
           .why = "What limits it: copies where steps are few, launches where the grid is small, "
                  "the bandwidth of its memory where it is large."},
      }};
}

LessonStep oversubscribed() {
  return {
      .name = "oversubscribed",
      .text =
          "It is easy to start more threads than CPUs: a parallel library inside another, two "
          "jobs on a node.",
      .command = "pitfalls --only oversubscribed-threads --grid {640|64} --budget {3|0.3}",
      .questions = {
          {.text = "How many times as long does the same work take with eight threads for each "
                   "CPU?",
           .unit = "times",
           .answer =
               [](const StepResult& result) {
                 return factor_of(result, "oversubscribed-threads", Reads::too_much);
               },
           .why = "Threads wait for each other after every few steps, and the waiting ones keep "
                  "the others from the CPUs. Set the number of threads, and look at what else "
                  "runs.",
           .tolerance = 3},
      }};
}

} // namespace

Lesson thread_lesson() {
  return {.number = 4,
          .title = "threads",
          .teaches =
              "Speed-up and efficiency, what limits them, how many threads are worth it, and "
              "what a GPU has to be compared with.",
          .takes = "20 s",
          .steps = {training(), solver(), oversubscribed()}};
}

} // namespace diffbench::bench::lesson
