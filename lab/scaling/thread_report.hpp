// SPDX-License-Identifier: Apache-2.0
// What is said of a step on 1, 2, 4, ... threads, of a backend or of an engine of networks: the
// table, the law, how many threads, and whether a GPU is worth it.
#pragma once

#include "lab_report.hpp"
#include "ratio.hpp"
#include "scaling_law.hpp"
#include "statistics.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// A backend or an engine on a number of threads, or what it is held against.
struct ThreadEntry {
  std::string name;                 ///< of the backend or engine, the same whatever the threads
  int threads = 0;                  ///< asked for; 0: none were, as on a GPU
  bool judged = true;               ///< the law and the advice are of such
  bool shown = true;                ///< in the table
  bool ranked = false;              ///< verified and timed
  double work = 0;                  ///< of a step: cells, or rows of a batch
  std::optional<double> gflop = {}; ///< of a step
  std::string grid = {};
  std::string verified = {};
  std::optional<std::int64_t> peak_bytes = {};
  std::string label = {};   ///< where rows of several are in one table
  SampleSeries series = {}; ///< with the threads that it ran on
  Value json = {};          ///< what is in the result file besides

  /// It really ran on as many threads.
  [[nodiscard]] bool counts() const { return ranked && threads != 0 && series.threads == threads; }
  /// Of one that is ranked: of a step, by the median, and work a second.
  [[nodiscard]] double seconds() const { return iteration_quartiles(series.samples).median; }
  [[nodiscard]] double throughput() const { return work / seconds(); }
};

/// What a GPU adds to the sentence and to the data.
struct GpuAnswer {
  std::string sentence; ///< to follow another one
  Value json;
};
/// Whether `gpu` is worth it, which is that fast by `pace`, of which `times` count; `rest` follows
/// the verdict, which is none where the interval holds the bar.
[[nodiscard]] GpuAnswer gpu_verdict(std::string_view gpu, std::string_view cpu,
                                    std::string_view pace, const Ratio& times, Value figures,
                                    std::string_view rest = "");
[[nodiscard]] GpuAnswer no_gpu(const std::string& why);

struct ThreadStudy {
  Scaling scaling = Scaling::strong;
  std::string title;                     ///< above the table
  std::string step = "an iteration";     ///< what the time is of
  std::string time = "time/iter";        ///< header
  std::string rate = "GCell/s";          ///< header,
  double rate_unit = 1e9;                ///< and so much work a second
  std::vector<ThreadEntry> entries = {}; ///< of each name, ascending in their threads
  bool mixed = false;                    ///< of several names
  int usable_cpus = 1;
  double cpu_quota = 0;                      ///< infinity without one
  double least_effect = least_effect_in_run; ///< below which a difference of entries is none
  GpuAnswer gpu = {};
  Value data = {};           ///< what was run
  std::string troubles = {}; ///< below the table

  /// Whether so many threads have to take turns on the CPUs that there are.
  [[nodiscard]] bool oversubscribed(int threads) const {
    return !(threads <= usable_cpus && threads <= cpu_quota);
  }
  /// Those that the law and the advice are of: of the first name that counts(), all that do.
  [[nodiscard]] std::vector<const ThreadEntry*> judged() const;
};

/// The fewest threads whose throughput is within 5 % of the best; empty where nothing counts, and
/// where the samples leave open which these are.
[[nodiscard]] std::optional<int> recommended_threads(const ThreadStudy& study);

/// `results`, `fit` and `gpu` are added to the data.
[[nodiscard]] LabReport thread_report(const ThreadStudy& study);

} // namespace diffbench::bench
