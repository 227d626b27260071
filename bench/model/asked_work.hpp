// SPDX-License-Identifier: Apache-2.0
// What a program asks a card for, counted where there is none, and what an assumed card would take
// for it. Arithmetic only.
//
// What is counted grows with columns, rows and steps, each by itself: the copies of a row each, the
// cells, the launches of a step. So eight runs, two of each of these, give any other run
// (trilinear, exact where nothing else grows).
//
//   copies      a call each, and their bytes at the rate of the host's memory that they touch
//   kernels     a launch each, or what it does, whichever is longer; at best its sectors once, at
//               worst as often as its warps move them beyond what their threads ask for (but those
//               of Thrust, whose own kernels are others than the emulated ones)
//   mapped      what kernels read and write of the host's page-locked memory, at that memory's
//               rates: at best each sector once a launch and both ways at once, at worst each time
//               that a warp moves it, as nothing of it is kept on the card (CUDA C++ Best Practices
//               Guide, "Zero Copy")
//   waits       the host's wait for the device, and the first launch after it
#pragma once

#include "assumed_card.hpp"
#include "diffbench/problem.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// Calls or bytes.
enum class Asked : std::uint8_t {
  pageable_in_calls,
  pageable_in_bytes,
  pageable_out_calls,
  pageable_out_bytes,
  locked_in_calls, ///< from page-locked memory
  locked_in_bytes,
  locked_out_calls,
  locked_out_bytes,
  card_copy_calls, ///< within the card
  card_copy_bytes,
  async_calls, ///< of the above, from or to page-locked memory, for which nobody waits
  async_bytes,
  memset_calls,
  memset_bytes,
  managed_in_bytes, ///< managed memory that moves to the card
  managed_out_bytes,
  waits,
  drains, ///< times that the host has waited for kernels
  frees,
  allocations,
  lock_calls,
  lock_bytes,
  end
};
/// Of a kernel.
enum class AskedOfKernel : std::uint8_t {
  launches,
  graph_launches, ///< of these
  // Of the card's memory:
  asked_bytes,    ///< by its threads
  distinct_bytes, ///< of sectors, each once a launch for reads and once for writes
  moved_bytes,    ///< of sectors, each once a warp and instruction
  // Of the host's page-locked memory:
  mapped_in_bytes, ///< distinct ones that are read
  mapped_out_bytes,
  mapped_in_moved, ///< moved ones
  mapped_out_moved,
  written_bytes, ///< of the distinct ones, of either
  end
};

template <typename Which>
class Counts {
 public:
  [[nodiscard]] double& operator[](Which which) { return all_[static_cast<std::size_t>(which)]; }
  [[nodiscard]] double operator[](Which which) const {
    return all_[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] auto& all() { return all_; }
  [[nodiscard]] const auto& all() const { return all_; }

 private:
  std::array<double, static_cast<std::size_t>(Which::end)> all_{};
};

struct AskedKernel {
  std::string name;
  Counts<AskedOfKernel> counts;
};

struct AskedWork {
  Counts<Asked> counts;
  std::vector<AskedKernel> kernels;
  /// Nothing where there is none of that name.
  [[nodiscard]] Counts<AskedOfKernel> kernel(const std::string& name) const;
};

/// A run, and what it asked for.
struct CountedRun {
  double nx = 0, ny = 0, steps = 0;
  AskedWork work;
};

/// What a run would ask for. `corners`: two columns by two rows by two steps, in any order.
[[nodiscard]] AskedWork asked_at(std::span<const CountedRun> corners, double nx, double ny,
                                 double steps);
/// How far the count that is farthest off is from what `corners` foretell of that run, as a
/// fraction of the larger of the two: 0 where all is as foretold, 1 where it has a kernel that they
/// do not have.
[[nodiscard]] double unevenness(std::span<const CountedRun> corners, const CountedRun& run);

/// What part of a run's time is for.
enum class PartKind { copies, managed, mapped, on_card, launches, kernels, waits, locking };

struct AskedPart {
  PartKind kind{};
  std::string what;
  double calls_per_step = 0, bytes_per_step = 0;
  double calls = 0, bytes = 0; ///< of the run
  Assumption seconds;          ///< of the run
};

/// A run on a card.
struct AskedCost {
  std::vector<AskedPart> parts; ///< those that take any time
  Assumption seconds;           ///< all of them; at best copies for which nobody waits are hidden
  Assumption step_seconds;      ///< what one step more adds
  /// Had it copied nothing in a step: the field stays on the card. Equal where it does.
  Assumption resident_seconds;
  double copies_in = 0, copies_out = 0; ///< calls
  double allocations_per_step = 0;      ///< no card has a figure for these
  // Of the kernel that takes most time:
  double excess = 1;        ///< moved for asked bytes; 1 of Thrust's
  bool from_graphs = false; ///< more than half of its launches are
};

/// `problem` has the grid and the dtype.
[[nodiscard]] AskedCost cost_of(std::span<const CountedRun> corners, const Problem& problem,
                                std::int64_t steps, const AssumedCard& card);

} // namespace diffbench::bench
