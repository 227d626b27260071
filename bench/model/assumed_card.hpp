// SPDX-License-Identifier: Apache-2.0
// A card that nobody measured here: what its transfers, launches and memory may take, as public
// sources and analogy have it. bench/model/assumed_cards.json holds those that the program knows.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// Of a figure: the ends of what its sources leave open.
struct Assumption {
  double low = 0;
  double high = 0;
};
/// Of what is `one` at one end of a card and `other` at the other, whichever is more: a card with
/// quicker launches may spend more of its time on them.
[[nodiscard]] inline Assumption span_between(double one, double other) {
  return {std::min(one, other), std::max(one, other)};
}

/// Bytes, seconds, and bytes or operations a second.
struct AssumedCard {
  std::string id;          ///< "h200", or the file that was named
  std::string name;        ///< for people
  std::string reported_as; ///< part of the name by which the CUDA runtime calls it
  Assumption pageable_h2d, pageable_d2h, pinned_h2d, pinned_d2h;
  Assumption copy_call;   ///< what a copy takes beyond its bytes
  Assumption memory_rate; ///< that a copy reaches
  Assumption memory_peak; ///< of the data sheet; in no prediction
  Assumption l2, l2_rate; ///< its size, and what a field that fits it is read and written at
  Assumption launch, graph_launch;       ///< from one kernel to the next
  Assumption synchronize;                ///< the host's wait for the device, beyond the work
  Assumption barrier;                    ///< of all blocks of a kernel; in no prediction
  Assumption pin_byte, pin_call;         ///< page-locking
  Assumption context;                    ///< its creation
  Assumption memory;                     ///< its size
  Assumption float32_rate, float64_rate; ///< an fma counts as two
};

/// Throws InvalidInput, naming `origin`, the figure and the fault, for text that is no card, or
/// whose figures are not all there, finite, above 0, low before high, in the unit of their name and
/// with a source.
[[nodiscard]] AssumedCard parse_assumed_card(const std::string& origin, const std::string& text);

/// As such a file names it and in its unit: "launch_us". Throws InvalidInput for an unknown name.
[[nodiscard]] Assumption assumed_figure(const AssumedCard& card, std::string_view name);

[[nodiscard]] std::vector<std::string> assumed_card_names();
/// The built-in card of that name, or the one in that file. Throws InvalidInput.
[[nodiscard]] AssumedCard find_assumed_card(const std::string& name_or_file);
/// The built-in card as a file that find_assumed_card() takes: to change into one's own. Throws
/// InvalidInput.
[[nodiscard]] std::string built_in_card_text(const std::string& name);

} // namespace diffbench::bench
