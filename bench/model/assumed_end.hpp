// SPDX-License-Identifier: Apache-2.0
// An assumed card whose figures are all at one end of what is assumed: all goes well, or nothing
// does. Arithmetic only.
#pragma once

#include "assumed_card.hpp"
#include "cell_work.hpp"
#include "diffbench/problem.hpp"

#include <algorithm>

namespace diffbench::bench {

class AssumedEnd {
 public:
  enum class Bound { fast, slow };
  AssumedEnd(const AssumedCard& card, const CellWork& work, Bound bound)
      : card_(card), work_(work), fast_(bound == Bound::fast) {}
  /// Of the stencil.
  AssumedEnd(const AssumedCard& card, Dtype dtype, Bound bound)
      : AssumedEnd(card, stencil_work(dtype), bound) {}

  [[nodiscard]] bool fast() const { return fast_; }
  [[nodiscard]] const AssumedCard& card() const { return card_; }
  [[nodiscard]] const CellWork& work() const { return work_; }
  [[nodiscard]] double time(const Assumption& span) const { return fast_ ? span.low : span.high; }
  [[nodiscard]] double rate(const Assumption& span) const { return fast_ ? span.high : span.low; }

  /// Seconds of `calls` copies of `bytes` in all, at that rate.
  [[nodiscard]] double copies(double calls, double bytes, const Assumption& its_rate) const {
    return calls * time(card_.copy_call) + bytes / rate(its_rate);
  }
  /// Bytes a second of what works on so many bytes: those of L2 where they fit it, else of memory.
  [[nodiscard]] double bandwidth(double working_set) const {
    return rate(working_set <= rate(card_.l2) ? card_.l2_rate : card_.memory_rate);
  }
  /// Seconds that the instructions of so many updates of cells take to be issued.
  [[nodiscard]] double instructions(double cells) const {
    // An fma counts as two operations, and takes one instruction.
    const double issue = time(work_.instructions) * cells / (rate(card_.float32_rate) / 2);
    const Assumption& own_rate =
        work_.dtype == Dtype::float32 ? card_.float32_rate : card_.float64_rate;
    return std::max(issue, work_.arithmetic * cells / (rate(own_rate) / 2));
  }
  [[nodiscard]] double launch() const { return time(card_.launch); }
  [[nodiscard]] double graph_launch() const { return time(card_.graph_launch); }

 private:
  const AssumedCard& card_;
  CellWork work_;
  bool fast_;
};

} // namespace diffbench::bench
