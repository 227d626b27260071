// SPDX-License-Identifier: Apache-2.0
// An assumed card whose figures are all at one end of what is assumed: all goes well, or nothing
// does. Arithmetic only.
#pragma once

#include "assumed_card.hpp"
#include "diffbench/problem.hpp"

#include <algorithm>

namespace diffbench::bench {

class AssumedEnd {
 public:
  enum class Bound { fast, slow };
  /// Per cell and step, from large fields to small tiles.
  static constexpr Assumption cell_instructions{7.2, 25};

  AssumedEnd(const AssumedCard& card, Dtype dtype, Bound bound)
      : card_(card), dtype_(dtype), fast_(bound == Bound::fast) {}

  [[nodiscard]] bool fast() const { return fast_; }
  [[nodiscard]] const AssumedCard& card() const { return card_; }
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
    const double issue = time(cell_instructions) * cells / (rate(card_.float32_rate) / 2);
    const Assumption& own_rate = dtype_ == Dtype::float32 ? card_.float32_rate : card_.float64_rate;
    return std::max(issue, cell_arithmetic * cells / (rate(own_rate) / 2));
  }
  [[nodiscard]] double launch() const { return time(card_.launch); }
  [[nodiscard]] double graph_launch() const { return time(card_.graph_launch); }

 private:
  static constexpr double cell_arithmetic = 6; ///< of them

  const AssumedCard& card_;
  Dtype dtype_;
  bool fast_;
};

} // namespace diffbench::bench
