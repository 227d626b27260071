// SPDX-License-Identifier: Apache-2.0
#include "result_lines.hpp"
#include "unmarked_csv.hpp"

#include "columns.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace diffbench::bench {
namespace {

using nlohmann::ordered_json;

std::string csv(const char* own) {
  Value lines = Value::list();
  add_result_lines("a.json", ordered_json::parse(own), lines);
  return unmarked_csv(lines);
}

TEST(ResultLines, OfAComparisonHaveItsProblem) {
  EXPECT_EQ(csv(R"({"schema": 1, "command": "diffbench", "problem": {"nx": 8},
                    "field": {"min": 0}, "copy": null, "notes": ["n"], "threads": 4,
                    "results": [{"backend": "x", "phases": {"wall": 2}, "samples_seconds": [1]},
                                {"backend": "y", "phases": null, "threads": 1}]})"),
            "file,experiment,command,problem.nx,threads,backend,phases.wall\n"
            "a.json,comparison,diffbench,8,4,x,2\n"
            "a.json,comparison,diffbench,8,1,y,\n");
}

TEST(ResultLines, OfAnExperimentAreItsInnermostResults) {
  EXPECT_EQ(csv(R"({"experiment": "sweep", "command": "c", "sentence": "s", "sweep": {
                      "crossovers": [{"from": 1}],
                      "points": [{"size": 1, "result": {"results": [{"row": "x"}, {"row": "y"}]}},
                                 {"size": 2, "rows": [{"row": "z", "samples": [{"steps": 3}]}]},
                                 {"size": 3, "rows": []}]}})"),
            "file,experiment,command,size,row\n"
            "a.json,sweep,c,1,x\na.json,sweep,c,1,y\na.json,sweep,c,2,z\na.json,sweep,c,3,\n");
}

TEST(ResultLines, AListOfResultsIsEnough) {
  EXPECT_EQ(csv(R"({"experiment": "list", "command": "c", "list": [{"name": "x"}, 5]})"),
            "file,experiment,command,name\na.json,list,c,x\n");
}

TEST(ResultLines, WhatIsNotAsWrittenByThisProgramIsNoError) {
  for (const char* own : {"{}", R"({"experiment": 5})", R"({"experiment": "x", "x": 5})",
                          R"({"results": 5, "command": {}})", R"({"results": [5, {}]})"}) {
    EXPECT_NO_THROW((void)csv(own)) << own;
  }
}

} // namespace
} // namespace diffbench::bench
