// SPDX-License-Identifier: Apache-2.0
#include "csv_records.hpp"
#include "unmarked_csv.hpp"

#include "columns.hpp"
#include "diffbench/errors.hpp"

#include <gmock/gmock.h>

namespace diffbench::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CsvRecords, HaveWhatLinesHave) {
  EXPECT_THAT(csv_records(""), IsEmpty());
  EXPECT_THAT(csv_records("\n\r\n"), IsEmpty());
  EXPECT_THAT(csv_records("a,b\nc,\n"), ElementsAre(ElementsAre("a", "b"), ElementsAre("c", "")));
  EXPECT_THAT(csv_records("a,b\r\n,d"), ElementsAre(ElementsAre("a", "b"), ElementsAre("", "d")));
  EXPECT_THAT(csv_records("a;b,c\n", ';'), ElementsAre(ElementsAre("a", "b,c")));
}

TEST(CsvRecords, QuotedFieldsHoldAnything) {
  EXPECT_THAT(csv_records("\"a,b\",\"c \"\"d\"\"\",\"e\r\nf\"\n\"\"\n\"g\""),
              ElementsAre(ElementsAre("a,b", "c \"d\"", "e\r\nf"), ElementsAre("g")));
}

TEST(CsvRecords, AreRefusedWithTheLine) {
  const auto complaint = [](const char* text) -> std::string {
    try {
      (void)csv_records(text);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint("a\n\"b,c\n\n"), "line 2: a quote is never closed");
  EXPECT_EQ(complaint("a\n\"b\"c\n"), "line 2: text follows a field that has ended");
}

TEST(CsvRecords, AreWhatWasWritten) {
  const Value lines = Value::list({{{"a,", "x\"y"}, {"b", "1\n2"}},
                                   {{"a,", "=1+1"}, {"b", -1}},
                                   {{"a,", "--x|y"}, {"b", "--grid"}}});
  EXPECT_THAT(csv_records(unmarked_csv(lines)),
              ElementsAre(ElementsAre("a,", "b"), ElementsAre("x\"y", "1\n2"),
                          ElementsAre("'=1+1", "-1"), ElementsAre("'--x|y", "--grid")));
}

} // namespace
} // namespace diffbench::bench
