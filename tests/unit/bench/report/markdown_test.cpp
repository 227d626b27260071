// SPDX-License-Identifier: Apache-2.0
// A report as Markdown.
#include "markdown.hpp"
#include "text_table.hpp"

#include <gtest/gtest.h>

namespace diffbench::bench {
namespace {

TEST(Markdown, TablesAreTablesAndLinesParagraphs) {
  keep_tables();
  TextTable table({"backend", "time"});
  table.add({"simd", "14.2 us"});
  table.add({"a|b", "-"});
  EXPECT_EQ(as_markdown("a title\n\n" + table.format() + "note: one\nnote: 2 * 3 < 7\n"),
            "a title\n"
            "\n"
            "| backend | time |\n"
            "| :-- | --: |\n"
            "| simd | 14.2 us |\n"
            "| a\\|b | - |\n"
            "\n"
            "note: one\n"
            "\n"
            "note: 2 \\* 3 \\< 7\n");
}

// On a narrow terminal it comes in several blocks.
TEST(Markdown, ATableIsNeverCut) {
  keep_tables();
  TextTable table({"name", "first", "second"});
  table.add({"x", "1", "2"});
  EXPECT_EQ(as_markdown(table.format(12)),
            "| name | first | second |\n"
            "| :-- | --: | --: |\n"
            "| x | 1 | 2 |\n");
}

TEST(Markdown, WordsAreFlushLeft) {
  keep_tables();
  TextTable table({"name", "why"});
  table.of_words();
  table.add({"x", "no reason"});
  EXPECT_EQ(as_markdown(table.format()),
            "| name | why |\n"
            "| :-- | :-- |\n"
            "| x | no reason |\n");
}

TEST(Markdown, WhatIsIndentedKeepsItsColumns) {
  EXPECT_EQ(as_markdown("this machine\n  cpu   one\n  load  0.1\n\nends\n"),
            "this machine\n"
            "\n"
            "      cpu   one\n"
            "      load  0.1\n"
            "\n"
            "ends\n");
}

} // namespace
} // namespace diffbench::bench
