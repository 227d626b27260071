// SPDX-License-Identifier: Apache-2.0
#include "cuda/plain_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::vector<std::pair<int, std::string>> lines_of(std::string_view source) {
  std::vector<std::pair<int, std::string>> lines;
  for (const PlainLine& line : plain_lines(source)) {
    lines.emplace_back(line.number, line.text);
  }
  return lines;
}

TEST(PlainLines, AreSplicedAndHaveNoComments) {
  EXPECT_THAT(lines_of("a\\\nb // c\\\nd\ne /* f\n\n*/ # 1\n/\\\n* g *\\\n/h"),
              ElementsAre(Pair(1, "ab "), Pair(4, "e   # 1"), Pair(7, " h")));
}

TEST(PlainLines, KeepWhatStandsInTexts) {
  EXPECT_THAT(lines_of("\"/*\\\"//\" a\nR\"x(\n/*)x\" b\n1'000 '\"' /* c */\nfooR\"(/*\" d"),
              ElementsAre(Pair(1, "\"/*\\\"//\" a"), Pair(2, "R\"x(\n/*)x\" b"),
                          Pair(4, "1'000 '\"'  "), Pair(5, "fooR\"(/*\" d")));
}

TEST(PlainLines, AreThoseThatCompilersSee) {
  EXPECT_THAT(lines_of("\xef\xbb\xbf# 1\r\na \\ \t\nb\\\r\nc\r\n"),
              ElementsAre(Pair(1, "# 1"), Pair(2, "a bc"), Pair(5, "")));
}

TEST(PlainLines, EndWhereTheSourceEnds) {
  for (const char* source :
       {"", "/*", "/* *", "//", "\"", "'", "R\"(", "R\"", "\\\n", "a\\", "/"}) {
    EXPECT_FALSE(plain_lines(source).empty()) << source;
  }
}

} // namespace
} // namespace diffbench::bench
