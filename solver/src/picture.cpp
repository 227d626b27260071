// SPDX-License-Identifier: Apache-2.0
// The colour map is a helix in the OKLab space (Bjoern Ottosson, "A perceptual color space for
// image processing", 2020): lightness rises linearly and the hue turns at a constant rate at
// constant chroma, from dark purple over teal to light yellow. Equal steps of the value are thus
// equal steps to the eye, and the picture survives a black-and-white print. The ends are chosen so
// that the whole helix, and with it every colour, lies inside sRGB.
#include "diffbench/picture.hpp"

#include "diffbench/atomic_file.hpp"
#include "diffbench/block_means.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/verify.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include <png.h>

namespace diffbench {

namespace {

using Colour = std::array<std::uint8_t, 3>;

constexpr std::size_t colours = 255; // the last entry of a PNG palette is for NaN
constexpr Colour grey = {128, 128, 128};
constexpr std::int64_t max_pixels = 4096;

std::uint8_t srgb_byte(double linear) {
  const double c = std::clamp(linear, 0.0, 1.0);
  // The transfer function of IEC 61966-2-1.
  const double encoded = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * encoded));
}

Colour srgb_of_oklab(double lightness, double a, double b) {
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  return {srgb_byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          srgb_byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          srgb_byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

Colour helix(double t) {
  const double lightness = std::lerp(0.25, 0.94, t);
  const double hue = std::lerp(315.0, 105.0, t) * std::numbers::pi / 180;
  constexpr double chroma = 0.10; // 0.102 would leave sRGB
  return srgb_of_oklab(lightness, chroma * std::cos(hue), chroma * std::sin(hue));
}

// The colours of the helix, then grey.
const std::array<Colour, colours + 1>& palette() {
  static const auto table = [] {
    std::array<Colour, colours + 1> entries{};
    for (std::size_t i = 0; i < colours; ++i) {
      entries[i] = helix(static_cast<double>(i) / (colours - 1));
    }
    entries[colours] = grey;
    return entries;
  }();
  return table;
}

std::uint8_t palette_index(double t) {
  if (std::isnan(t)) {
    return colours;
  }
  return static_cast<std::uint8_t>(std::lround(std::clamp(t, 0.0, 1.0) * (colours - 1)));
}

struct Image {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint8_t> indices;
};

template <typename T>
Image draw(const Field<T>& field, const ColourRange& range) {
  const std::int64_t longest = std::max(field.nx(), field.ny());
  const std::int64_t factor = (longest + max_pixels - 1) / max_pixels;
  const BlockMeans means = block_means(field, factor);
  Image image{means.width, means.height, {}};
  image.indices.reserve(means.values.size());
  for (const double mean : means.values) {
    image.indices.push_back(palette_index(position_in(range, mean)));
  }
  return image;
}

std::vector<std::uint8_t> encode(const Image& image, const std::filesystem::path& path) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = PNG_FORMAT_RGB_COLORMAP;
  png.colormap_entries = static_cast<png_uint_32>(palette().size());

  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::vector<std::uint8_t> bytes(size);
  if (png_image_write_to_memory(&png, bytes.data(), &size, 0, image.indices.data(), 0,
                                palette().data()) == 0) {
    throw Error("cannot encode '" + path.string() + "': libpng says " + png.message);
  }
  bytes.resize(size);
  return bytes;
}

} // namespace

double position_in(const ColourRange& range, double value) {
  // The halves keep the span of a field that has diverged from overflowing.
  const double offset = value / 2 - range.low / 2;
  const double span = range.high / 2 - range.low / 2;
  return offset == 0 && span == 0 ? 0.5 : offset / span;
}

std::array<std::uint8_t, 3> colour_at(double t) { return palette()[palette_index(t)]; }

template <typename T>
void write_png(const std::filesystem::path& path, const Field<T>& field,
               std::optional<ColourRange> range) {
  if (field.cells().empty()) {
    throw InvalidInput("cannot draw '" + path.string() + "': the field has no cells");
  }
  if (range &&
      !(std::isfinite(range->low) && std::isfinite(range->high) && range->low <= range->high)) {
    throw InvalidInput("cannot draw '" + path.string() + "': the colour range from " +
                       std::to_string(range->low) + " to " + std::to_string(range->high) +
                       " must be finite and ascending");
  }
  if (!range) {
    const Summary summary = summarize(field.cells());
    range = ColourRange{summary.min, summary.max};
  }
  const std::vector<std::uint8_t> bytes = encode(draw(field, *range), path);
  write_atomically(path, [&](std::ostream& stream) {
    stream.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
  });
}

template void write_png(const std::filesystem::path&, const Field<float>&,
                        std::optional<ColourRange>);
template void write_png(const std::filesystem::path&, const Field<double>&,
                        std::optional<ColourRange>);

} // namespace diffbench
