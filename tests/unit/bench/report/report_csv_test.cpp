// SPDX-License-Identifier: Apache-2.0
#include "columns.hpp"
#include "report_json.hpp"

#include "sample_result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

TEST(Csv, OneHeaderAndOneLineARow) {
  const auto lines = lines_of(csv_of(csv_lines(sample_result())));
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_THAT(lines[0], StartsWith("nx,ny,dtype,boundary,iterations,samples,backend,device,"));
  EXPECT_THAT(lines[2], StartsWith("1000,1000,float32,periodic,100,5,fast,cpu,"));
  const auto cells = [](const std::string& line) {
    bool quoted = false;
    return std::ranges::count_if(line, [&](char c) {
      quoted = quoted != (c == '"');
      return c == ',' && !quoted;
    });
  };
  for (const std::string& line : lines) {
    EXPECT_EQ(cells(line), cells(lines[0]));
  }
}

TEST(Csv, TextIsQuotedWhereItMustBe) {
  EXPECT_THAT(csv_of(csv_lines(sample_result())),
              HasSubstr(",failed,\"out of luck, \"\"really\"\"\","));
}

TEST(Csv, FullPrecision) {
  ComparisonResult result = sample_result();
  for (Sample& sample : result.rows[1].samples) {
    sample.seconds = 1.0 / 3;
  }
  EXPECT_THAT(csv_of(csv_lines(result)), HasSubstr(",0.03333333333333333,"));
}

} // namespace
} // namespace diffbench::bench
