// SPDX-License-Identifier: Apache-2.0
// `diffbench advise --assume CARD`: what the run would take on a card that is not here, beside what
// the profile says of this machine's CPU.
#pragma once

#include "advice.hpp"
#include "assumed_card.hpp"
#include "cost_profile.hpp"
#include "lab_report.hpp"

#include <span>

namespace diffbench::bench {

/// The same run with the card's figures at their better ends, and at their worse. Both have the
/// ways of the CPU, as the profile has them, and those of the card.
struct AssumedAdvice {
  AssumedCard card;
  Advice fast, slow;
};

/// `ways` are the profile's, of one dtype; its GPU ways are left out. Copies are page-locked.
[[nodiscard]] AssumedAdvice assume_advice(const AssumedCard& card, std::span<const WayCost> ways,
                                          const Problem& problem, const RunShape& run);

/// Adds the card's rows, and the answers in words, to what the profile said. Where the profile is
/// of such a card, what it measured answers, and the assumption's error against it is added
/// instead.
void append_assumed(LabReport& report, const AssumedAdvice& assumed, const Advice& measured,
                    const CostProfile& profile, const Problem& problem);

} // namespace diffbench::bench
