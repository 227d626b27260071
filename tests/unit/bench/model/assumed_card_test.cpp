// SPDX-License-Identifier: Apache-2.0
// Assumed cards: how they are read, what the model makes of them, and what the verbs say of them.
#include "advice/advice_report.hpp"
#include "advice/assumed_advice.hpp"
#include "assumed_ledger.hpp"
#include "assumed_phases.hpp"
#include "assumed_report.hpp"
#include "assumed_ways.hpp"
#include "json.hpp"
#include "residency/residency.hpp"
#include "scaling/scaling.hpp"

#include "diffbench/errors.hpp"
#include "sample_result.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <string>

namespace diffbench::bench {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Both ends of all figures are alike: 10 GB/s over the bus and 20 GB/s from page-locked memory,
/// 100 GB/s from memory, 1000 GB/s from 1 MB of L2, 2 us a launch and 1 us in a graph, 10 us for a
/// wait, 5 us for a copy, 100 ms for a context, 1 GiB, 1000 Tflops.
ordered_json plain_card() {
  ordered_json figures;
  const auto set = [&](const char* name, double value) {
    figures[name] = {{"low", value}, {"high", value}, {"source", "made up"}};
  };
  for (const char* name : {"pageable_h2d_gb_per_s", "pageable_d2h_gb_per_s"}) {
    set(name, 10);
  }
  for (const char* name : {"pinned_h2d_gb_per_s", "pinned_d2h_gb_per_s"}) {
    set(name, 20);
  }
  set("copy_call_us", 5);
  set("memory_gb_per_s", 100);
  set("memory_peak_gb_per_s", 120);
  set("l2_mb", 1);
  set("l2_gb_per_s", 1000);
  set("launch_us", 2);
  set("graph_launch_us", 1);
  set("synchronize_us", 10);
  set("barrier_us", 1);
  set("pin_ns_per_byte", 1);
  set("pin_call_us", 100);
  set("context_ms", 100);
  set("memory_gib", 1);
  set("float32_tflops", 1000);
  set("float64_tflops", 1000);
  return {{"name", "Toy"}, {"reported_as", "Toy GPU"}, {"figures", figures}};
}

AssumedCard toy() { return parse_assumed_card("toy", plain_card().dump()); }

std::string refusal(const std::function<void(ordered_json&)>& spoil) {
  ordered_json card = plain_card();
  spoil(card);
  try {
    (void)parse_assumed_card("mine.json", card.dump());
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "taken";
}

std::string text_refusal(const std::string& text) {
  try {
    (void)parse_assumed_card("mine.json", text);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "taken";
}

// --- reading -------------------------------------------------------------------------------------

TEST(AssumedCard, OfTheProgramAreAllWhole) {
  EXPECT_THAT(assumed_card_names(), ElementsAre("h200", "a100", "t4", "laptop"));
  for (const std::string& name : assumed_card_names()) {
    const AssumedCard card = find_assumed_card(name);
    EXPECT_EQ(card.id, name);
    EXPECT_LE(card.memory_rate.high, card.memory_peak.high) << name;
    EXPECT_LE(card.pageable_h2d.high, card.pinned_h2d.high) << name;
    EXPECT_LE(card.graph_launch.low, card.launch.low) << name;
  }
  EXPECT_THROW((void)find_assumed_card("no such card"), InvalidInput);
}

TEST(AssumedCard, IsPrintedAsAFileOfOnesOwn) {
  for (const std::string& name : assumed_card_names()) {
    const AssumedCard own = parse_assumed_card("own", built_in_card_text(name));
    const AssumedCard known = find_assumed_card(name);
    EXPECT_EQ(own.name, known.name);
    EXPECT_EQ(own.pin_byte.high, known.pin_byte.high);
  }
  EXPECT_THROW((void)built_in_card_text("h20"), InvalidInput);
}

TEST(AssumedCard, FiguresAreInSiUnits) {
  const AssumedCard card = toy();
  EXPECT_DOUBLE_EQ(card.pinned_h2d.low, 20e9);
  EXPECT_DOUBLE_EQ(card.launch.high, 2e-6);
  EXPECT_DOUBLE_EQ(card.context.low, 0.1);
  EXPECT_DOUBLE_EQ(card.pin_byte.low, 1e-9);
  EXPECT_DOUBLE_EQ(card.memory.low, 1024.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(card.l2.low, 1e6);
}

TEST(AssumedCard, SaysWhatIsWrongWithAFile) {
  auto at = [](const char* name, const char* end, const ordered_json& value) {
    return refusal([&](ordered_json& card) { card["figures"][name][end] = value; });
  };
  EXPECT_EQ(refusal([](ordered_json& card) { card["figures"].erase("launch_us"); }),
            "mine.json: lacks the figure launch_us");
  EXPECT_EQ(refusal([](ordered_json& card) {
              card["figures"]["launch_ms"] = card["figures"]["launch_us"];
              card["figures"].erase("launch_us");
            }),
            "mine.json: launch_ms: another unit than that of launch_us; convert it");
  EXPECT_EQ(refusal([](ordered_json& card) { card["figures"]["memory_mb"] = 1; }),
            "mine.json: memory_mb: another unit than that of memory_gb_per_s and memory_gib; "
            "convert it");
  EXPECT_EQ(refusal([](ordered_json& card) { card["figures"]["price_eur"] = 1; }),
            "mine.json: price_eur: is not a figure of a card");
  EXPECT_EQ(at("launch_us", "unit", "ms"),
            "mine.json: launch_us: \"unit\" is not one of low, high and source; the unit is in the "
            "name");
  EXPECT_EQ(at("launch_us", "low", 3), "mine.json: launch_us: low, 3, is more than high, 2");
  const std::string above = " must be a finite number above 0";
  EXPECT_EQ(at("launch_us", "low", nullptr), "mine.json: launch_us: \"low\"" + above);
  EXPECT_EQ(at("launch_us", "high", "NaN"), "mine.json: launch_us: \"high\"" + above);
  EXPECT_EQ(at("launch_us", "low", 0), "mine.json: launch_us: \"low\"" + above);
  EXPECT_EQ(at("launch_us", "low", -1), "mine.json: launch_us: \"low\"" + above);
  EXPECT_EQ(at("launch_us", "source", ""), "mine.json: launch_us: lacks the text \"source\"");
  EXPECT_EQ(refusal([](ordered_json& card) { card["figures"]["launch_us"] = 2; }),
            "mine.json: launch_us: must be an object of low, high and source");
  EXPECT_THAT(refusal([](ordered_json& card) { card["figures"]["l2_gb_per_s"]["low"] = 1; }),
              HasSubstr("has a slower cache (l2_gb_per_s) than memory (memory_gb_per_s)"));
  EXPECT_EQ(refusal([](ordered_json& card) { card.erase("reported_as"); }),
            "mine.json: lacks the text \"reported_as\"");
  EXPECT_THAT(refusal([](ordered_json& card) { card = ordered_json::array(); }),
              HasSubstr("is not a card"));
  EXPECT_THAT(text_refusal(R"({"low": NaN})"), HasSubstr("is not JSON: an error at byte 9 (NaN"));
  EXPECT_THAT(text_refusal(R"({"low": 1e999})"), HasSubstr("not finite"));
}

// --- the model -----------------------------------------------------------------------------------

const WayCost& way_named(const std::vector<AssumedWay>& ways, const std::string& name) {
  return std::ranges::find_if(ways, [&](const AssumedWay& w) { return w.fast.backend == name; })
      ->fast;
}

TEST(AssumedWays, AreTheArithmeticOfTheCard) {
  const auto ways = assumed_ways(toy(), Dtype::float32, Transfer::pinned);
  const double cells = 1024.0 * 1024.0;
  const double traffic = 8 * cells / 100e9;
  const double bus = 5e-6 + 4 * cells / 20e9;
  const RunShape run{.cells = cells, .iterations = 1000};
  const Prediction graph = predict(way_named(ways, "cuda_graph"), run);
  EXPECT_NEAR(graph.steps_seconds, 12e-6 + 1000 * (1e-6 + traffic), 1e-9);
  EXPECT_NEAR(graph.warm_seconds - graph.steps_seconds, 2 * bus, 1e-9);
  EXPECT_GT(graph.cold_seconds, 0.1 + 100e-6 + 4e-9 * cells + graph.warm_seconds - 1e-9);
  const Prediction cuda = predict(way_named(ways, "cuda"), run);
  // Of 256 columns that are loaded 240 are stored; short strips load 7 rows for 4.
  EXPECT_NEAR(cuda.steps_seconds, 12e-6 + 125 * (1e-6 + (1 + 256 / 240.0) / 2 * traffic), 2e-6);
  EXPECT_NEAR(predict(ways.back().slow, run).steps_seconds,
              12e-6 + 125 * (1e-6 + (1 + 256 / 240.0 * 7 / 4) / 2 * traffic), 2e-6);
  const auto deep = assumed_ways(toy(), work_of(Dtype::float64, 16, 7, 20), Transfer::pinned);
  EXPECT_NEAR(predict(deep.back().fast, {.cells = cells, .iterations = 40}).steps_seconds,
              12e-6 + 2 * (1e-6 + (1 + 128 / 88.0) / 2 * 2 * traffic), 1e-9);
  // A launch from the host takes longer than this kernel.
  const Prediction small =
      predict(way_named(ways, "cuda_stream"), {.cells = 64.0 * 64, .iterations = 1000});
  EXPECT_NEAR(small.steps_seconds, 12e-6 + 1000 * 2e-6, 1e-9);
  // Fields that fit L2 are ten times as fast there.
  const Prediction in_l2 =
      predict(way_named(ways, "cuda_graph"), {.cells = 256.0 * 256, .iterations = 1000});
  EXPECT_NEAR(in_l2.steps_seconds, 12e-6 + 1000 * (1e-6 + 8 * 65536.0 / 1000e9), 1e-9);
  const auto pageable = assumed_ways(toy(), Dtype::float32, Transfer::pageable);
  const Prediction slower = predict(way_named(pageable, "cuda_graph"), run);
  EXPECT_NEAR(slower.warm_seconds - slower.steps_seconds, 2 * (5e-6 + 4 * cells / 10e9), 1e-9);
}

TEST(AssumedWays, OfACodeThatIsNotOursAreThoseOfTheStencilWhereItsFiguresAre) {
  const CellWork stencil = work_of(Dtype::float32, 8, 7, 8);
  const auto ours = assumed_ways(toy(), Dtype::float32, Transfer::pinned);
  const auto same = assumed_ways(toy(), stencil, Transfer::pinned);
  const RunShape run{.cells = 640.0 * 640, .iterations = 1000};
  ASSERT_EQ(same.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(predict(same[i].slow, run).cold_seconds, predict(ours[i].slow, run).cold_seconds);
  }
  // A launch a step only; five times the bytes take five times as long, and so do their copies.
  const auto other = assumed_ways(toy(), work_of(Dtype::float32, 40, 7, 1), Transfer::pinned);
  ASSERT_EQ(other.size(), 2U);
  const double cells = 4096.0 * 4096.0;
  const Prediction graph =
      predict(way_named(other, "cuda_graph"), {.cells = cells, .iterations = 100});
  EXPECT_NEAR(graph.steps_seconds / (100 * 40 * cells / 100e9), 1, 0.01);
  EXPECT_NEAR((graph.warm_seconds - graph.steps_seconds) / (2 * 20 * cells / 20e9), 1, 0.01);
}

TEST(AssumedWays, SayWhereTheTimeOfAWarmRunGoes) {
  const AssumedCard card = toy();
  const AssumedEnd end(card, Dtype::float32, AssumedEnd::Bound::slow);
  const auto ways = assumed_ways(card, Dtype::float32, Transfer::pinned);
  const auto parts = [&](const std::string& backend, double side) {
    const RunShape run{.cells = side * side, .iterations = 1000};
    const Prediction all = predict(way_named(ways, backend), run);
    const WarmParts of = warm_parts(end, backend, all, run);
    EXPECT_NEAR(of.all(), all.warm_seconds, 1e-12) << backend;
    return of;
  };
  const WarmParts large = parts("cuda_graph", 1024);
  EXPECT_NEAR(large.memory, 1000 * 8 * 1024.0 * 1024 / 100e9, 1e-9);
  EXPECT_NEAR(large.launches, 12e-6 + 1000e-6, 1e-9);
  EXPECT_EQ(large.instructions, 0);
  EXPECT_NEAR(large.copies, 2 * (5e-6 + 4 * 1024.0 * 1024 / 20e9), 1e-9);
  EXPECT_NEAR(parts("cuda_stream", 64).launches, 12e-6 + 1000 * 2e-6, 1e-9);
  ordered_json slow_arithmetic = plain_card();
  for (const char* bound : {"low", "high"}) {
    slow_arithmetic["figures"]["float32_tflops"][bound] = 0.01;
  }
  const AssumedCard slow = parse_assumed_card("toy", slow_arithmetic.dump());
  const AssumedEnd its_end(slow, Dtype::float32, AssumedEnd::Bound::slow);
  const RunShape run{.cells = 1024.0 * 1024, .iterations = 8};
  const Prediction all =
      predict(assumed_ways(slow, Dtype::float32, Transfer::pinned).back().slow, run);
  const WarmParts of = warm_parts(its_end, "cuda", all, run);
  EXPECT_NEAR(of.instructions, 8 * 25 * run.cells / 0.005e12, 1e-9);
  EXPECT_EQ(of.memory, 0);
}

TEST(AssumedWays, AreRuledByTheKernelsOfTheirStretches) {
  ordered_json json = plain_card();
  for (const char* bound : {"low", "high"}) {
    json["figures"]["float32_tflops"][bound] = 1; // 8 steps take 400 ps a cell, their bytes 115
  }
  const AssumedCard card = parse_assumed_card("toy", json.dump());
  const AssumedEnd end(card, Dtype::float32, AssumedEnd::Bound::slow);
  const WayCost cuda = assumed_ways(card, Dtype::float32, Transfer::pinned).back().slow;
  const auto parts = [&](RunShape run) {
    run.cells = 1024.0 * 1024;
    run.iterations = 72;
    return warm_parts(end, "cuda", predict(cuda, run), run);
  };
  EXPECT_EQ(parts({}).memory, 0);
  EXPECT_EQ(parts({.copies_per_step = 2}).instructions, 0); // one step takes 50 ps, its bytes 80
  EXPECT_EQ(parts({.snapshot_every = 1}).instructions, 0);
  const WarmParts both = parts({.snapshot_every = 9}); // 8 steps in a launch, and one
  EXPECT_NEAR(both.instructions / both.memory, 5, 0.01);
  EXPECT_NEAR(both.launches, 8 * (12e-6 + 2e-6), 1e-9);
}

TEST(AssumedPhases, AddUpToThePredictedRun) {
  const AssumedCard card = toy();
  const AssumedEnd end(card, Dtype::float32, AssumedEnd::Bound::fast);
  const RunShape run{.cells = 1024.0 * 1024, .iterations = 100};
  for (const char* backend : {"cuda_stream", "cuda_graph", "cuda"}) {
    const AssumedPhases phases = assumed_phases(end, {.backend = backend}, run);
    const auto ways = assumed_ways(card, Dtype::float32, Transfer::pinned);
    EXPECT_NEAR(phases.warm(), predict(way_named(ways, backend), run).warm_seconds, 1e-9);
    EXPECT_NEAR(phases.cold() - phases.warm(), 0.1 + 100e-6 + 4e-9 * run.cells, 1e-9);
    EXPECT_DOUBLE_EQ(phases.sync, 10e-6);
  }
  const AssumedPhases waiting = assumed_phases(end, {.wait_each_step = true}, run);
  EXPECT_NEAR(waiting.sync, 100 * 10e-6, 1e-9);
  const AssumedPhases pageable = assumed_phases(end, {.transfer = Transfer::pageable}, run);
  EXPECT_EQ(pageable.pin, 0);
  EXPECT_NEAR(pageable.h2d, 5e-6 + 4 * run.cells / 10e9, 1e-9);
}

TEST(AssumedLedger, IsBelowTheMeasuredRowsAndSaysNothingAgainstDisturbedOnes) {
  ComparisonResult result = sample_result();
  LabReport report;
  append_assumed_ledger(report, toy(), result);
  EXPECT_THAT(report.text, HasSubstr("\ncuda_stream, a wait after every step (assumed toy) "));
  EXPECT_THAT(report.text, HasSubstr("\ncontext (assumed toy) "));
  const ordered_json rows = json_of(report.data)["assumed"]["rows"];
  ASSERT_EQ(rows.size(), 5U);
  for (const ordered_json& row : rows) {
    EXPECT_EQ(row["assumed"], "toy");
    EXPECT_TRUE(row["times_best_cpu"].is_object());
    EXPECT_EQ(row["phases"].size(), 7U);
  }
  result.disturbed = true;
  LabReport disturbed;
  append_assumed_ledger(disturbed, toy(), result);
  EXPECT_TRUE(json_of(disturbed.data)["assumed"]["rows"][0]["times_best_cpu"].is_null());
  EXPECT_THAT(disturbed.sentence, Not(HasSubstr("worth it")));
}

TEST(AssumedLedger, GivesWayToWhatWasMeasuredOnTheCard) {
  ComparisonResult result = sample_result();
  result.rows.push_back(timed_row("cuda", 1, 1e-6));
  result.rows.back().device = DeviceKind::cuda;
  result.context.emplace_back("gpu_name", "NVIDIA Toy GPU");
  LabReport report;
  append_assumed_ledger(report, toy(), result);
  EXPECT_THAT(report.text, Not(HasSubstr("(assumed toy)")));
  EXPECT_THAT(report.sentence, HasSubstr("lie within the assumed span"));
}

TEST(AssumedWays, ArithmeticInFloat64CountsWhereACardHasLittleOfIt) {
  ordered_json json = plain_card();
  for (const char* end : {"low", "high"}) {
    json["figures"]["float64_tflops"][end] = 0.1;
  }
  const auto ways =
      assumed_ways(parse_assumed_card("toy", json.dump()), Dtype::float64, Transfer::pinned);
  const double cells = 4096.0 * 4096.0;
  const Prediction cuda = predict(way_named(ways, "cuda"), {.cells = cells, .iterations = 800});
  EXPECT_NEAR(cuda.steps_seconds / (800 * 6 * cells / 0.05e12), 1, 0.01);
}

TEST(AssumedWays, HaveTheirEndsInOrder) {
  for (const std::string& name : assumed_card_names()) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      for (const AssumedWay& way : assumed_ways(find_assumed_card(name), dtype, Transfer::pinned)) {
        for (const double side : {3.0, 100.0, 640.0, 3000.0, 50000.0, 200000.0}) {
          const RunShape run{.cells = side * side, .iterations = 100, .snapshot_every = 7};
          const Prediction fast = predict(way.fast, run), slow = predict(way.slow, run);
          EXPECT_LT(fast.warm_seconds, slow.warm_seconds) << name << side;
          EXPECT_LT(fast.cold_seconds, slow.cold_seconds) << name << side;
          EXPECT_LT(slow.warm_seconds, slow.cold_seconds) << name << side;
          EXPECT_TRUE(std::isfinite(slow.cold_seconds)) << name << side;
        }
      }
    }
  }
}

/// 1 ns a cell and step, no copies.
WayCost cpu_way(std::string backend, DeviceKind device) {
  WayCost way{.backend = std::move(backend), .device = device, .dtype = "float32", .grids = {}};
  for (const std::int64_t side : {64, 4096}) {
    const auto cells = static_cast<double>(side * side);
    way.grids.push_back({.side = side, .steps = {{1, 1e-9 * cells}, {1000, 1e-6 * cells}}});
  }
  return way;
}

/// Spans of an object or list, at any depth.
int expect_ordered_spans(const ordered_json& json, const std::string& where) {
  int spans = 0;
  if (json.is_object() && json.contains("low") && json["low"].is_number()) {
    ++spans;
    if (json["high"].is_number()) {
      EXPECT_LE(json["low"].get<double>(), json["high"].get<double>()) << where << json;
    }
  }
  for (const auto& item : json.items()) {
    if (item.value().is_structured()) {
      spans += expect_ordered_spans(item.value(), where + " " + item.key());
    }
  }
  return spans;
}

/// Parts of a run, too: with quicker launches more of it may be launches.
TEST(AssumedReport, HasTheSmallerEndFirstInEverySpan) {
  const std::vector cpu{cpu_way("fused", DeviceKind::cpu)};
  CostProfile profile;
  profile.ways = cpu;
  for (const std::string& name : assumed_card_names()) {
    const AssumedCard card = find_assumed_card(name);
    for (const std::int64_t side : {16, 100, 640, 1000, 3000, 8192}) {
      ComparisonResult result = sample_result();
      result.problem.nx = result.problem.ny = side;
      LabReport ledger;
      append_assumed_ledger(ledger, card, result);
      const std::string where = name + " " + std::to_string(side);
      EXPECT_EQ(expect_ordered_spans(json_of(ledger.data), where + " ledger"), 5 * 11);
      for (const double copies : {0.0, 0.02, 2.0}) {
        const RunShape run{.cells = static_cast<double>(side * side),
                           .iterations = 1000,
                           .copies_per_step = copies};
        LabReport advice;
        advice.data = {{"results", Value::list()}};
        append_assumed(advice, assume_advice(card, cpu, stencil_work(Dtype::float32), run),
                       advise(cpu, run), profile);
        EXPECT_GT(expect_ordered_spans(json_of(advice.data), where + " advice"), 10);
      }
    }
  }
}

/// docs/gpu.md: 0.31 to 0.55 us a step at 640x640; 1230 to 4100 GCell/s at 16384x16384, the most
/// where strips are long.
TEST(AssumedWays, OfAnH200HoldWhatTheMachineCodeSays) {
  const auto ways = assumed_ways(find_assumed_card("h200"), Dtype::float32, Transfer::pinned);
  const AssumedWay& cuda = ways.back();
  auto step = [&](const WayCost& way, double side) {
    return predict(way, {.cells = side * side, .iterations = 10000}).steps_seconds / 10000;
  };
  EXPECT_LT(step(cuda.fast, 640), 0.31e-6);
  EXPECT_GT(step(cuda.slow, 640), 0.55e-6);
  EXPECT_GT(16384.0 * 16384 / step(cuda.fast, 16384), 4100e9);
  EXPECT_LT(16384.0 * 16384 / step(cuda.slow, 16384), 1230e9);
}

// --- words ---------------------------------------------------------------------------------------

TEST(AssumedReport, SaysWhetherItFitsAndIsWorthIt) {
  AssumedCard card = toy();
  card.memory = {1e9, 2e9};
  auto fit = [&](std::int64_t side) { return fits(card, {.nx = side, .ny = side}); };
  EXPECT_EQ(fit(10000), "yes"); // 800 MB
  EXPECT_EQ(fit(14000), "perhaps");
  EXPECT_EQ(fit(20000), "no");
  EXPECT_EQ(fit(1'000'000'000), "no");
  EXPECT_THAT(worth_text({2, 9}, "simd"),
              HasSubstr("2 to 9 times as fast as simd: not worth it by the rule of 10"));
  EXPECT_THAT(worth_text({12, 30}, "simd"), HasSubstr("12 to 30 times as fast as simd: worth it"));
  EXPECT_THAT(worth_text({9, 30}, "simd"),
              HasSubstr(": worth it at best, not worth it at worst by the rule"));
  EXPECT_THAT(worth_text({0.25, 0.5}, "simd"), HasSubstr("2 to 4 times as slow as simd: not"));
  EXPECT_THAT(worth_text({0.5, 3}, "simd"),
              HasSubstr("between 2 times as slow and 3 times as fast"));
  EXPECT_TRUE(worth_json({9, 30}).is_null());
  EXPECT_EQ(as_seconds_span(span_json(Assumption{1.2e-6, 3.4e-6})), "1.20 to 3.40 us");
  EXPECT_EQ(as_seconds_span(span_json(Assumption{900e-9, 1.2e-6})), "900 ns to 1.20 us");
  EXPECT_EQ(as_seconds_span(span_json(Assumption{1e-6, 1e-6})), "1.00 us");
}

TEST(AssumedReport, ErrorsAreCountedFromTheSpan) {
  auto error = [](double measured) {
    return AssumptionCheck{.row = "cuda", .what = "warm", .assumed = {1, 2}, .measured = measured}
        .error();
  };
  EXPECT_EQ(error(1), 0);
  EXPECT_EQ(error(2), 0);
  EXPECT_DOUBLE_EQ(error(0.5), 1);
  EXPECT_DOUBLE_EQ(error(4), -0.5);
}

LabReport advice_with(const std::vector<WayCost>& ways, const std::string& gpu) {
  const CostProfile profile{
      .ways = ways, .transfer = "pinned", .machine = "Toy", .gpu = gpu, .date = "", .foreign = ""};
  Problem problem;
  problem.nx = problem.ny = 1024;
  const RunShape run{.cells = 1024.0 * 1024, .iterations = 1000};
  const Advice advice = advise(ways, run);
  LabReport report = advice_report(advice, profile, problem);
  append_assumed(report, assume_advice(toy(), ways, stencil_work(problem.dtype), run), advice,
                 profile);
  return report;
}

TEST(AssumedAdvice, IsMarkedInEveryLine) {
  const LabReport report = advice_with({cpu_way("fused", DeviceKind::cpu)}, "none");
  EXPECT_THAT(report.text, HasSubstr("ASSUMED, NOT MEASURED: Toy\n"));
  EXPECT_THAT(report.text, HasSubstr("\ncuda_graph (assumed toy) "));
  EXPECT_THAT(report.sentence, HasSubstr("Assumed, not measured (toy): two fields take 8 MiB of "
                                         "its 1 GiB: they fit. A warm run would take "));
  EXPECT_THAT(report.sentence, HasSubstr("as fast as fused by the profile: worth it by the rule"));
  EXPECT_THAT(report.sentence, HasSubstr("The GPU would pay from "));
  const ordered_json json = json_of(report.data);
  EXPECT_EQ(json["ways"].size(), 1U); // the measured ones stay among themselves
  EXPECT_EQ(json["assumed"]["rows"].size(), 3U);
  for (const ordered_json& row : json["assumed"]["rows"]) {
    EXPECT_EQ(row["assumed"], "toy");
  }
  EXPECT_EQ(json["assumed"]["answers"]["worth_it"], true);
  // In CSV, the line of the profile has no mark and no span, and the assumed ones no bare time.
  const ordered_json rows = json_of(*report.rows);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_FALSE(rows[0].contains("assumed"));
  EXPECT_TRUE(rows[0]["warm_seconds"].is_number());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["assumed"], "toy");
    EXPECT_TRUE(rows[i]["warm_seconds"].contains("high"));
  }
}

TEST(AssumedAdvice, GivesWayToARecordedProfileOfTheCard) {
  const std::vector ways{cpu_way("fused", DeviceKind::cpu),
                         cpu_way("cuda_graph", DeviceKind::cuda)};
  const LabReport other = advice_with(ways, "NVIDIA Another GPU");
  EXPECT_THAT(other.text, HasSubstr("cuda_graph (assumed toy)"));
  const LabReport report = advice_with(ways, "NVIDIA Toy GPU 80GB");
  EXPECT_THAT(report.text, Not(HasSubstr("(assumed toy)")));
  EXPECT_THAT(report.sentence, HasSubstr("0 of 2 lie within the assumed span, the worst is "));
  const ordered_json json = json_of(report.data);
  EXPECT_FALSE(json["assumed"].contains("rows"));
  const ordered_json warm = json["assumed"]["checks"][0];
  EXPECT_EQ(warm["run"], "warm");
  EXPECT_NEAR(warm["error"], warm["assumed_seconds"]["high"].get<double>() / (1.048576) - 1, 1e-3);
  EXPECT_EQ(json_of(*report.rows).size(), 2U);
}

TEST(AssumedResidency, HasTheRungsOfAGpu) {
  const ComparisonResult result = sample_result(); // the best row takes 1 ms a step
  ResidencyPlan plan;
  plan.run.problem = result.problem;
  plan.run.iterations = 100;
  plan.trips_every = {1, 10};
  LabReport report;
  report.data = {{"results", Value::list()}};
  append_assumed(report, toy(), plan, result);
  EXPECT_THAT(report.text, HasSubstr("\ncuda_stream, round trip every 1, pageable (assumed toy) "));
  EXPECT_THAT(report.text, HasSubstr("\ncuda_stream, overlapped snapshot every 100 (assumed toy)"));
  EXPECT_THAT(report.sentence, HasSubstr("cuda_stream, round trip every 1, pageable would take "));
  const ordered_json rows = json_of(report.data)["assumed"]["rows"];
  ASSERT_EQ(rows.size(), 8U);
  // Two copies of 4 MB by 10 GB/s, 8 MB by 100 GB/s, launch, wait, calls of copies.
  const double naive = 2 * 400e-6 + 80e-6 + 12e-6 + 10e-6;
  EXPECT_NEAR(rows[0]["seconds_per_step"]["low"].get<double>() / naive, 1, 0.01);
  EXPECT_NEAR(rows[0]["times_best_cpu"]["high"].get<double>(), 1e-3 / naive, 0.02);
}

ComparisonResult with_gpu(const std::string& name, const std::string& gpu) {
  ComparisonResult result = sample_result();
  result.rows.push_back(timed_row(name, 1, 1e-6));
  result.rows.back().device = DeviceKind::cuda;
  result.context.emplace_back("gpu_name", gpu);
  return result;
}

TEST(AssumedResidency, GivesWayToWhatWasMeasuredOnTheCard) {
  ResidencyPlan plan;
  plan.run.iterations = 100;
  LabReport report;
  report.data = {{"results", Value::list()}};
  append_assumed(report, toy(), plan, with_gpu("cuda_graph", "NVIDIA Toy GPU"));
  EXPECT_THAT(report.text, HasSubstr("cuda_graph"));
  EXPECT_THAT(report.text, Not(HasSubstr("(assumed toy)")));
  EXPECT_THAT(report.sentence, HasSubstr("0 of 1 lie within the assumed span"));
}

TEST(AssumedScaling, AnswersWhetherItIsTenTimesAsFast) {
  ScalingStudy study;
  study.frame = sample_result();
  LabReport report;
  report.data = {{"results", Value::list()}};
  append_assumed(report, toy(), study);
  EXPECT_THAT(report.text, HasSubstr("\ncuda (assumed toy) "));
  EXPECT_THAT(report.sentence, HasSubstr("times as fast as the best of the threads: "));
  const ordered_json json = json_of(report.data)["assumed"];
  EXPECT_EQ(json["rows"][0]["assumed"], "toy");
  const double warm = json["rows"][0]["warm_seconds"]["low"];
  EXPECT_NEAR(json["times_as_fast"]["high"].get<double>(), 100 * 1e-3 / warm, 1e-6);

  study.frame = with_gpu("cuda", "NVIDIA Toy GPU");
  study.gpu = study.frame.rows.back();
  LabReport measured;
  append_assumed(measured, toy(), study);
  EXPECT_THAT(measured.text, Not(HasSubstr("(assumed toy)")));
  EXPECT_THAT(measured.sentence, HasSubstr("0 of 1 lie within the assumed span"));
}

TEST(AssumedReport, KnowsItsCardByWholeWords) {
  AssumedCard card;
  card.reported_as = "H200";
  EXPECT_TRUE(is_such(card, "NVIDIA H200"));
  EXPECT_TRUE(is_such(card, "NVIDIA GH200, H200 NVL"));
  EXPECT_FALSE(is_such(card, "NVIDIA GH200 480GB"));
  EXPECT_FALSE(is_such(card, ""));
  card.reported_as = "T4";
  EXPECT_TRUE(is_such(card, "Tesla T4"));
  EXPECT_FALSE(is_such(card, "NVIDIA T400 4GB"));
}

} // namespace
} // namespace diffbench::bench
