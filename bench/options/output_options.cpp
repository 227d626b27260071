// Options of what is shown and kept.
#include "option_groups.hpp"
#include "output.hpp"

#include <cmath>

namespace diffbench::bench {

namespace {

ColourRange parse_range(std::string_view option, std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto low = parse_number<double>(text.substr(0, colon));
  const auto high =
      colon == std::string_view::npos ? std::nullopt : parse_number<double>(text.substr(colon + 1));
  if (!low || !high || !std::isfinite(*low) || !std::isfinite(*high) || !(*low < *high)) {
    throw InvalidInput(
        fmt::format("{} {}: give LO:HI with LO < HI, such as 0:0.005", option, text));
  }
  return {.low = *low, .high = *high};
}

} // namespace

void declare_files(OptionList& options, std::string& json, std::string& csv,
                   std::string& markdown) {
  options.group("Output");
  options.text("--json FILE|-", json, "results as JSON; - is stdout, and nothing else is then");
  options.text("--csv FILE|-", csv, "results as CSV");
  options.text("--export-markdown FILE|-", markdown, "what is printed, its tables as Markdown");
}

void declare_results(OptionList& options, std::string& json, std::string& csv,
                     std::string& markdown, std::string& report, bool& progress) {
  declare_files(options, json, csv, markdown);
  options.text("--report FILE.html", report, "results as a page of pictures");
  options.flag("--no-progress", progress, "no progress bar", false);
}

void declare_output(OptionList& options, Options& run) {
  RecordOptions& record = run.record;
  run.bars = true;
  record.snapshot_dir = "snapshots";
  declare_results(options, run.json, run.csv, run.markdown, run.report, run.progress);
  options.text("--trace FILE", run.trace, "timeline of the run, to be opened with ui.perfetto.dev");
  options.flag("--telemetry", run.telemetry,
               "energy, power, clocks and utilization while each row is timed");
  options.text("--save FILE.npy", record.save, "the final field");
  options.text("--png FILE.png", record.png, "picture of the final field");
  options.value("--range LO:HI", "values drawn in the first and last colour",
                [&record](std::string_view option, const std::string& text) {
                  record.range = parse_range(option, text);
                });
  options.integer("--snapshot-every K", record.snapshot_every, iteration_limits,
                  "keep the field every K iterations");
  options.text("--snapshot-dir DIR", record.snapshot_dir, "where");
  options.value("--snapshot-format NAME", "npy (default) or png",
                [&record](std::string_view option, const std::string& name) {
                  if (name != "npy" && name != "png") {
                    throw InvalidInput(fmt::format("{} {}: choose of npy, png", option, name));
                  }
                  record.snapshot_format =
                      name == "npy" ? SnapshotFormat::npy : SnapshotFormat::png;
                });
  options.choices({"npy", "png"});
  options.flag("--no-plot", run.bars, "no bars below the tables on a terminal", false);
  options.check([&] {
    if (record.snapshot_every == 0 &&
        (options.given("--snapshot-dir") || options.given("--snapshot-format"))) {
      throw InvalidInput("snapshots are kept only with --snapshot-every K");
    }
    refuse_equal_paths(
        {run.json, run.csv, run.markdown, run.report, run.trace, record.save, record.png});
  });
}

void declare_comparison(OptionList& options, Options& run) {
  declare_problem(options, run);
  declare_run(options, run, "all that the run may take; without it, time for the timing rounds");
  options.check([&] { run.budget_binds = options.given("--budget"); });
  declare_gpu(options, run, GpuUse::snapshots);
  declare_ranks(options, run.many);
  declare_output(options, run);
}

} // namespace diffbench::bench
