// SPDX-License-Identifier: Apache-2.0
#include "lab_report.hpp"
#include "option_list.hpp"

#include "conclusion.hpp"
#include "diffbench/errors.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "output.hpp"
#include "planted_load.hpp"
#include "temporary_directory.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>

namespace diffbench::bench {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

LabReport sample_report() {
  LabReport report;
  report.text = "a table\n";
  report.sentence = "It shows something.";
  report.data = {{"rows", Value::list({1, 2, 3})}};
  report.series = {{.name = "toy/one",
                    .threads = 2,
                    .samples = {{.iterations = 10, .seconds = 1e-6, .cpu_seconds = {}}},
                    .per_iteration = {{"bytes_per_second", 100.0}}}};
  report.notes = {"look here"};
  return report;
}

class LabReportTest : public testing::Test {
 protected:
  int run(const LabReport& report) {
    return run_experiment("toy", output_, {out_, err_, "diffbench toy"}, [&](Progress&) {
      ++measured_;
      return report;
    });
  }

  std::optional<PlantedLoad> load_{"0"};
  LabOutput output_;
  std::ostringstream out_;
  std::ostringstream err_;
  int measured_ = 0;
};

TEST_F(LabReportTest, TheTextEndsWithWhatItShows) {
  EXPECT_EQ(run(sample_report()), exit_ok);
  EXPECT_EQ(out_.str(), "a table\nnote: look here\n\nIt shows something.\n");
  EXPECT_EQ(err_.str(), "");
}

/// A report of which every part concludes something.
LabReport concluding_report() {
  LabReport report = sample_report();
  report.figures = "figures\n";
  report.findings = {"it rises"};
  report.done = "A file was written.";
  report.data = {{"best", 3},
                 {"text", "It is the best."},
                 {"crossings", Value::list({1})},
                 {"seconds", 0.5},
                 {"rows", Value::list({Value{{"wins", true}, {"seconds", 1}}})}};
  report.found_in_data = {"best", "text", "crossings", "rows[].wins", "absent", "absent[].wins"};
  return report;
}

TEST_F(LabReportTest, ADisturbedMachineConcludesNothing) {
  LabReport report = concluding_report();
  report.disturbed = true;
  EXPECT_EQ(run(report), exit_ok);
  EXPECT_EQ(out_.str(),
            fmt::format("figures\nnote: look here\n\n{}\nA file was written.\n", no_conclusion));
  keep_conclusions(report);
  const ordered_json part = json_of(lab_part("toy", "", report));
  EXPECT_EQ(part["disturbed"], true);
  EXPECT_EQ(part["toy"], (ordered_json{{"best", nullptr},
                                       {"text", no_conclusion},
                                       {"crossings", ordered_json::array()},
                                       {"seconds", 0.5},
                                       {"rows", {{{"wins", nullptr}, {"seconds", 1}}}}}));
}

TEST_F(LabReportTest, WhereItIsKnownWhatOthersDidItSaysHowWideTimesAre) {
  LabReport report = concluding_report();
  report.disturbed = true;
  report.series.front().samples.assign(
      5, {.iterations = 1, .seconds = 2, .cpu_seconds = {}, .stolen_seconds = 1, .slack = 0.25});
  EXPECT_EQ(run(report), exit_ok);
  EXPECT_EQ(
      out_.str(),
      "a table\nnote: look here\nnote: it rises\n\nIt shows something.\nThat was measured beside "
      "other programs: without them, each time would be 0.400 to 1.25 times as long.\nA file "
      "was written.\n");
  keep_conclusions(report);
  const ordered_json part = json_of(lab_part("toy", "", report));
  EXPECT_EQ(part["width"], (ordered_json{{"low", 0.4}, {"high", 1.25}}));
  EXPECT_EQ(part["toy"]["best"], 3);
}

/// By a quota, say.
TEST_F(LabReportTest, WhereNothingIsKnownThatKeptRowsFromTheCpuNothingIsConcluded) {
  LabReport report = concluding_report();
  report.disturbed = true;
  for (Sample& sample : report.series.front().samples) {
    sample.slack = 0;
  }
  EXPECT_EQ(run(report), exit_ok);
  EXPECT_THAT(out_.str(), HasSubstr(no_conclusion));
  EXPECT_THAT(out_.str(), Not(HasSubstr("as long.")));
}

TEST_F(LabReportTest, AQuietMachineConcludesAll) {
  EXPECT_EQ(run(concluding_report()), exit_ok);
  EXPECT_EQ(out_.str(),
            "a table\nnote: look here\nnote: it rises\n\nIt shows something.\nA file "
            "was written.\n");
}

/// Whatever the system says of its CPUs: a row that got half of one was disturbed.
TEST_F(LabReportTest, SamplesShowThatTheirRowWasKeptFromTheCpu) {
  load_.reset();
  LabReport report = concluding_report();
  report.series.front().samples = {{.iterations = 1, .seconds = 1, .cpu_seconds = 0.5}};
  EXPECT_EQ(run(report), exit_ok);
  EXPECT_THAT(out_.str(), HasSubstr("rows got 50 % of a CPU"));
  EXPECT_THAT(out_.str(), HasSubstr(no_conclusion));
}

/// What ran before it was timed, such as a build, is no disturbance of it.
TEST_F(LabReportTest, AReportThatHasLookedForOtherProgramsIsNotMarkedAgain) {
  load_.emplace("1");
  LabReport report = sample_report();
  EXPECT_EQ(run(report), exit_ok);
  EXPECT_THAT(out_.str(), HasSubstr("other programs were running"));
  out_.str("");
  report.load_is_judged = true;
  EXPECT_EQ(run(report), exit_ok);
  EXPECT_THAT(out_.str(), Not(HasSubstr("other programs were running")));
}

TEST_F(LabReportTest, WhatItWritesItselfIsWrittenBeforeAnythingIsShown) {
  for (std::string* output : {&output_.json, &output_.csv, &output_.markdown}) {
    output_ = LabOutput();
    *output = "-";
    out_.str("");
    bool first = false;
    LabReport report = sample_report();
    report.data = {{"results", Value::list({{{"a", 1}}})}};
    report.write = [&] { first = out_.str().empty(); };
    EXPECT_EQ(run(report), exit_ok);
    EXPECT_TRUE(first);
    EXPECT_NE(out_.str(), "");
  }
}

TEST_F(LabReportTest, CtrlCWhileItWritesKeepsTheRest) {
  LabReport report = sample_report();
  report.write = [] { throw Interrupted(); };
  report.written = {"h.jsonl"};
  EXPECT_EQ(run(report), exit_interrupted);
  EXPECT_THAT(out_.str(), HasSubstr("a table"));
  EXPECT_THAT(err_.str(), HasSubstr("not written: h.jsonl"));
}

TEST_F(LabReportTest, ADisturbanceIsNotedOnce) {
  CpuAccount account{.cpus = 2, .usable = 2};
  const LoadWatch load([&] { return std::optional(account); });
  LabReport report = sample_report();
  mark_disturbed(report, load);
  EXPECT_FALSE(report.disturbed);
  account.wall += 1;
  account.busy += 1;
  mark_disturbed(report, load);
  mark_disturbed(report, load);
  EXPECT_TRUE(report.disturbed);
  ASSERT_EQ(report.notes.size(), 2U);
  EXPECT_THAT(report.notes.back(), HasSubstr("they used 1.0 of 2 CPUs"));
}

TEST_F(LabReportTest, TextWithoutASentenceIsAllThereIs) {
  LabReport report = sample_report();
  report.sentence.clear();
  report.notes.clear();
  EXPECT_EQ(run(report), exit_ok);
  EXPECT_EQ(out_.str(), "a table\n");
}

TEST_F(LabReportTest, AFileThatCannotBeWrittenLosesItselfOnly) {
  const TemporaryDirectory directory;
  output_.json = "/dev/full";
  output_.report = directory.path() / "page.html";
  EXPECT_THROW((void)run(sample_report()), Error);
  EXPECT_THAT(out_.str(), HasSubstr("a table"));
  EXPECT_TRUE(std::filesystem::exists(output_.report));
}

TEST_F(LabReportTest, TwoFilesInOnePlaceAreRefusedBeforeAnyWork) {
  OptionList options;
  output_.declare(options);
  options.type("--json", {"./profile"});
  options.type("--csv", {"profile"});
  EXPECT_THROW(options.read(), InvalidInput);
}

TEST_F(LabReportTest, JsonOnStdoutIsAllThereIs) {
  output_.json = "-";
  EXPECT_EQ(run(sample_report()), exit_ok);
  const ordered_json json = ordered_json::parse(out_.str());
  const ordered_json& own = json["diffbench"];
  EXPECT_EQ(own["schema"], result_schema);
  EXPECT_EQ(own["command"], "diffbench toy");
  EXPECT_EQ(own["experiment"], "toy");
  EXPECT_EQ(own["sentence"], "It shows something.");
  EXPECT_EQ(own["toy"]["rows"].size(), 3U);
  EXPECT_EQ(own["notes"][0], "look here");
  EXPECT_EQ(json["context"]["json_schema_version"], 1);
  const ordered_json& entry = json["benchmarks"][0];
  EXPECT_EQ(entry["name"], "toy/one");
  EXPECT_NEAR(entry["real_time"].get<double>(), 100, 1e-9); // ns an iteration
  EXPECT_NEAR(entry["bytes_per_second"].get<double>(), 1e9, 1);
  EXPECT_EQ(entry["cpu_time_is_wall_time"], 1);
}

TEST_F(LabReportTest, CsvOnStdoutIsAllThereIs) {
  LabReport report = sample_report();
  report.data = {{"results", Value::list({{{"a", 1}}, {{"a", 2}}})}};
  output_.csv = "-";
  EXPECT_EQ(run(report), exit_ok);
  EXPECT_THAT(out_.str(), MatchesRegex("a,diffbench_version\n1,[0-9.]+\n2,[0-9.]+\n"));
}

TEST_F(LabReportTest, RowsOfItsOwnAreTheCsv) {
  const TemporaryDirectory directory;
  LabReport report = sample_report();
  report.rows = Value::list({{{"b", 3}}});
  output_.csv = directory.path() / "rows.csv";
  EXPECT_EQ(run(report), exit_ok);
  EXPECT_THAT(out_.str(), HasSubstr("a table"));
  std::ifstream file(output_.csv);
  std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, StartsWith("b,diffbench_version\n3,"));
}

