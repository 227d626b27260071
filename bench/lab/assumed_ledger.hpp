// SPDX-License-Identifier: Apache-2.0
// `diffbench --assume CARD`: the ledgers that a card which is not here would add to a comparison.
#pragma once

#include "assumed_card.hpp"
#include "lab_report.hpp"
#include "result.hpp"

namespace diffbench::bench {

/// Adds the run of `result` on that card to a report: by the kernel of cuda_stream with copies of
/// ordinary and of page-locked memory and with a wait after every step, by cuda_graph and by cuda,
/// each with its phases, and against the best row of the CPU where that concludes anything. Where
/// a row of `result` was measured on such a card, the assumption's error against it instead.
void append_assumed_ledger(LabReport& report, const AssumedCard& card,
                           const ComparisonResult& result);

} // namespace diffbench::bench
