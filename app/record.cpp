// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/npy.hpp"
#include "diffbench/stopwatch.hpp"
#include "diffbench/with_dtype.hpp"
#include "digest.hpp"
#include "interrupt.hpp"
#include "interruptible_session.hpp"
#include "timing.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <utility>

namespace diffbench::bench {

namespace {

template <typename T>
void write_snapshot(const RecordPlan& record, std::int64_t step, const Field<T>& field,
                    const ColourRange& range) {
  const std::filesystem::path directory = record.snapshot_dir;
  if (record.snapshot_format == SnapshotFormat::npy) {
    write_npy(directory / fmt::format("step_{:09}.npy", step), field);
  } else {
    write_png(directory / fmt::format("step_{:09}.png", step), field, range);
  }
}

/// Takes the session through all steps in stretches of `every`, and gives the field after each to
/// `keep(step, field)`. `field` is the initial one before and the final one after.
template <typename T, typename Keep>
void run_in_turns(Session<T>& session, Field<T>& field, std::int64_t last, std::int64_t every,
                  Keep keep) {
  session.upload(field.cells());
  for (std::int64_t step = 0; step < last;) {
    const std::int64_t count = std::min(every, last - step);
    session.advance(count);
    step += count;
    session.download(field.cells());
    keep(step, field);
  }
}

/// The same with everything side by side: while the device computes a stretch, the state before it
/// travels to the session's page-locked buffer, and the state before that is kept from a field.
template <typename T, typename Keep>
void run_overlapped(Session<T>& session, Field<T>& field, std::int64_t last, std::int64_t every,
                    Keep keep) {
  Field<T> other(field.nx(), field.ny());
  std::array<Field<T>*, 2> buffers{&field, &other};
  session.upload(field.cells());
  std::int64_t step = std::min(every, last); // issued so far
  std::int64_t waiting = 0;                  // step whose state is in buffers[1], still to be kept
  session.advance(step);
  while (step > waiting) {
    const std::span<T> target = session.host_buffer();
    session.start_download(target);
    const std::int64_t count = std::min(every, last - step); // 0 in the last turn
    session.advance(count);
    if (waiting > 0) {
      keep(waiting, *buffers[1]);
    }
    session.wait();
    copy_cells(target, buffers[0]->cells());
    std::swap(buffers[0], buffers[1]);
    waiting = step;
    step += count;
  }
  keep(waiting, *buffers[1]);
  if (buffers[1] != &field) {
    copy_cells(other.cells(), field.cells());
  }
}

template <typename T>
Recording record_run(const RecordPlan& record, const RunPlan& run, const PlannedRow& planned,
                     const FieldFacts& expected, Progress& progress) {
  const BackendInfo& backend = planned.backend;
  const Problem& problem = run.problem;
  const std::int64_t last = run.iterations;
  const std::int64_t every = record.snapshot_every > 0 ? record.snapshot_every : last;

  Field<T> field(problem.nx, problem.ny);
  fill_initial(problem, run.initial, field);
  // All pictures of a run in the same colours: those of the initial field, whose range the
  // maximum principle keeps.
  const Summary initial = summarize(std::as_const(field).cells());
  const ColourRange range = record.range.value_or(
      initial.min < initial.max ? ColourRange{initial.min, initial.max} : ColourRange{});
  Recording recording{.backend = std::string(backend.name)};
  if (record.snapshot_every > 0) {
    std::filesystem::create_directories(record.snapshot_dir);
    write_snapshot(record, 0, field, range);
    recording.snapshots = 1;
  }
  auto keep = [&](std::int64_t step, const Field<T>& state) {
    if (interrupted()) {
      throw Interrupted();
    }
    if (record.snapshot_every > 0) {
      write_snapshot(record, step, state, range);
      ++recording.snapshots;
    }
    progress.update(static_cast<double>(step) / static_cast<double>(last));
  };
  SessionOptions session_options = planned.session;
  session_options.async =
      record.async && record.snapshot_every > 0 && backend.device != DeviceKind::cpu;
  const std::unique_ptr<Session<T>> session =
      std::make_unique<InterruptibleSession<T>>(backend.make<T>()(problem, session_options));
  // Copies from pageable memory hold up the host, so nothing would overlap.
  recording.async = session_options.async && !session->host_buffer().empty();
  recording.needs_pinned = session_options.async && !recording.async;
  const Stopwatch watch;
  if (recording.async) {
    run_overlapped(*session, field, last, every, keep);
  } else {
    run_in_turns(*session, field, last, every, keep);
  }
  if (backend.device != DeviceKind::emulated) {
    recording.seconds = watch.seconds();
  }

  if (sha256_of_cells(std::as_const(field).cells()) != expected.sha256) {
    throw Error(
        fmt::format("the recorded run of {} differs from the reference after {} steps; its final "
                    "field was not saved; do not trust its snapshots",
                    backend.name, last));
  }
  if (!record.save.empty()) {
    write_npy(record.save, field);
  }
  if (!record.png.empty()) {
    write_png(record.png, field, record.range);
  }
  return recording;
}

/// The fastest backend, else one that is proved right and has no time (an emulated one).
const Row* choose_row(const ComparisonResult& result) {
  auto is_backend = [](const Row& row) {
    return !row.is_peer && row.roundtrip_every == 0 && row.verified() && row.verification->bitwise;
  };
  if (const Row* row = fastest(result, is_backend)) {
    return row;
  }
  for (const Row& row : result.rows) {
    if (is_backend(row) && row.status == Status::ok) {
      return &row;
    }
  }
  return nullptr;
}

} // namespace

Recording record(const RecordPlan& record, const RunPlan& run, const ComparisonResult& result,
                 std::span<const PlannedRow> planned_rows, Progress& progress) {
  const Row* row = choose_row(result);
  if (row == nullptr || !result.field || result.field->steps != run.iterations) {
    throw Error("no field was saved: no backend has a verified result after all steps");
  }
  const auto planned = std::ranges::find_if(
      planned_rows, [&](const PlannedRow& c) { return c.row_name() == row->name; });
  progress.stage("recording");
  return with_dtype(run.problem.dtype, [&]<typename T>(T) {
    return record_run<T>(record, run, *planned, *result.field, progress);
  });
}

std::string format_recording(const Recording& recording) {
  std::string text = fmt::format("recorded: run of {}", recording.backend);
  if (recording.snapshots > 0) {
    text +=
        fmt::format(" with {} snapshots, {}{}", recording.snapshots,
                    recording.async ? "copies during the computation" : "copies between the steps",
                    recording.needs_pinned ? " (--async needs page-locked memory: --pinned)" : "");
  }
  return text + (recording.seconds > 0 ? fmt::format(", {}", format_seconds(recording.seconds))
                                       : ", not timed");
}

} // namespace diffbench::bench
