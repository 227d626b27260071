// SPDX-License-Identifier: Apache-2.0
// The command line, without running anything.
#include "command_line.hpp"

#include "comparison.hpp"
#include "diffbench/errors.hpp"
#include "option_groups.hpp"
#include "verbs.hpp"
#include "version.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace diffbench::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Arguments = std::vector<std::string>;

ParsedCommand parsed_command(const Arguments& arguments) {
  return parse_options(arguments, program());
}

ComparisonOptions read_last; // by the command line below

/// What the comparison reads.
ComparisonOptions parsed(const Arguments& arguments) {
  Verb comparison = program();
  comparison.declare = [](OptionList& options) -> Action {
    declare_comparison(options, read_last = {});
    return [](const Invocation&) { return 0; };
  };
  (void)parse_options(arguments, comparison);
  return read_last;
}

TEST(Options, Defaults) {
  const ComparisonOptions options = parsed({});
  EXPECT_EQ(options.problem, Problem{});
  EXPECT_EQ(options.iterations, 1000);
  EXPECT_EQ(options.baseline, "xtensor_roll");
  EXPECT_TRUE(options.backends.empty());
  EXPECT_DOUBLE_EQ(options.budget_seconds, 10);
  EXPECT_EQ(options.session.transfer, Transfer::pageable);
  EXPECT_EQ(options.session.device, 0);
  EXPECT_FALSE(options.device_chosen);
  EXPECT_EQ(options.roundtrip_every, 0);
  EXPECT_TRUE(options.gpu_options.empty());
}

TEST(Options, TheMainJob) {
  const ComparisonOptions options = parsed({"--grid", "640", "--iters", "1000", "--pinned"});
  EXPECT_EQ(options.problem.nx, 640);
  EXPECT_EQ(options.problem.ny, 640);
  EXPECT_EQ(options.iterations, 1000);
  EXPECT_EQ(options.session.transfer, Transfer::pinned);
  EXPECT_THAT(options.gpu_options, ElementsAre("--pinned"));
}

TEST(Options, NxIsColumns) {
  const ComparisonOptions options = parsed({"--grid", "1920x1080"});
  EXPECT_EQ(options.problem.nx, 1920);
  EXPECT_EQ(options.problem.ny, 1080);
}

TEST(Options, Everything) {
  const ComparisonOptions options = parsed(
      {"--dt=0.05", "--diffusivity",    "2",       "--spacing",  "1.5",        "--boundary",
       "dirichlet", "--boundary-value", "-1.5",    "--init",     "random",     "--seed",
       "7",         "--dtype",          "float64", "--backend",  "simd",       "--backend",
       "scalar",    "--backend",        "simd",    "--baseline", "peer:numpy", "--peer",
       "numpy",     "--threads",        "3",       "--isa",      "baseline",   "--budget",
       "0.5",       "--json",           "a.json",  "--csv",      "-",          "--no-progress"});
  EXPECT_DOUBLE_EQ(options.problem.dt, 0.05);
  EXPECT_DOUBLE_EQ(options.problem.diffusivity, 2);
  EXPECT_DOUBLE_EQ(options.problem.spacing, 1.5);
  EXPECT_EQ(options.problem.boundary, Boundary::dirichlet);
  EXPECT_DOUBLE_EQ(options.problem.boundary_value, -1.5);
  EXPECT_EQ(options.initial.kind, InitialField::Kind::random);
  EXPECT_EQ(options.initial.seed, 7U);
  EXPECT_EQ(options.problem.dtype, Dtype::float64);
  EXPECT_THAT(options.backends, ElementsAre("simd", "scalar"));
  EXPECT_THAT(options.peers, ElementsAre("numpy"));
  EXPECT_EQ(options.baseline, "peer:numpy");
  EXPECT_EQ(options.session.threads, 3);
  EXPECT_EQ(options.session.isa, Isa::baseline);
  EXPECT_DOUBLE_EQ(options.budget_seconds, 0.5);
  EXPECT_EQ(options.output.json, "a.json");
  EXPECT_EQ(options.output.csv, "-");
  EXPECT_FALSE(options.output.progress);
}

