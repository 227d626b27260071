// SPDX-License-Identifier: Apache-2.0
// A picture of a field: PNG, perceptually uniform colour map.
#pragma once

#include "diffbench/field.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace diffbench {

/// The values drawn in the first and the last colour.
struct ColourRange {
  double low = 0;
  double high = 1;
};

/// Where `value` lies: 0 at the low end, 1 at the high one; in the middle of a range of one value.
[[nodiscard]] double position_in(const ColourRange& range, double value);

/// The colour of position t in [0, 1] (clamped; NaN is grey) as 8-bit sRGB.
[[nodiscard]] std::array<std::uint8_t, 3> colour_at(double t);

/// Writes one pixel a cell, row 0 on top; fields wider or higher than 4096 are averaged down by a
/// whole factor. Without a range: the finite minimum and maximum of the field. The file appears
/// only when complete; throws Error otherwise.
template <typename T>
void write_png(const std::filesystem::path& path, const Field<T>& field,
               std::optional<ColourRange> range = std::nullopt);

} // namespace diffbench
