// SPDX-License-Identifier: Apache-2.0
// Assumed cards: how they are read, what the model makes of them, and what the verbs say of them.
#include "assumed_report.hpp"
#include "json.hpp"

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

// --- what the verbs say --------------------------------------------------------------------------

TEST(AssumedReport, SaysWhetherItFitsAndIsWorthIt) {
  AssumedCard card = toy();
  card.memory = {1e9, 2e9};
  EXPECT_EQ(fits(card, 0.8e9), "yes");
  EXPECT_EQ(fits(card, 1.5e9), "perhaps");
  EXPECT_EQ(fits(card, 1e18), "no");
  EXPECT_EQ(pace_text({2, 9}), "2 to 9 times as fast");
  EXPECT_EQ(pace_text({0.25, 0.5}), "2 to 4 times as slow");
  EXPECT_EQ(pace_text({0.5, 3}), "between 2 times as slow and 3 times as fast");
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

LabReport assumed_of(const ComparisonResult& measured, double rival_step, bool ledger = false) {
  AssumedRuns assumed{.card = toy(), .runs = {}, .bytes = 8e6, .ledger = ledger};
  for (const char* backend : {"cuda_stream", "cuda"}) {
    assumed.runs.push_back(assume(assumed.card, backend,
                                  {.backend = backend, .cells = 1e6, .steps = 1000},
                                  stencil_work(Dtype::float32)));
  }
  if (rival_step > 0) {
    assumed.rival = Rival{"simd", rival_step};
  }
  LabReport report;
  report.rows = Value::list();
  append_assumed(report, assumed, measured);
  return report;
}

TEST(AssumedReport, IsMarkedInEveryLine) {
  const LabReport report = assumed_of(sample_result(), 2e-4, true);
  EXPECT_THAT(report.text, HasSubstr("ASSUMED, NOT MEASURED: Toy\n"));
  EXPECT_THAT(report.text, HasSubstr("\ncuda_stream (assumed toy) "));
  EXPECT_THAT(report.text, HasSubstr("\ncontext (assumed toy) "));
  EXPECT_THAT(report.sentence, HasSubstr("Assumed, not measured (toy): kept on the card: 14 to 19 "
                                         "times as fast as the CPU. Two fields take 7.63 MiB of "
                                         "its 1 GiB: they fit. cuda_stream would take "));
  EXPECT_THAT(report.sentence, HasSubstr(" times as fast as simd: worth it by the rule of 10"));
  EXPECT_THAT(report.sentence, HasSubstr(" of a warm run."));
  const ordered_json json = json_of(report.data)["assumed"];
  EXPECT_EQ(json["worth_it"], true);
  EXPECT_EQ(json["best"], "cuda");
  for (const ordered_json& row : json["rows"]) {
    EXPECT_EQ(row["assumed"], "toy");
    EXPECT_TRUE(row["times_best_cpu"].is_object());
    double sum = 0;
    for (const ordered_json& part : row["parts"]) {
      sum += part["seconds"]["high"].get<double>();
    }
    EXPECT_NEAR(sum, row["cold_seconds"]["high"].get<double>(), 1e-9);
  }
  const LabReport alone = assumed_of(sample_result(), 0);
  EXPECT_TRUE(json_of(alone.data)["assumed"]["rows"][0]["times_best_cpu"].is_null());
  EXPECT_THAT(alone.sentence, Not(HasSubstr("worth it")));
  EXPECT_THAT(assumed_of(sample_result(), 2e-6).sentence, HasSubstr("not worth it"));
}

/// A pageable run is held against the figures of pageable copies.
TEST(AssumedReport, GivesWayToWhatWasMeasuredOnTheCardAsItWasMeasured) {
  ComparisonResult result = sample_result();
  result.rows.push_back(timed_row("cuda", 1, 1e-6));
  Row& row = result.rows.back();
  row.device = DeviceKind::cuda;
  row.kernel = "cuda";
  result.context.emplace_back("gpu_name", "NVIDIA Toy GPU");
  for (const Transfer transfer : {Transfer::pageable, Transfer::pinned}) {
    row.transfer = transfer;
    const Bill bill = bill_of(toy(),
                              {.backend = "cuda",
                               .cells = static_cast<double>(result.problem.cells()),
                               .steps = static_cast<double>(result.iterations),
                               .locked = transfer == Transfer::pinned},
                              stencil_work(result.problem.dtype));
    row.warm.emplace().wall = bill.warm.low;
    const LabReport report = assumed_of(result, 2e-4);
    EXPECT_THAT(report.text, Not(HasSubstr("(assumed toy)")));
    const ordered_json checks = json_of(report.data)["assumed"]["checks"];
    ASSERT_EQ(checks.size(), 3U); // step, warm, cold
    EXPECT_EQ(checks[1]["run"], "warm");
    EXPECT_EQ(checks[1]["error"], 0) << to_string(transfer);
    row.warm->wall = 2 * bill.warm.high;
    EXPECT_DOUBLE_EQ(
        json_of(assumed_of(result, 2e-4).data)["assumed"]["checks"][1]["error"].get<double>(),
        -0.5);
  }
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
