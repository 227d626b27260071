// SPDX-License-Identifier: Apache-2.0
// `diffbench transfer --assume CARD`: copies to and from a card that is not here.
#pragma once

#include "assumed_card.hpp"
#include "lab_report.hpp"
#include "transfer_result.hpp"

#include <cstdint>
#include <span>

namespace diffbench::bench {

/// Adds copies of `sizes` (bytes) from ordinary and from page-locked memory, and after how many
/// copies page-locking is paid for; where copies were measured on such a card, the assumption's
/// error against the largest of them instead.
void append_assumed_copies(LabReport& report, const AssumedCard& card, const TransferResult& result,
                           std::span<const std::int64_t> sizes);

} // namespace diffbench::bench
