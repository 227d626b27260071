// SPDX-License-Identifier: Apache-2.0
// Lesson 1, after "Making Python Faster, Part III": 640x640 cells, D 1, dt 0.1.
#include "lesson.hpp"
#include "peer.hpp"

#include <algorithm>
#include <limits>

namespace diffbench::bench::lesson {

namespace {

/// Of the fastest of this program's own rows, in seconds.
double fastest_step(const StepResult& result) {
  double least = std::numeric_limits<double>::infinity();
  for (const Value& row : result.rows("results")) {
    if (!names_peer(text_at(row, "backend"))) {
      least = std::min(least, figure(row, "seconds_per_iteration")); // the first of a NaN's pair
    }
  }
  return least;
}

/// Bytes a second of the largest copy of that kind, or no_figure.
double largest_copy(const StepResult& result, std::string_view curves, std::string_view way,
                    std::string_view direction) {
  for (const Value& curve : result.rows(curves)) {
    if (text_at(curve, "way") == way && text_at(curve, "direction") == direction) {
      const StepResult inside{curve, result.card};
      const Value::List& points = inside.rows("points");
      return points.empty() ? no_figure : figure(points.back(), "bytes_per_second");
    }
  }
  return no_figure;
}

Answer gain_of_pinning(const StepResult& result) {
  const auto bandwidth = [&](const char* way) {
    return largest_copy(result, "transfer.device.curves", way, "h2d");
  };
  const Answer here = measured(bandwidth("pinned") / bandwidth("pageable"));
  const AssumedCard& card = result.card;
  return here.source == Source::measured
             ? here
             : assumed(Assumption{card.pinned_h2d.low / card.pageable_h2d.high,
                                  card.pinned_h2d.high / card.pageable_h2d.low});
}

/// Of the row with a copy there and back in every step; a GPU's comes first.
Answer cost_of_round_trips(const StepResult& result) {
  for (const Value& row : result.rows("residency.results")) {
    if (figure(row, "roundtrip_every") == 1) {
      return measured(figure(row, "times_resident"));
    }
  }
  return {};
}

/// The row whose field stays on the GPU, of the best backend.
bool stays(const Value& row) {
  return text_at(row, "kernel") == "cuda" && !(figure(row, "roundtrip_every") > 0);
}
/// The port that brings its field to the host in every step, in ordinary memory.
bool is_naive(const Value& row) {
  return text_at(row, "kernel") == "cuda_stream" && figure(row, "roundtrip_every") == 1 &&
         text_at(row, "transfer") == "pageable";
}

/// How many times as fast as the best of the CPU: that row here, or by the card.
Answer pace_of(const StepResult& result, bool (*is)(const Value&)) {
  const Value::List& here = result.rows("residency.results");
  if (const auto row = std::ranges::find_if(here, is); row != here.end()) {
    if (const Answer pace = measured(figure(*row, "speedup_vs_best_cpu"));
        pace.source == Source::measured) {
      return pace;
    }
  }
  const Value::List& by_card = result.rows("residency.assumed.rows");
  const auto row = std::ranges::find_if(by_card, is);
  return row == by_card.end() ? Answer{} : assumed(row->find("times_best_cpu"));
}

Answer pace_with_round_trips(const StepResult& result) {
  const Answer pace = pace_of(result, is_naive);
  const auto [low, high] = pace.figure;
  return chosen(high < 1 ? 'a' : low > 1 ? 'c' : 'b', pace);
}

LessonStep ladder() {
  return {
      .name = "ladder",
      .text =
          "A square of 640x640 cells is warm in a small block near its middle. In each time step "
          "a cell moves towards the mean of its four neighbours. In NumPy that is four rolls and "
          "a sum; xtensor_roll is the same line in C++. Four programs compute it, all with the "
          "same bits.",
      .command =
          "--grid 640 --iters {1000|20} --backend xtensor_roll,xtensor,fused,simd --budget "
          "{6|0.3}",
      .peer = "numpy",
      .questions = {
          {.text = "The fastest row against the NumPy-style row (xtensor_roll): how many times "
                   "as fast is it?",
           .unit = "times",
           .answer =
               [](const StepResult& result) {
                 return measured(figure(result.row("results", "backend", "xtensor_roll"),
                                        "seconds_per_iteration") /
                                 fastest_step(result));
               },
           .why = "Only the code changed: no temporaries, wide vectors, all CPUs, several steps "
                  "in one visit to memory. A GPU port that is compared with the NumPy-style row "
                  "gets the credit for all of that, too. (Where a note says that denormal "
                  "numbers slow the loops down, they do not slow simd.)"},
          {.text = "\"My GPU code is 50 times as fast as the CPU.\" Which row is the CPU?",
           .unit = "",
           .choices = {"the NumPy-style line: people run it",
                       "the plain loop (fused): a C++ programmer writes it",
                       "the fastest: the CPU can do it", "each can be: say which"},
           .answer = [](const StepResult&) { return reasoned('d'); },
           .why =
               "Each of them is the CPU to somebody. A ratio without its baseline is no result."},
          {.text = "A row can move more than 100 % of the bandwidth of a copy. How?",
           .unit = "",
           .choices =
               {"its clock is wrong",
                "its fields lie in a cache, or it takes several steps on a part of them while "
                "that part is there",
                "it leaves out cells that do not change"},
           .answer = [](const StepResult&) { return reasoned('b'); },
           .why = "The copy goes through main memory. For every row, one read and one write of "
                  "each cell a step are counted, whatever it really moved."},
      }};
}

LessonStep copies() {
  return {
      .name = "copies",
      .text =
          "A GPU has its own memory: the data must be copied there, and the results back. "
          "Without a GPU the curve shows copies within this machine's memory, through its caches.",
      .command = "transfer --max-size {64M|64K} --step 4 --budget {5|0.2}",
      .questions = {
          {.text = "One thread copies {64 MiB|64 KiB} by memcpy within this machine. How many GB a "
                   "second arrive?",
           .unit = "GB/s",
           .answer =
               [](const StepResult& result) {
                 return measured(largest_copy(result, "transfer.host.curves", "memcpy", "host") /
                                 1e9);
               },
           .why = "The cost of a copy depends first on where its bytes are: a cache is several "
                  "times as fast as memory. Only the bytes that arrive are counted."},
          {.text = "A GPU fetches bytes from page-locked (pinned) memory by itself. How many times "
                   "as fast is a large copy from there as one from ordinary memory?",
           .unit = "times",
           .answer = gain_of_pinning,
           .why = "From ordinary memory the driver first copies to its own page-locked buffer, and "
                  "the host is busy with that. Locking costs time, too: it pays for memory that is "
                  "used again and again."},
          {.text = "A copy takes t = a + bytes/b. Which of a and b decides?",
           .unit = "",
           .choices = {"a, the latency, always", "a for 1 KiB, b for 64 MiB",
                       "b, the bandwidth, always"},
           .answer = [](const StepResult&) { return reasoned('b'); },
           .why = "At bytes = a b both cost the same. Below that, send fewer and larger copies."},
      }};
}

LessonStep residency() {
  return {
      .name = "residency",
      .text =
          "Everybody ports the inner loop first: copy the field to the device, take a step, copy "
          "it back. From row to row the field stays longer where it is computed. Without a GPU "
          "the fastest CPU code plays the device, and a trip is a copy to another place in "
          "memory: that is no estimate of a bus. A second table has an assumed card.",
      .command = "residency --grid 640 --iters {1000|100} --budget {8|0.5}",
      .assumes = true,
      .questions = {
          {.text = "The field goes to the host and back in every step. How many times as long "
                   "does a step take as when the field stays?",
           .unit = "times",
           .answer = cost_of_round_trips,
           .why = "The arithmetic is the same in all rows. Each row gains by fewer copies, by "
                  "copies without the host's help, or by many launches at once.",
           .tolerance = 3},
          {.text = "A GPU gets the field and gives it back in every step. Compared with the best "
                   "row of this CPU it is:",
           .unit = "",
           .choices = {"slower", "one or the other: nobody can say yet", "faster"},
           .answer = pace_with_round_trips,
           .why = "So the first port disappoints, although the card is many times as fast."},
          {.text = "The field stays on that GPU. How many times as fast is its best kernel as "
                   "the best row of this CPU?",
           .unit = "times",
           .answer = [](const StepResult& result) { return pace_of(result, stays); },
           .why = "How much can be computed before you need the field, to plot or to save it? "
                  "That decides which of the two answers is yours."},
          {.text = "nvidia-smi shows 100 % utilization. What does that mean?",
           .unit = "",
           .choices = {"all cores of the GPU compute", "some kernel was running all the time",
                       "memory moves as fast as it can"},
           .answer = [](const StepResult&) { return reasoned('b'); },
           .why = "One small kernel after the other is enough for 100 %. Power draw is a better "
                  "sign of use; on a machine with a GPU --telemetry records it."},
      }};
}

LessonStep precision() {
  return {
      .name = "precision",
      .text =
          "NumPy computes in float64 by default, a GPU program often in float32. One more "
          "mistake with copies needs a GPU, and is told in words where there is none.",
      .command =
          "pitfalls --only float32-for-float64 --only pageable-async --grid {640|64} "
          "--budget {3|0.3}",
      .questions =
          {
              {.text =
                   "The same CPU, the same steps: how many times as fast is float32 as float64?",
               .unit = "times",
               .answer =
                   [](const StepResult& result) {
                     return factor_of(result, "float32-for-float64", Reads::too_little);
                   },
               .why = "float32 has half the bytes, and twice the cells in a vector. It gives "
                      "another result in less time: compare equal precisions, and say which."},
              {.text =
                   "Will it fit in the GPU's memory? How many MiB do two fields of 640x640 take in "
                   "float32?",
               .unit = "MiB",
               .answer =
                   [](const StepResult&) { return reasoned(2.0 * 640 * 640 * 4 / (1 << 20)); },
               .why = "Four questions decide about a GPU: does the problem fit, how many "
                      "branches has the code, how much travels between host and device, and can "
                      "the device do all operations?",
               .tolerance = 1.3},
          },
      .gpu_pitfalls = {"pageable-async"}};
}

LessonStep port() {
  return {
      .name = "port",
      .text =
          "A first port to CUDA, as many begin. It is right. diffbench try runs it on an "
          "emulated GPU, which has no time but counts what the program asks for.",
      .command = "try",
      .exercise = 4,
      .questions = {
          {.text = "How many times does the field travel between host and device in each step?",
           .unit = "times",
           .answer =
               [](const StepResult& result) {
                 const Value::List& judged = result.rows("try.results");
                 return judged.empty() ? Answer{}
                                       : measured(figure(judged.front(), "costs.copies"));
               },
           .why = "Each call of the function copies the field to the device and back. diffbench "
                  "try --exercise 4 mine.cu writes the same port for you: take the copies and "
                  "the allocations out of the loop, and try it until nothing is noted. diffbench "
                  "try --exercise lists eleven more.",
           .tolerance = 1.3},
          {.text = "The field stays on the device for 1000 steps. How many of these copies are "
                   "left in all?",
           .unit = "copies",
           .answer = [](const StepResult&) { return reasoned(2.0); },
           .why = "One before the first step, one after the last. Whoever wants to look at the "
                  "field in between pays for each look.",
           .tolerance = 1.3}}};
}

} // namespace

Lesson diffusion_lesson() {
  return {.number = 1,
          .title = "diffusion and copies",
          .teaches =
              "Why a port to a GPU can be slower than the CPU: what a copy costs, and what \"the "
              "CPU\" and \"the time\" mean.",
          .takes = "30 s",
          .steps = {ladder(), copies(), residency(), precision(), port()}};
}

} // namespace diffbench::bench::lesson
