// SPDX-License-Identifier: Apache-2.0
#include "text_width.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>

namespace diffbench::bench {
namespace {

TEST(Wrapped, LeavesWhatFits) {
  EXPECT_EQ(wrapped("a line\n\nanother one\n", 11), "a line\n\nanother one\n");
  EXPECT_EQ(wrapped("no end of line", 14), "no end of line");
  EXPECT_EQ(wrapped("", 14), "");
}

TEST(Wrapped, BreaksSentencesAtWordsAndIndentsWhatFollows) {
  EXPECT_EQ(wrapped("note: it was far too long\nshort\n", 12),
            "note: it was\n"
            "  far too\n"
            "  long\n"
            "short\n");
  EXPECT_EQ(wrapped("it was far too long\n", 12), "it was far\ntoo long\n");
  EXPECT_EQ(wrapped("  - it was far too long\n", 12), "  - it was\n    far too\n    long\n");
}

TEST(Wrapped, LeavesCommandsWhole) {
  EXPECT_EQ(wrapped("  $ diffbench --grid 640\n", 12), "  $ diffbench --grid 640\n");
  text_width = 24; // of a terminal
  EXPECT_EQ(wrapped("  $ diffbench --grid 640 --iters 10\n  $ diffbench --grid 64"),
            "  $ diffbench --grid \\\n      640 --iters 10\n  $ diffbench --grid 64");
  text_width = std::numeric_limits<std::size_t>::max();
}

TEST(Wrapped, PutsTheRestOfALastColumnBelowIt) {
  EXPECT_EQ(wrapped("  --grid N    cells; NX counts columns\n", 26),
            "  --grid N    cells; NX\n"
            "              counts\n"
            "              columns\n");
  // The last of several columns; not one that leaves it no room.
  EXPECT_EQ(wrapped("a  b  one two three\n", 12), "a  b  one\n      two\n      three\n");
  EXPECT_EQ(wrapped("wide wide wide  one two\n", 18), "wide wide wide\none two\n");
}

TEST(Wrapped, KeepsLongWordsWhole) {
  EXPECT_EQ(wrapped("see /a/very/long/path/to/it there\n", 10),
            "see\n"
            "/a/very/long/path/to/it\n"
            "there\n");
}

} // namespace
} // namespace diffbench::bench
