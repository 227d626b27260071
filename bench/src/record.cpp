#include "record.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/npy.hpp"
#include "diffbench/picture.hpp"
#include "digest.hpp"
#include "interrupt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace diffbench::bench {

namespace {

template <typename T>
void write_snapshot(const RecordOptions& options, std::int64_t step, const Field<T>& field,
                    const ColourRange& range) {
  const std::filesystem::path directory = options.snapshot_dir;
  if (options.snapshot_format == SnapshotFormat::npy) {
    write_npy(directory / fmt::format("step_{:09}.npy", step), field);
  } else {
    write_png(directory / fmt::format("step_{:09}.png", step), field, range);
  }
}

template <typename T>
void record_run(const Options& options, const BackendInfo& backend, const FieldFacts& expected,
                Progress& progress) {
  const Problem& problem = options.problem;
  const RecordOptions& record = options.record;
  const std::int64_t last = options.iterations;
  const std::int64_t every = record.snapshot_every > 0 ? record.snapshot_every : last;

  Field<T> field(problem.nx, problem.ny);
  fill_initial(problem, options.initial, field);
  // All pictures of a run in the same colours: those of the initial field, whose range the
  // maximum principle keeps.
  const Summary initial = summarize(std::as_const(field).cells());
  const ColourRange range = record.range.value_or(
      initial.min < initial.max ? ColourRange{initial.min, initial.max} : ColourRange{});
  if (record.snapshot_every > 0) {
    std::filesystem::create_directories(record.snapshot_dir);
    write_snapshot(record, 0, field, range);
  }
  const auto session = backend.make<T>()(problem, options.session);
  session->upload(field.cells());
  for (std::int64_t step = 0; step < last;) {
    if (interrupted()) {
      throw Interrupted();
    }
    const std::int64_t count = std::min(every, last - step);
    session->advance(count);
    step += count;
    session->download(field.cells());
    if (record.snapshot_every > 0) {
      write_snapshot(record, step, field, range);
    }
    progress.update(static_cast<double>(step) / static_cast<double>(last));
  }
  if (sha256_of_cells(std::as_const(field).cells()) != expected.sha256) {
    throw Error(
        fmt::format("the recorded run of {} differs from the reference after {} steps; "
                    "nothing was saved",
                    backend.name, last));
  }
  if (!record.save.empty()) {
    write_npy(record.save, field);
  }
  if (!record.png.empty()) {
    write_png(record.png, field, record.range);
  }
}

} // namespace

void record(const Options& options, const ComparisonResult& result,
            std::span<const Candidate> candidates, Progress& progress) {
  const Row* row = fastest(result, [](const Row& candidate) { return !candidate.is_peer; });
  if (row == nullptr || !result.field || result.field->steps != options.iterations) {
    throw Error("no field was saved: no backend has a verified result after all steps");
  }
  const auto candidate =
      std::find_if(candidates.begin(), candidates.end(),
                   [&](const Candidate& c) { return c.backend.name == row->name; });
  progress.stage("recording");
  if (options.problem.dtype == Dtype::float32) {
    record_run<float>(options, candidate->backend, *result.field, progress);
  } else {
    record_run<double>(options, candidate->backend, *result.field, progress);
  }
}

} // namespace diffbench::bench