TEST_F(LabReportTest, AFileThatCannotBeWrittenIsRefusedBeforeAnyWork) {
  OptionList options;
  output_.declare(options);
  options.type("--json", {"nowhere/out.json"});
  EXPECT_THROW(options.read(), Error);
}

TEST_F(LabReportTest, WhatWentWrongIsTheExitCode) {
  LabReport report = sample_report();
  report.outcome = {exit_not_verified, "a result is wrong"};
  EXPECT_EQ(run(report), exit_not_verified);
  EXPECT_THAT(out_.str(), HasSubstr("a table"));
  EXPECT_EQ(err_.str(), "diffbench: a result is wrong\n");
}

TEST_F(LabReportTest, CtrlCKeepsWhatWasMeasured) {
  const TemporaryDirectory directory;
  output_.json = directory.path() / "out.json";
  LabReport report = sample_report();
  report.interrupted = true;
  EXPECT_EQ(run(report), exit_interrupted);
  EXPECT_THAT(out_.str(), HasSubstr("a table"));
  EXPECT_THAT(err_.str(), HasSubstr("interrupted"));
  std::ifstream file(output_.json);
  EXPECT_EQ(ordered_json::parse(file)["diffbench"]["interrupted"], true);
}

} // namespace
} // namespace diffbench::bench
