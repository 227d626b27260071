// SPDX-License-Identifier: Apache-2.0
// The report page with the ways of the assumed cards: its What if? and its story predict any run
// from them, as from a profile.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace diffbench::bench {

/// write_report() with one part more. Of each built-in card and dtype it holds cuda_stream from
/// ordinary memory, and all ways from page-locked one, each at the better and at the worse end of
/// the figures. A grid is a row of numbers: side, seconds of set-up, copy in and copy out, and
/// those of a call of each of "call_steps" steps. Throws as write_report().
void write_report_with_cards(const std::filesystem::path& path, std::vector<std::string> parts);

} // namespace diffbench::bench
