// SPDX-License-Identifier: Apache-2.0
// What is asked of a card, priced: the one function that says what anything costs on a card that is
// not here. Arithmetic only.
//
// Each sum is made twice, with every figure of the card at its better end and at its worse.
//
//   copies      a call each, and their bytes at the rate of the host's memory that they touch
//   launches    from the host or from a graph; those from the host hide kernels that are shorter
//   kernels     the longest of: their sectors at the rate of L2 where these fit it, else of memory,
//               at best once, at worst as often as warps move them beyond what their threads ask
//               for (but those of Thrust, whose own kernels are others than the emulated ones);
//               their instructions, 7.2 to 25 a cell and step like a stencil's, 6 of them
//               arithmetic in the dtype
//   mapped      what kernels read and write of the host's page-locked memory, at that memory's
//               rates: at best each sector once a launch and both ways at once, at worst each time
//               that a warp moves it, as nothing of it is kept on the card (CUDA C++ Best Practices
//               Guide, "Zero Copy")
//   waits       the host's wait for the device
//
// The kernel that streams rows through registers has 7.2 instructions a cell and step by its
// machine code (docs/gpu.md); 25 is what the model of the small tiles of cuda_blocked comes to,
// 1300 GCell/s on an H200.
#pragma once

#include "assumed_card.hpp"
#include "card_counts.hpp"

#include <string>
#include <vector>

namespace diffbench::bench {

/// What a part of the time is for.
enum class PartKind {
  context,
  locking,
  copies_up,
  copies_down,
  managed,
  on_card,
  launches,
  mapped,
  memory,       ///< kernels that wait for it at both ends of the card
  instructions, ///< the same
  kernels,      ///< that wait for the one or the other
  waits
};

struct BillPart {
  PartKind kind{};
  std::string what;
  double calls = 0, bytes = 0;
  Assumption seconds;
};

struct Bill {
  std::vector<BillPart> parts; ///< those that take any time
  Assumption seconds;          ///< all of them; copies that pass beside kernels count once
  Assumption warm;             ///< without the context and page-locking, which a program has once
  Assumption steps;            ///< launches, kernels and waits alone
  // Of the kernel that takes most time:
  double excess = 1;        ///< moved for asked bytes; 1 of Thrust's
  bool from_graphs = false; ///< more than half of its launches are

  /// The parts of that kind together.
  [[nodiscard]] BillPart of(PartKind kind) const;
};

/// `updates` of cells in all, each of them like `work` says (only its dtype and its operations
/// count here).
[[nodiscard]] Bill bill_of(const AssumedCard& card, const CardCounts& counts, const CellWork& work,
                           double updates);
/// Of a run of ours.
[[nodiscard]] inline Bill bill_of(const AssumedCard& card, const CardRun& run,
                                  const CellWork& work) {
  return bill_of(card, counts_of(run, work), work, run.cells * run.steps);
}

/// Instructions of a cell and step.
[[nodiscard]] Assumption instructions_of(const CellWork& work);

} // namespace diffbench::bench
