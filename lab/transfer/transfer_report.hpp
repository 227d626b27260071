// SPDX-License-Identifier: Apache-2.0
// What `diffbench transfer` shows and writes.
#pragma once

#include "assumed_card.hpp"
#include "lab_report.hpp"
#include "transfer_result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

// Tables; each ends with an end of line.
[[nodiscard]] std::string format_host_copies(const HostCopies& host);
[[nodiscard]] std::string format_device_copies(const DeviceCopies& device);

/// Both, or the host's alone with the reason.
[[nodiscard]] std::string format_transfer(const TransferResult& result);

/// What the tables show, without the end of line.
[[nodiscard]] std::string transfer_sentence(const TransferResult& result);

/// Everything that was found, with the figures that follow from it.
[[nodiscard]] Value to_json(const TransferResult& result);
[[nodiscard]] std::vector<Picture> copy_pictures(const TransferResult& result);
/// The points of all curves, an object each.
[[nodiscard]] Value copy_lines(const TransferResult& result);
/// The samples as entries of Google Benchmark's format: "transfer/host/memcpy/65536/threads:2".
[[nodiscard]] std::vector<SampleSeries> sample_series(const TransferResult& result);

// `--assume CARD`: copies to and from a card that is not here.

/// Adds copies of `sizes` (bytes) from ordinary and from page-locked memory, and after how many
/// copies page-locking is paid for; where copies were measured on such a card, the assumption's
/// error against the largest of them instead.
void append_assumed_copies(LabReport& report, const AssumedCard& card, const TransferResult& result,
                           std::span<const std::int64_t> sizes);

} // namespace diffbench::bench
