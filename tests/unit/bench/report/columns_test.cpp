// SPDX-License-Identifier: Apache-2.0
// One list of columns makes the table, the JSON and the CSV.
#include "columns.hpp"
#include "unmarked_csv.hpp"

#include "json.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <sstream>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;

struct Part {
  double seconds = 0;
};

struct Line {
  std::string name;
  std::optional<Part> part = {};
  std::optional<std::int64_t> count = {};
  const Part* other = nullptr;
};

constexpr Column<Line> line_columns[] = {
    {"name", "line", as_text, field<&Line::name>},
    {"part.seconds", "time", as_seconds, field<&Line::part, &Part::seconds>},
    {"part.count", nullptr, as_text, field<&Line::count>},
    {nullptr, "other", as_seconds, field<&Line::other, &Part::seconds>},
    {"reason", nullptr, as_text, [](const Line& line) { return or_null(line.name); }},
    {nullptr, "shout", as_text, nullptr, [](const Line& line) { return line.name + "!"; }},
};

TEST(ColumnsTest, KeysWithPointsNest) {
  EXPECT_EQ(json_of(object_of(line_columns, {"a", Part{0.5}, 3})),
            nlohmann::ordered_json::parse(
                R"({"name": "a", "part": {"seconds": 0.5, "count": 3}, "reason": "a"})"));
}

TEST(ColumnsTest, WhatIsNotThereIsNullAndADash) {
  EXPECT_TRUE(object_of(line_columns, {"a"}).find("part.seconds").is_null());
  const std::vector<Line> lines{{"a"}, {"b", Part{1e-3}, 1}};
  EXPECT_EQ(format_rows(line_columns, lines),
            "line     time  shout\n"
            "--------------------\n"
            "a           -     a!\n"
            "b     1.00 ms     b!\n")
      << "a column of nothing is left out";
  EXPECT_EQ(format_rows(line_columns, {}), "");
}

TEST(ColumnsTest, AColumnOfNothingIsLeftOutWhereAskedFor) {
  TextTable table({"first", "empty", "last"});
  table.add({no_value, no_value, "1"});
  table.drop_empty();
  EXPECT_EQ(table.format(), "first  last\n-----------\n-         1\n");
}

TEST(CsvTest, IsOneLineAnObjectWithAllNamesOfAll) {
  const Value lines = Value::list({
      {{"name", "a,b"}, {"part", {{"low", 0.1}, {"high", true}}}, {"list", Value::list({1})}},
      {{"name", "say \"x\"\nand y"}, {"part", nullptr}, {"late", 7}},
  });
  EXPECT_EQ(unmarked_csv(lines),
            "name,part.low,part.high,late\n"
            "\"a,b\",0.1,true,\n"
            "\"say \"\"x\"\"\nand y\",,,7\n");
}

TEST(CsvTest, AFigureIsKeptBesideAnObjectOfItsName) {
  const Value lines =
      Value::list({{{"seconds", 2}}, {{"seconds", {{"median", 3}}}}, {{"seconds", nullptr}}});
  EXPECT_EQ(unmarked_csv(lines), "seconds,seconds.median\n2,\n,3\n,\n");
}

TEST(CsvTest, NumbersReadBackAsTheyWereAndNaNIsEmpty) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(Value(nan).is_null());
  EXPECT_EQ(unmarked_csv(Value::list({{{"x", 0.1 + 0.2}, {"y", nan}}})),
            "x,y\n0.30000000000000004,\n");
}

TEST(CsvTest, NamesTheVersionLast) {
  EXPECT_EQ(csv_of(nullptr), "diffbench_version\n");
  EXPECT_EQ(csv_of(Value::list({{{"x", 1}}})),
            fmt::format("x,diffbench_version\n1,{}\n", build_info::version));
}

TEST(TextTableTest, WhatIsTooWideFollowsInABlockWithTheFirstColumn) {
  TextTable::Cells header{"row"};
  TextTable::Cells cells{"the first"};
  for (int i = 0; i < 12; ++i) {
    header.push_back("column " + std::to_string(i));
    cells.push_back("cell of " + std::to_string(i));
  }
  TextTable table(header);
  table.add(cells);
  std::istringstream text(table.format(80));
  std::string all;
  int blocks = 0;
  for (std::string line; std::getline(text, line);) {
    EXPECT_LE(line.size(), 80U) << line;
    blocks += line.starts_with("the first  ") ? 1 : 0;
    all += line + '\n';
  }
  EXPECT_EQ(blocks, 2);
  for (const std::string& cell : cells) {
    EXPECT_THAT(all, HasSubstr(cell));
  }
}

TextTable with_optional() {
  TextTable table({"row", "one", "two", "three"});
  table.optional(1);
  table.optional(3);
  table.add({"a", "1", "2", "3"});
  return table;
}

TEST(TextTableTest, OptionalColumnsAreLeftOutWhereTheyDoNotFit) {
  EXPECT_EQ(with_optional().format(20),
            "row  one  two  three\n"
            "--------------------\n"
            "a      1    2      3\n");
  EXPECT_EQ(with_optional().format(19),
            "row  two\n"
            "--------\n"
            "a      2\n"
            "(more with --wide: one, three)\n");
}

TEST(TextTableTest, OptionalColumnsFollowBelowWhereAllAreAskedFor) {
  wide_tables = true;
  const std::string text = with_optional().format(19);
  wide_tables = false;
  EXPECT_EQ(text,
            "row  one  two\n"
            "-------------\n"
            "a      1    2\n"
            "\n"
            "row  three\n"
            "----------\n"
            "a        3\n");
}

TEST(TextTableTest, OptionalColumnsStayThemselvesWhenEmptyOnesAreLeftOut) {
  TextTable table({"row", "empty", "plain", "optional"});
  table.optional(1);
  table.optional(3);
  table.add({"a", no_value, "1", "2"});
  table.drop_empty();
  EXPECT_EQ(table.format(15),
            "row  plain\n"
            "----------\n"
            "a        1\n"
            "(more with --wide: optional)\n");
}

TEST(TextTableTest, WordsAreFlushLeftWithoutARuleOrBlanksBehind) {
  TextTable table({"name", "kind", "what it is"});
  table.of_words();
  table.add({"a", "of many", "x"});
  table.add({"longer", "one", "a sentence"});
  EXPECT_EQ(table.format(),
            "name    kind     what it is\n"
            "a       of many  x\n"
            "longer  one      a sentence\n");
  EXPECT_EQ(table.format(20),
            "name    kind\n"
            "a       of many\n"
            "longer  one\n"
            "\n"
            "name    what it is\n"
            "a       x\n"
            "longer  a sentence\n");
}

TEST(TextTableTest, ACellThatIsWiderThanAllIsNotBroken) {
  const std::string wide(100, 'x');
  TextTable table({"row", "a", "wide", "b"});
  table.add({"r", "1", wide, "2"});
  EXPECT_THAT(table.format(80), HasSubstr("r    " + wide + "\n\n"));
}

} // namespace
} // namespace diffbench::bench