TEST(Options, OfTheGpu) {
  const ComparisonOptions options = parsed(
      {"--transfer", "write-combined", "--device", "7", "--retune", "--roundtrip-every", "10"});
  EXPECT_EQ(options.session.transfer, Transfer::write_combined);
  EXPECT_EQ(options.session.device, 7);
  EXPECT_TRUE(options.device_chosen);
  EXPECT_TRUE(options.session.retune);
  EXPECT_EQ(options.roundtrip_every, 10);
  EXPECT_THAT(options.gpu_options,
              ElementsAre("--transfer", "--device", "--retune", "--roundtrip-every"));
  EXPECT_EQ(parsed({"--pinned", "--transfer", "pinned"}).session.transfer, Transfer::pinned);
  for (const char* name : {"pageable", "pinned", "registered", "mapped", "managed"}) {
    EXPECT_EQ(to_string(parsed({"--transfer", name}).session.transfer), name);
  }
}

TEST(Options, UnstableOnlyWhenAllowed) {
  EXPECT_DOUBLE_EQ(parsed({"--dt", "0.3", "--allow-unstable"}).problem.dt, 0.3);
}

TEST(Options, HelpAndVersionAreText) {
  const auto help = std::get<Text>(parsed_command({"--help"})).text;
  EXPECT_THAT(help, HasSubstr("Example:"));
  EXPECT_THAT(help, HasSubstr("Exit codes:"));
  EXPECT_THAT(help, HasSubstr("doctor"));
  EXPECT_EQ(std::get<Text>(parsed_command({"--version"})).text, version_text() + "\n");
  const auto list_help = std::get<Text>(parsed_command({"list", "--help"})).text;
  EXPECT_THAT(list_help, HasSubstr("Example:\n  diffbench list"));
}

TEST(Options, AVerbIsAnAction) {
  const auto command = parsed_command({"list"});
  ASSERT_TRUE(std::holds_alternative<ParsedVerb>(command));
  std::ostringstream out;
  std::ostringstream err;
  const auto& verb = std::get<ParsedVerb>(command);
  EXPECT_EQ(verb.command, "diffbench list");
  EXPECT_EQ(verb.action({out, err, verb.command}), 0);
  EXPECT_THAT(out.str(), HasSubstr("scalar"));
  EXPECT_EQ(err.str(), "");
}

/// What a verb of these options says on stderr before it does anything.
std::string hints(const Arguments& arguments, void (*declare)(OptionList& options)) {
  static void (*declare_options)(OptionList & options);
  declare_options = declare;
  Verb verb = program();
  verb.declare = [](OptionList& options) -> Action {
    declare_options(options);
    return [](const Invocation&) { return 0; };
  };
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(std::get<ParsedVerb>(parse_options(arguments, verb)).action({out, err, ""}), 0);
  return err.str();
}

TEST(Options, MoreThreadsThanCpusAreSaidToBe) {
  static int threads = 0;
  const auto one = [](OptionList& options) { declare_threads(options, threads, "", "all"); };
  EXPECT_EQ(hints({"--threads", "1"}, one), "");
  EXPECT_THAT(hints({"--threads", "4096"}, one), HasSubstr("diffbench: --threads 4096: this"));
  static std::vector<int> list;
  const auto several = [](OptionList& options) { declare_thread_list(options, list, "", "1, 2"); };
  EXPECT_EQ(hints({}, several), "");
  EXPECT_THAT(hints({"--threads", "1,4096,2"}, several), HasSubstr("--threads 4096: this"));
  const auto added = [](OptionList& options) { // as sweep has those of the comparison
    static OptionList inner;
    declare_thread_list(inner, list, "", "1, 2");
    options.add(inner);
    options.check([] { inner.read(); });
  };
  list.clear();
  EXPECT_THAT(hints({"--threads", "4096"}, added), HasSubstr("--threads 4096: this"));
}

struct Bad {
  Arguments arguments;
  const char* message; ///< part of it
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << testing::PrintToString(bad.arguments); }

class BadInput : public testing::TestWithParam<Bad> {};

