// SPDX-License-Identifier: Apache-2.0
// A field as lines of text.
#pragma once

#include "diffbench/block_means.hpp"
#include "diffbench/picture.hpp"

#include <cstdint>
#include <string>

namespace diffbench::bench {

/// How a terminal draws.
enum class Ink {
  characters, ///< ASCII, darker to denser; a character is two cells high
  colours,    ///< half blocks, each two cells one above the other, in the 256 colours of xterm
};

/// The least side of blocks with which a field of nx by ny cells fits `columns` by `lines`
/// characters, each one cell wide and two high. All are at least 1.
[[nodiscard]] std::int64_t block_that_fits(std::int64_t nx, std::int64_t ny, int columns,
                                           int lines);

/// One line of text for every two rows of cells, each with a line end and, in colours, back to the
/// terminal's own at its end. What is not finite is drawn as "?", in colours as grey.
[[nodiscard]] std::string text_picture(const BlockMeans& cells, const ColourRange& range, Ink ink);

/// The ink from the low end to the high one, `width` characters wide.
[[nodiscard]] std::string text_scale(int width, Ink ink);

/// Of the 240 colours of xterm that every terminal has the same, the one that is nearest: a cube of
/// 6 x 6 x 6, and greys (XTerm Control Sequences, "256 colours").
[[nodiscard]] int nearest_of_256(const std::array<std::uint8_t, 3>& colour);

} // namespace diffbench::bench
