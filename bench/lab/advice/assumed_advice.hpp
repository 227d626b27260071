// SPDX-License-Identifier: Apache-2.0
// `diffbench advise --assume CARD`: what the run would take on a card that is not here, beside what
// the profile says of this machine's CPU.
#pragma once

#include "advice.hpp"
#include "assumed_card.hpp"
#include "cell_work.hpp"
#include "cost_profile.hpp"
#include "lab_report.hpp"

#include <span>
#include <string>

namespace diffbench::bench {

/// The same run with the card's figures at their better ends, and at their worse. Both have the
/// ways of the CPU, as the profile has them, and those of the card.
struct AssumedAdvice {
  AssumedCard card;
  CellWork work;
  Advice fast, slow;
};

/// `ways` are the profile's, of the dtype of `work`; its GPU ways are left out. Copies are
/// page-locked.
[[nodiscard]] AssumedAdvice assume_advice(const AssumedCard& card, std::span<const WayCost> ways,
                                          const CellWork& work, const RunShape& run);

/// Three digits of them: "10600", "1.48e6".
[[nodiscard]] std::string cells_text(double cells);

/// How the answers call what they speak of.
struct AdviceWords {
  std::string what = "two fields";      ///< that are in the card's memory
  std::string from = " by the profile"; ///< whose the CPU's time is
  std::string row = {};                 ///< before the name of a way
  bool in_cells = false;                ///< sizes, not as the sides of a square grid
};

/// Adds the card's rows, and the answers in words, to what the profile said. Where the profile is
/// of such a card, what it measured answers, and the assumption's error against it is added
/// instead.
void append_assumed(LabReport& report, const AssumedAdvice& assumed, const Advice& measured,
                    const CostProfile& profile, const AdviceWords& words = {});

} // namespace diffbench::bench
