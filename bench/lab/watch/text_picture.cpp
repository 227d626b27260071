// SPDX-License-Identifier: Apache-2.0
#include "text_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>

namespace diffbench::bench {

namespace {

constexpr std::string_view shades = " .:-=+*#%@";
constexpr std::string_view upper_half = "\u2580";
constexpr std::string_view own_colours = "\033[0m";

char shade_at(double t) {
  if (std::isnan(t)) {
    return '?';
  }
  const double most = static_cast<double>(shades.size() - 1);
  return shades[static_cast<std::size_t>(std::lround(std::clamp(t, 0.0, 1.0) * most))];
}

/// Half blocks of a line; a colour is said where it changes.
class ColouredLine {
 public:
  void add(double upper, double lower) {
    say(38, upper, upper_);
    say(48, lower, lower_);
    text_ += upper_half;
  }
  [[nodiscard]] std::string end() && { return std::move(text_.append(own_colours)); }

 private:
  void say(int which, double t, int& last) {
    const int colour = nearest_of_256(colour_at(t));
    if (colour != last) {
      text_ += fmt::format("\033[{};5;{}m", which, colour);
      last = colour;
    }
  }

  std::string text_;
  int upper_ = -1;
  int lower_ = -1;
};

} // namespace

std::int64_t block_that_fits(std::int64_t nx, std::int64_t ny, int columns, int lines) {
  const std::int64_t across = (nx + columns - 1) / columns;
  const std::int64_t down = (ny + 2 * lines - 1) / (2 * lines);
  return std::max<std::int64_t>({1, across, down});
}

int nearest_of_256(const std::array<std::uint8_t, 3>& colour) {
  constexpr std::array<int, 6> steps = {0, 95, 135, 175, 215, 255};
  int best = 0;
  int least = std::numeric_limits<int>::max();
  const auto consider = [&](int index, int red, int green, int blue) {
    const int r = red - colour[0];
    const int g = green - colour[1];
    const int b = blue - colour[2];
    if (const int distance = r * r + g * g + b * b; distance < least) {
      least = distance;
      best = index;
    }
  };
  int index = 16;
  for (const int red : steps) {
    for (const int green : steps) {
      for (const int blue : steps) {
        consider(index++, red, green, blue);
      }
    }
  }
  for (int grey = 8; index < 256; grey += 10) {
    consider(index++, grey, grey, grey);
  }
  return best;
}

std::string text_picture(const BlockMeans& cells, const ColourRange& range, Ink ink) {
  const auto place = [&](std::int64_t x, std::int64_t y) {
    const double value = cells.values[static_cast<std::size_t>(y * cells.width + x)];
    return std::isfinite(value) ? position_in(range, value)
                                : std::numeric_limits<double>::quiet_NaN();
  };
  std::string text;
  for (std::int64_t y = 0; y < cells.height; y += 2) {
    const std::int64_t below = std::min(y + 1, cells.height - 1);
    ColouredLine line;
    for (std::int64_t x = 0; x < cells.width; ++x) {
      if (ink == Ink::colours) {
        line.add(place(x, y), place(x, below));
      } else {
        text += shade_at((place(x, y) + place(x, below)) / 2);
      }
    }
    text += (ink == Ink::colours ? std::move(line).end() : "") + '\n';
  }
  return text;
}

std::string text_scale(int width, Ink ink) {
  std::string text;
  ColouredLine line;
  for (int i = 0; i < width; ++i) {
    const double t = (i + 0.5) / width;
    if (ink == Ink::colours) {
      line.add(t, t);
    } else {
      text += shade_at(t);
    }
  }
  return ink == Ink::colours ? std::move(line).end() : text;
}

} // namespace diffbench::bench
