// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/field_digest.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace diffbench::cluster {
namespace {

TEST(FieldDigest, IsTheSumOfItsParts) {
  std::vector<double> cells(1000);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = std::sin(static_cast<double>(i));
  }
  const std::span<const double> all(cells);
  for (const std::size_t cut : {0U, 1U, 333U, 999U, 1000U}) {
    FieldDigest sum = digest_of(static_cast<std::int64_t>(cut), all.subspan(cut));
    sum += digest_of(0, all.first(cut));
    EXPECT_EQ(sum, digest_of(0, all));
  }
}

TEST(FieldDigest, SeesEveryBitAndEveryPlace) {
  std::vector<float> cells(64, 0.005F);
  const FieldDigest right = digest_of<float>(0, cells);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    for (int bit = 0; bit < 32; ++bit) {
      const float before = cells[cell];
      cells[cell] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(before) ^ (1U << bit));
      EXPECT_NE(digest_of<float>(0, cells), right);
      cells[cell] = before;
    }
  }
  EXPECT_NE(digest_of<float>(1, cells), right);
  cells[3] = 1;
  const FieldDigest one = digest_of<float>(0, cells);
  std::swap(cells[3], cells[4]);
  EXPECT_NE(digest_of<float>(0, cells), one);
  EXPECT_NE(digest_of<float>(0, std::vector{0.0F}), digest_of<float>(0, std::vector{-0.0F}));
}

// Made apart from the code, by the definition in docs/cluster.md.
TEST(FieldDigest, IsWhatAnotherProgramFinds) {
  EXPECT_EQ(to_string(digest_of<float>(0, std::vector{0.0F, 1.0F, 0.005F})),
            "592dafcf20b50050ef80a34cb4244354");
  EXPECT_EQ(to_string(digest_of<double>(7, std::vector{0.1, -2.5})),
            "e5abeb252f613b704f8aab615ce37702");
}

} // namespace
} // namespace diffbench::cluster