TEST_P(BadInput, IsOneClearLine) {
  try {
    (void)parsed_command(GetParam().arguments);
    FAIL() << "was accepted";
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadInput,
    testing::Values(
        Bad{{"--grid", "0"}, "--grid 0: each side has 3 to"},
        Bad{{"--grid", "-5"}, "--grid -5: each side has 3 to"},
        Bad{{"--grid", "10xfoo"}, "--grid 10xfoo: give N or NXxNY"},
        Bad{{"--grid", "2x2"}, "--grid 2x2: each side"}, Bad{{"--grid", "640x"}, "--grid 640x"},
        Bad{{"--grid", "x"}, "--grid x"}, Bad{{"--grid", "64 "}, "--grid 64 "},
        Bad{{"--grid", "1e3"}, "--grid 1e3"}, Bad{{"--grid", "3x4x5"}, "--grid 3x4x5"},
        Bad{{"--grid", "99999999999999999999"}, "--grid 9999"},
        Bad{{"--grid", "2000000000"}, "3 to 1000000000"}, Bad{{"--grid", ""}, "--grid: the value"},
        Bad{{"--grid"}, "--grid"}, Bad{{"--grid", "8", "--grid", "9"}, "--grid"},
        Bad{{"--iters", "-1"}, "--iters -1: give a whole number from 1"},
        Bad{{"--iters", "0"}, "--iters 0"}, Bad{{"--iters", "1.5"}, "--iters 1.5"},
        Bad{{"--dt", "nan"}, "--dt nan: give a finite number"}, Bad{{"--dt", "inf"}, "--dt inf"},
        Bad{{"--dt", "1e999"}, "--dt 1e999"}, Bad{{"--dt", "0.1x"}, "--dt 0.1x"},
        Bad{{"--dt", "0"}, "dt"}, Bad{{"--dt", "0.3"}, "1/4"}, Bad{{"--spacing", "-1"}, "spacing"},
        Bad{{"--diffusivity", "nan"}, "--diffusivity nan"},
        Bad{{"--boundary-value", "nan"}, "--boundary-value nan"},
        Bad{{"--boundary", "open"}, "--boundary: unknown boundary condition 'open'"},
        Bad{{"--dtype", "float16"}, "--dtype: unknown dtype 'float16'"},
        Bad{{"--init", "circle"}, "--init: unknown initial field 'circle'"},
        Bad{{"--seed", "-1"}, "--seed -1"}, Bad{{"--backend", "nope"}, "unknown backend 'nope'"},
        Bad{{"--backend"}, "--backend"}, Bad{{"--peer", "nope"}, "valid: numpy"},
        Bad{{"--baseline", "nope"}, "--baseline: unknown row 'nope'"},
        Bad{{"--threads", "0"}, "--threads 0: give a whole number from 1 to 4096"},
        Bad{{"--threads", "100000"}, "--threads 100000"},
        Bad{{"--threads", "two"}, "--threads two"},
        Bad{{"scaling", "--threads", "1,,2"},
            "--threads 1,,2: a value between the commas is empty"},
        Bad{{"--backend", "scalar,"}, "--backend scalar,: a value"},
        Bad{{"advise", "--roundtrip-every", "9"}, "--roundtrip-every: there is no such option"},
        Bad{{"--isa", "avx9"}, "--isa: unknown instruction set"},
        Bad{{"--budget", "0"}, "--budget 0"}, Bad{{"--budget", "-3"}, "--budget -3"},
        Bad{{"--budget", "nan"}, "--budget nan"},
        Bad{{"--snapshot-every", "1"}, "diffbench run --snapshot-every"},
        Bad{{"--json", "-", "--csv", "-"}, "two outputs"},
        Bad{{"run", "--save", "x", "--json", "x"}, "two outputs"}, Bad{{"--nope"}, "--nope"},
        Bad{{"nope"}, "nope"}, Bad{{"list", "extra"}, "extra"}, Bad{{"-x"}, "-x"},
        Bad{{"--pinned=maybe"}, "maybe"},
        Bad{{"--transfer", "fast"}, "--transfer: unknown transfer 'fast'; valid: pageable, pinned"},
        Bad{{"--transfer", ""}, "--transfer: the value is empty"},
        Bad{{"--pinned", "--transfer", "registered"}, "--pinned and --transfer registered"},
        Bad{{"--pinned", "--transfer", "pageable"}, "--pinned and --transfer pageable"},
        Bad{{"--device", "-1"}, "--device -1: give a whole number from 0 to 1023"},
        Bad{{"--device", "1024"}, "--device 1024"}, Bad{{"--device", "gpu"}, "--device gpu"},
        Bad{{"--roundtrip-every", "0"}, "--roundtrip-every 0: give a whole number from 1"},
        Bad{{"--roundtrip-every", "-3"}, "--roundtrip-every -3"},
        Bad{{"--roundtrip-every", "x"}, "--roundtrip-every x"}));

} // namespace
} // namespace diffbench::bench
