// SPDX-License-Identifier: Apache-2.0
#include "diffbench/picture.hpp"

#include "scratch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <png.h>

namespace diffbench {
namespace {

using Colour = std::array<std::uint8_t, 3>;
constexpr Colour grey = {128, 128, 128};
constexpr int steps = 254;

struct Oklab {
  double lightness, a, b;
};

// The forward direction (Ottosson 2020), which the library does not use.
Oklab oklab(const Colour& colour) {
  std::array<double, 3> linear{};
  std::ranges::transform(colour, linear.begin(), [](std::uint8_t byte) {
    const double c = byte / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  });
  const auto [r, g, b] = linear;
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

double distance(const Oklab& p, const Oklab& q) {
  return std::hypot(p.lightness - q.lightness, p.a - q.a, p.b - q.b);
}

Oklab at_step(int i) { return oklab(colour_at(static_cast<double>(i) / steps)); }

TEST(ColourMap, LightnessRisesLinearly) {
  const double first = at_step(0).lightness;
  const double last = at_step(steps).lightness;
  EXPECT_GT(last - first, 0.6);
  for (int i = 1; i <= steps; ++i) {
    EXPECT_GT(at_step(i).lightness, at_step(i - 1).lightness) << i;
    // Half a unit of 8-bit sRGB is about 0.002 here.
    EXPECT_NEAR(at_step(i).lightness, std::lerp(first, last, static_cast<double>(i) / steps), 0.003)
        << i;
  }
}

TEST(ColourMap, EqualStepsOfTheValueAreEqualStepsToTheEye) {
  // Over ten colours, so that the rounding to 8 bits does not drown the step.
  constexpr int stride = 10;
  double smallest = 1;
  double largest = 0;
  for (int i = stride; i <= steps; ++i) {
    const double step = distance(at_step(i), at_step(i - stride));
    smallest = std::min(smallest, step);
    largest = std::max(largest, step);
  }
  EXPECT_LE(largest / smallest, 1.25);
}

TEST(ColourMap, NoColourIsClippedAtTheGamut) {
  // A clipped channel would shift the colour off the constant chroma.
  for (int i = 0; i <= steps; ++i) {
    const Oklab colour = at_step(i);
    EXPECT_NEAR(std::hypot(colour.a, colour.b), 0.10, 0.005) << i;
  }
}

TEST(ColourMap, PositionsAreClampedAndNanIsGrey) {
  EXPECT_EQ(colour_at(-1), colour_at(0));
  EXPECT_EQ(colour_at(7), colour_at(1));
  EXPECT_EQ(colour_at(std::numeric_limits<double>::infinity()), colour_at(1));
  EXPECT_EQ(colour_at(-std::numeric_limits<double>::infinity()), colour_at(0));
  EXPECT_EQ(colour_at(std::numeric_limits<double>::quiet_NaN()), grey);
}

struct Pixels {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<Colour> colours;

  [[nodiscard]] Colour at(std::int64_t x, std::int64_t y) const {
    return colours[static_cast<std::size_t>(y * width + x)];
  }
};

class PictureTest : public ScratchTest {
 public:
  // Writes the field and decodes the file again.
  template <typename T>
  Pixels drawn(const Field<T>& field, std::optional<ColourRange> range = std::nullopt) const {
    const std::filesystem::path path = directory() / "out.png";
    write_png(path, field, range);
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_file(&png, path.c_str()), 0) << png.message;
    png.format = PNG_FORMAT_RGB;
    Pixels pixels{png.width, png.height, {}};
    pixels.colours.resize(static_cast<std::size_t>(pixels.width * pixels.height));
    EXPECT_NE(png_image_finish_read(&png, nullptr, pixels.colours.data(), 0, nullptr), 0)
        << png.message;
    return pixels;
  }
};

TEST_F(PictureTest, DrawsOnePixelACellRowZeroOnTop) {
  Field<float> field(5, 3);
  field.row(0)[4] = 10;
  field.row(2)[1] = 5;
  const Pixels pixels = drawn(field);
  EXPECT_EQ(pixels.width, 5);
  EXPECT_EQ(pixels.height, 3);
  EXPECT_EQ(pixels.at(4, 0), colour_at(1));
  EXPECT_EQ(pixels.at(1, 2), colour_at(0.5));
  EXPECT_EQ(pixels.at(0, 0), colour_at(0));
}

TEST_F(PictureTest, AFixedRangeClampsWhatLiesOutside) {
  Field<double> field(3, 1);
  field.row(0)[0] = -7;
  field.row(0)[1] = 1;
  field.row(0)[2] = 9;
  const Pixels pixels = drawn(field, ColourRange{0, 4});
  EXPECT_EQ(pixels.at(0, 0), colour_at(0));
  EXPECT_EQ(pixels.at(1, 0), colour_at(0.25));
  EXPECT_EQ(pixels.at(2, 0), colour_at(1));
}

TEST_F(PictureTest, AConstantFieldHasTheMiddleColour) {
  EXPECT_EQ(drawn(Field<float>(4, 4)).at(3, 3), colour_at(0.5));
  Field<float> other(3, 1);
  other.row(0)[0] = -1;
  other.row(0)[2] = 1;
  const Pixels pixels = drawn(other, ColourRange{0, 0});
  EXPECT_EQ(pixels.at(0, 0), colour_at(0));
  EXPECT_EQ(pixels.at(1, 0), colour_at(0.5));
  EXPECT_EQ(pixels.at(2, 0), colour_at(1));
}

TEST_F(PictureTest, NanIsGreyAndDoesNotSpoilTheRange) {
  Field<float> field(4, 1);
  field.row(0)[0] = std::numeric_limits<float>::quiet_NaN();
  field.row(0)[1] = std::numeric_limits<float>::infinity();
  field.row(0)[3] = 2;
  const Pixels pixels = drawn(field);
  EXPECT_EQ(pixels.at(0, 0), grey);
  EXPECT_EQ(pixels.at(1, 0), colour_at(1));
  EXPECT_EQ(pixels.at(2, 0), colour_at(0));
  EXPECT_EQ(pixels.at(3, 0), colour_at(1));
}

TEST_F(PictureTest, ADivergedFieldKeepsItsRange) {
  Field<double> field(3, 1);
  field.row(0)[0] = std::numeric_limits<double>::lowest();
  field.row(0)[2] = std::numeric_limits<double>::max();
  const Pixels pixels = drawn(field);
  EXPECT_EQ(pixels.at(0, 0), colour_at(0));
  EXPECT_EQ(pixels.at(1, 0), colour_at(0.5));
  EXPECT_EQ(pixels.at(2, 0), colour_at(1));
}

TEST_F(PictureTest, LargeFieldsAreAveragedDownByAWholeFactor) {
  Field<float> field(2 * 4096 + 1, 5); // factor 3: 2731 pixels; the lower row averages two
  std::fill_n(field.row(0) + 3, 3, 9.0F);
  field.row(4)[field.nx() - 1] = 6;
  const Pixels pixels = drawn(field, ColourRange{0, 9});
  EXPECT_EQ(pixels.width, 2731);
  EXPECT_EQ(pixels.height, 2);
  EXPECT_EQ(pixels.at(1, 0), colour_at(3.0 / 9));    // three of nine cells
  EXPECT_EQ(pixels.at(2730, 1), colour_at(1.0 / 9)); // one of three by two
  EXPECT_EQ(pixels.at(0, 0), colour_at(0));
  EXPECT_EQ(drawn(Field<float>(4096, 3)).width, 4096); // at the limit nothing is averaged
}

TEST_F(PictureTest, BadRangesAndPathsAreErrors) {
  const Field<float> field(3, 3);
  const auto complain_about = [&](ColourRange range) {
    message_of<InvalidInput>([&] { write_png(directory() / "out.png", field, range); });
  };
  complain_about({1, 0});
  complain_about({0, std::numeric_limits<double>::quiet_NaN()});
  complain_about({-std::numeric_limits<double>::infinity(), 0});
  message_of<InvalidInput>([&] { write_png(directory() / "out.png", Field<float>()); });
  message_of<Error>([&] { write_png(directory() / "absent" / "out.png", field); });
  EXPECT_EQ(file_count(), 0);
}

} // namespace
} // namespace diffbench
