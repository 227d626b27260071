// SPDX-License-Identifier: Apache-2.0
#include "comparison_options.hpp"

#include "assumed_report.hpp"
#include "option_groups.hpp"
#include "output.hpp"

#include <cmath>
#include <string_view>

namespace diffbench::bench {

namespace {

ColourRange parse_range(std::string_view option, std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto number = [](std::string_view part) {
    return parse_number<double>(part).value_or(std::nan(""));
  };
  const double low = number(text.substr(0, colon));
  const double high = number(colon == std::string_view::npos ? "" : text.substr(colon + 1));
  if (!(std::isfinite(low) && std::isfinite(high) && low < high)) {
    throw InvalidInput(
        fmt::format("{} {}: give LO:HI with LO < HI, such as 0:0.005", option, text));
  }
  return {.low = low, .high = high};
}

void declare_record(OptionList& options, RecordPlan& record) {
  options.output("--save FILE.npy", record.save, kind_of_output::field, "the final field");
  options.output("--png FILE.png", record.png, kind_of_output::picture,
                 "picture of the final field");
  options.value("--range LO:HI", "values drawn in the first and last colour",
                [&record](std::string_view option, const std::string& text) {
                  record.range = parse_range(option, text);
                });
  options.integer("--snapshot-every K", record.snapshot_every, iteration_limits,
                  "save the field every K iterations");
  options.text("--snapshot-dir DIR", record.snapshot_dir, "where");
  options.value("--snapshot-format NAME", "npy (default) or png",
                [&record](std::string_view option, const std::string& name) {
                  if (name != "npy" && name != "png") {
                    throw InvalidInput(fmt::format("{} {}: choose npy or png", option, name));
                  }
                  record.snapshot_format =
                      name == "npy" ? SnapshotFormat::npy : SnapshotFormat::png;
                });
  options.choices({"npy", "png"});
  options.needs("--range", "--png FILE.png or --snapshot-format png", [&record] {
    return !record.png.empty() ||
           (record.snapshot_every > 0 && record.snapshot_format == SnapshotFormat::png);
  });
  options.check([&] {
    if (record.snapshot_every == 0 &&
        (options.given("--snapshot-dir") || options.given("--snapshot-format"))) {
      throw InvalidInput("snapshots are saved only with --snapshot-every K");
    }
  });
}

/// What is shown and kept.
void declare_output(OptionList& options, ComparisonOptions& run) {
  run.output.declare(options);
  options.output("--trace FILE", run.observation.trace, kind_of_output::trace,
                 "timeline of the run; open it with ui.perfetto.dev");
  options.flag("--telemetry", run.observation.telemetry,
               "energy, power, clocks and utilization while each row is timed");
  declare_record(options, run.record);
  options.clearing_flag("--no-plot", run.bars, "no bars below the tables on a terminal");
}

} // namespace

void declare_comparison(OptionList& options, ComparisonOptions& run) {
  declare_problem(options, run);
  declare_rows(options, run);
  options.value("--until decided",
                "take samples until the order of the rows is decided, or the budget is spent",
                [&run](std::string_view option, const std::string& text) {
                  if (text != "decided") {
                    throw InvalidInput(fmt::format("{} {}: choose decided", option, text));
                  }
                  run.until_decided = true;
                });
  options.choices({"decided"});
  options.check([&run] {
    if (run.until_decided && run.precision > 0) {
      throw InvalidInput("--until decided and --precision: both say when it ends; give one");
    }
  });
  options.integer(
      "--tolerance ULP", run.tolerance_ulps, {0, 1'000'000},
      "also time rows that differ from the reference by up to so many units in the last place; "
      "they are marked as not verified");
  declare_transfer(options, run.session);
  options.flag("--async", run.record.async, "copy snapshots while the computation goes on");
  options.needs("--async", "--snapshot-every K", [&run] { return run.record.snapshot_every > 0; });
  declare_device_choice(options, run.session, run.device_chosen);
  declare_round_trips(options, run.roundtrip_every);
  options.check([&] { run.gpu_options = options.given_names(gpu_group); });
  options.group("A GPU that is not here");
  declare_assume(options, run.assumed);
  declare_ranks(options, run.many);
  declare_output(options, run);
  options.check([&run] { run.prove_last_step = run.record.wanted(); });
}

} // namespace diffbench::bench
