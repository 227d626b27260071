// SPDX-License-Identifier: Apache-2.0
// Data sets: rows of features with a class each. Made (the disc set) or read (IDX as MNIST and
// Fashion-MNIST have it).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::mlp {

struct DataSet {
  std::string name;
  std::int64_t features = 0;        ///< numbers in a row
  std::int64_t classes = 0;         ///< labels are 0 .. classes-1
  std::vector<float> values;        ///< row-major
  std::vector<std::int32_t> labels; ///< one a row

  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(labels.size()); }
};

struct Split {
  DataSet train;
  DataSet test;
};

/// The disc set of the tutorial: points uniform in [0,1]^2, label 1 where x^2 + y^2 < 1/(2 pi), a
/// quarter of a disc, else 0; minus the mean of all numbers of the training set, over their
/// unbiased standard deviation. `rows` points each for training and test.
[[nodiscard]] Split disc_set(std::int64_t rows, std::uint64_t seed);

/// A pair of IDX files (the format's description: the home page of MNIST, LeCun et al.), plain or
/// compressed by gzip: images of unsigned bytes, which become 0 .. 1, and their labels. Throws
/// InvalidInput, with the file's name, for anything else: another magic number, a size that is not
/// what the header says, counts that differ, no rows.
[[nodiscard]] DataSet read_idx(const std::filesystem::path& images,
                               const std::filesystem::path& labels);

/// The four files of MNIST or Fashion-MNIST in one directory, by their usual names with or without
/// .gz. Throws InvalidInput that names what is missing and what to do.
[[nodiscard]] Split read_idx_directory(const std::filesystem::path& directory,
                                       const std::string& name);

} // namespace diffbench::mlp
