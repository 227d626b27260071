// SPDX-License-Identifier: Apache-2.0
#include "watch/text_picture.hpp"

#include "diffbench/picture.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

namespace diffbench::bench {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(BlockThatFits, FillsTheColumnsOrTheLines) {
  EXPECT_EQ(block_that_fits(640, 640, 80, 22), 15); // 44 cells high
  EXPECT_EQ(block_that_fits(640, 64, 80, 22), 8);
  EXPECT_EQ(block_that_fits(80, 44, 80, 22), 1);
  EXPECT_EQ(block_that_fits(81, 44, 80, 22), 2);
  EXPECT_EQ(block_that_fits(80, 45, 80, 22), 2);
  EXPECT_EQ(block_that_fits(2, 2, 80, 22), 1);
}

TEST(TextPicture, HasACharacterForTwoCells) {
  const BlockMeans cells{3, 4, {0, 0, 1, 0, 0.5, 1, /**/ 1, nan, 0, 1, 0, infinity}};
  EXPECT_EQ(text_picture(cells, {0, 1}, Ink::characters), " :@\n@??\n");
}

TEST(TextPicture, OfAnOddNumberOfRowsRepeatsTheLast) {
  const BlockMeans cells{2, 3, {0, 1, 0, 1, 1, 0}};
  EXPECT_EQ(text_picture(cells, {0, 1}, Ink::characters), " @\n@ \n");
}

TEST(TextPicture, SaysAColourWhereItChanges) {
  const BlockMeans cells{2, 2, {0, 0, 1, 0}};
  const int low = nearest_of_256(colour_at(0));
  const int high = nearest_of_256(colour_at(1));
  const std::string of_low = std::to_string(low);
  EXPECT_EQ(text_picture(cells, {0, 1}, Ink::colours),
            "\033[38;5;" + of_low + "m\033[48;5;" + std::to_string(high) + "m\u2580\033[48;5;" +
                of_low + "m\u2580\033[0m\n");
}

TEST(TextScale, GoesFromTheLowToTheHighEnd) {
  EXPECT_EQ(text_scale(10, Ink::characters), " .:-=+*#%@");
}

TEST(NearestOf256, FindsWhatIsThere) {
  EXPECT_EQ(nearest_of_256({0, 0, 0}), 16);
  EXPECT_EQ(nearest_of_256({255, 255, 255}), 231);
  EXPECT_EQ(nearest_of_256({95, 135, 175}), 67); // 16 + 36 + 2 * 6 + 3
  EXPECT_EQ(nearest_of_256({128, 128, 128}), 244);
}

TEST(NearestOf256, KeepsTheColourMapApart) {
  std::set<int> seen;
  for (int i = 0; i <= 20; ++i) {
    seen.insert(nearest_of_256(colour_at(i / 20.0)));
  }
  EXPECT_GE(seen.size(), 12U);
}

} // namespace
} // namespace diffbench::bench
