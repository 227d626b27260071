// SPDX-License-Identifier: Apache-2.0
// What is said of a step on 1, 2, 4, ... threads, of a backend or of an engine of networks: the
// table, the law, how many threads, and whether a GPU is worth it.
#pragma once

#include "lab_report.hpp"
#include "ratio.hpp"
#include "scaling_law.hpp"
#include "study.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// A backend or an engine on a number of threads, or what it is held against.
struct ThreadRow : StudyRow {
  bool judged = true;               ///< the law and the advice are of such
  double work = 0;                  ///< of a step: cells, or rows of a batch
  std::optional<double> gflop = {}; ///< of a step
  std::string grid = {}, proof = {};
  std::optional<std::int64_t> peak_bytes = {};

  /// It has a time, and really ran on as many threads.
  [[nodiscard]] bool counts() const {
    return ranked() && threads != 0 && provenance.threads == threads;
  }
};

/// What a GPU adds to the sentence and to the data.
struct GpuAnswer {
  std::string sentence; ///< to follow another one
  Value json;
};
/// Whether `gpu` is worth it, which is that fast by `pace`, of which `times` count; that is open
/// where the interval holds the bar.
[[nodiscard]] GpuAnswer gpu_verdict(std::string_view gpu, std::string_view cpu,
                                    std::string_view pace, const Ratio& times, Value figures);
[[nodiscard]] GpuAnswer no_gpu(const std::string& why);

struct ThreadStudy {
  Scaling scaling = Scaling::strong;
  std::string title;                ///< above the table
  std::string rate = "GCell/s";     ///< header,
  double rate_unit = 1e9;           ///< and so much work a second
  std::vector<ThreadRow> rows = {}; ///< of each group, ascending in their threads
  int usable_cpus = 1;
  double cpu_quota = 0;                      ///< infinity without one
  double least_effect = least_effect_in_run; ///< below which a difference of rows is none
  GpuAnswer gpu = {};
  Value data = {};           ///< what was run
  std::string troubles = {}; ///< below the table

  /// Whether so many threads have to take turns on the CPUs that there are.
  [[nodiscard]] bool oversubscribed(int threads) const {
    return !(threads <= usable_cpus && threads <= cpu_quota);
  }
};

/// `results`, `fit`, `recommended_threads` and `gpu` are added to the data.
[[nodiscard]] LabReport thread_report(const ThreadStudy& study);

} // namespace diffbench::bench
