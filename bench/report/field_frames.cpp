// SPDX-License-Identifier: Apache-2.0
#include "field_frames.hpp"

#include "diffbench/block_means.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/npy.hpp"
#include "diffbench/text.hpp"
#include "diffbench/with_dtype.hpp"
#include "report_file.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t most_frames = 60;
constexpr std::int64_t most_cells = 160; // of a side
/// What stands for a value that is not finite; the others are below.
constexpr std::uint16_t not_finite = 0xffff;

struct Snapshot {
  std::int64_t step = 0;
  fs::path path;
};

struct Frame {
  std::int64_t step = 0;
  std::vector<double> means; ///< over blocks
};

struct Film {
  std::int64_t nx = 0, ny = 0;
  std::int64_t block = 1;
  std::int64_t width = 0, height = 0; ///< in blocks
  std::vector<Frame> frames = {};
};

/// The step in "step_000000100.npy".
std::optional<std::int64_t> step_of(const std::string& name) {
  constexpr std::string_view begin = "step_";
  constexpr std::string_view end = ".npy";
  if (!name.starts_with(begin) || !name.ends_with(end) ||
      name.size() <= begin.size() + end.size()) {
    return std::nullopt;
  }
  return parse_number<std::int64_t>(
      std::string_view(name).substr(begin.size(), name.size() - begin.size() - end.size()));
}

std::vector<Snapshot> find_snapshots(const fs::path& directory) {
  std::vector<Snapshot> all;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (const auto step = step_of(entry.path().filename().string())) {
      all.push_back({*step, entry.path()});
    }
  }
  if (all.empty()) {
    throw InvalidInput(
        fmt::format("--snapshots {}: no step_*.npy there; diffbench --snapshot-every "
                    "K --snapshot-dir DIR writes them",
                    directory.string()));
  }
  std::ranges::sort(all, {}, &Snapshot::step);
  std::vector<Snapshot> chosen;
  const std::size_t count = std::min(all.size(), most_frames);
  for (std::size_t i = 0; i < count; ++i) {
    chosen.push_back(all[count == 1 ? 0 : i * (all.size() - 1) / (count - 1)]);
  }
  return chosen;
}

void add_frame(Film& film, const Snapshot& snapshot) {
  std::ifstream stream(snapshot.path, std::ios::binary);
  const NpyHeader header = read_npy_header(stream, snapshot.path);
  if (film.frames.empty()) {
    film.nx = header.nx;
    film.ny = header.ny;
    film.block = (std::max(film.nx, film.ny) + most_cells - 1) / most_cells;
  } else if (header.nx != film.nx || header.ny != film.ny) {
    throw InvalidInput(
        fmt::format("{}: has {}x{} cells and the first snapshot has {}x{}; they are of two runs",
                    snapshot.path.string(), header.nx, header.ny, film.nx, film.ny));
  }
  BlockMeans means = with_dtype(header.dtype, [&]<typename T>(T) {
    return block_means(read_npy<T>(snapshot.path), film.block);
  });
  film.width = means.width;
  film.height = means.height;
  film.frames.push_back({snapshot.step, std::move(means.values)});
}

/// Two bytes a value, the low one first, in base64.
std::string encoded(const std::vector<double>& values, double low, double high) {
  std::vector<unsigned char> bytes;
  bytes.reserve(2 * values.size());
  for (const double value : values) {
    const double scaled = high > low ? (value - low) / (high - low) * (not_finite - 1) : 0;
    const auto level =
        std::isfinite(value) ? static_cast<std::uint16_t>(std::lround(scaled)) : not_finite;
    bytes.push_back(static_cast<unsigned char>(level & 0xff));
    bytes.push_back(static_cast<unsigned char>(level >> 8));
  }
  std::vector<unsigned char> text(4 * (bytes.size() / 3 + 1) + 1);
  const int length = ::EVP_EncodeBlock(text.data(), bytes.data(), static_cast<int>(bytes.size()));
  return {text.begin(), text.begin() + length};
}

} // namespace

std::string field_part(const fs::path& directory) {
  Film film;
  for (const Snapshot& snapshot : find_snapshots(directory)) {
    add_frame(film, snapshot);
  }
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Frame& frame : film.frames) {
    for (const double value : frame.means) {
      if (std::isfinite(value)) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
    }
  }
  ordered_json frames = ordered_json::array();
  for (const Frame& frame : film.frames) {
    frames.push_back({{"step", frame.step}, {"cells", encoded(frame.means, low, high)}});
  }
  return data_element("field", {{"directory", directory.filename().string()},
                                {"nx", film.nx},
                                {"ny", film.ny},
                                {"block", film.block},
                                {"width", film.width},
                                {"height", film.height},
                                {"low", low},
                                {"high", high},
                                {"frames", std::move(frames)}});
}

} // namespace diffbench::bench
