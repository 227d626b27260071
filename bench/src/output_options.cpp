// Options of what is shown and kept.
#include "option_groups.hpp"
#include "option_values.hpp"
#include "output.hpp"

#include <cmath>

namespace diffbench::bench {

namespace {

ColourRange parse_range(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto low = parse_number<double>(text.substr(0, colon));
  const auto high =
      colon == std::string_view::npos ? std::nullopt : parse_number<double>(text.substr(colon + 1));
  if (!low || !high || !std::isfinite(*low) || !std::isfinite(*high) || !(*low < *high)) {
    throw InvalidInput(fmt::format("--range {}: give LO:HI with LO < HI, such as 0:0.005", text));
  }
  return {.low = *low, .high = *high};
}

SnapshotFormat parse_snapshot_format(std::string_view name) {
  if (name == "npy") {
    return SnapshotFormat::npy;
  }
  if (name == "png") {
    return SnapshotFormat::png;
  }
  throw InvalidInput(fmt::format("--snapshot-format {}: choose of npy, png", name));
}

} // namespace

void OutputGroup::declare(CLI::App& app) {
  begin_group(app, "Output");
  declare_value(app, "--json", json, "FILE|-",
                "results as JSON; - is stdout, and nothing else is then");
  declare_value(app, "--csv", csv, "FILE|-", "results as CSV");
  declare_value(app, "--report", report, "FILE.html", "results as a page of pictures");
  declare_value(app, "--trace", trace, "FILE",
                "timeline of the run, to be opened with ui.perfetto.dev");
  declare_flag(app, "--telemetry", telemetry,
               "energy, power, clocks and utilization while each row is timed");
  declare_value(app, "--save", save, "FILE.npy", "the final field");
  declare_value(app, "--png", png, "FILE.png", "picture of the final field");
  declare_value(app, "--range", range, "LO:HI", "values drawn in the first and last colour");
  declare_value(app, "--snapshot-every", snapshot_every, "K", "keep the field every K steps");
  declare_value(app, "--snapshot-dir", snapshot_dir, "DIR", "where (default: snapshots)");
  declare_value(app, "--snapshot-format", snapshot_format, "NAME", "npy (default) or png");
  declare_flag(app, "--no-plot", no_plot, "no bars below the tables on a terminal");
  declare_flag(app, "--no-progress", no_progress, "no progress bar");
}

void OutputGroup::read(Options& options) const {
  RecordOptions& record = options.record;
  record.save = save;
  record.png = png;
  if (!range.empty()) {
    record.range = parse_range(range);
  }
  assign_integer("--snapshot-every", snapshot_every, 1, max_iterations, record.snapshot_every);
  record.snapshot_dir = snapshot_dir.empty() ? "snapshots" : snapshot_dir;
  if (!snapshot_format.empty()) {
    record.snapshot_format = parse_snapshot_format(snapshot_format);
  }
  if (record.snapshot_every == 0 && !(snapshot_dir + snapshot_format).empty()) {
    throw InvalidInput("snapshots are kept only with --snapshot-every K");
  }
  options.json = json;
  options.csv = csv;
  options.report = report;
  options.trace = trace;
  options.telemetry = telemetry;
  options.progress = !no_progress;
  options.bars = !no_plot;
  refuse_equal_paths({options.json, options.csv, options.report, options.trace, options.record.save,
                      options.record.png});
}

} // namespace diffbench::bench
