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
          "A training step of MNIST's net on 1, 2, 4, ... threads, as OMP_NUM_THREADS would "
          "set them. Where MNIST's files are not here (diffbench get-data mnist), Fashion-MNIST "
          "or made-up rows of the same size take their place, and the table says so: a step "
          "takes as long on them.",
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
           .why = "Its share of n is the efficiency. What is missing is work that stays serial, "
                  "waiting for each other, and memory that all of them share.",
           .tolerance = 1.5},
          {.text = "If a tenth of the work stays serial, how many times as fast can any number of "
                   "threads make it?",
           .unit = "times",
           .answer = [](const StepResult&) { return reasoned(10.0); },
           .why = "Amdahl's law: 1 / (s + (1-s)/n) goes to 1/s. It holds for a GPU, too: what is "
                  "not ported sets the end.",
           .tolerance = 1.1},
      }};
}

LessonStep solver() {
  return {
      .name = "solver",
      .text =
          "The diffusion solver in the same way, and then the question of the lesson: one GPU "
          "against the best number of threads, in a whole run with both copies. Without a GPU "
          "it is a card that is assumed.",
      .command = "scaling --grid {2048|512} --iters {200|20} --budget {8|0.3}",
      .assumes = true,
      .questions = {
          {.text = "On all CPUs against one thread: how many times as fast is the solver?",
           .unit = "times",
           .answer =
               [](const StepResult& result) {
                 return measured(all_over_one(result, "scaling.results", "speedup"));
               },
           .why = "Two CPUs of a virtual machine may be two threads of one core, and the clock of "
                  "many CPUs falls as more of them work.",
           .tolerance = 1.5},
          {.text = "Peak memory (MaxRSS) on all CPUs, against that on one thread?",
           .unit = "",
           .choices = {"about the same", "half as much again, or more"},
           .answer =
               [](const StepResult& result) {
                 const Answer ratio =
                     measured(all_over_one(result, "scaling.results", "peak_host_bytes"));
                 return chosen(ratio.figure.low < 1.5 ? 'a' : 'b', ratio);
               },
           .why = "Threads share the fields; each has little of its own. Of processes, such as "
                  "ranks, each has all that it works on."},
          {.text = "The GPU in a whole run: how many times as fast as the best number of threads?",
           .unit = "times",
           .answer = gpu_over_threads,
           .why = "Against one thread of NumPy-style code it would be many times that. Against all "
                  "that the CPU can do, it is this.",
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
          "More threads than CPUs are easily started: a library in a library, two jobs on a "
          "node.",
      .command = "pitfalls --only oversubscribed-threads --grid {640|64} --budget {3|0.3}",
      .questions = {
          {.text = "Eight threads for each CPU: how many times as long does the same work take?",
           .unit = "times",
           .answer =
               [](const StepResult& result) {
                 return factor_of(result, "oversubscribed-threads", Reads::too_much);
               },
           .why = "Threads meet after every few steps, and those that wait keep the others from "
                  "the CPUs. Set the number of threads, and look at what else runs.",
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
