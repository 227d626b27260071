#include "comparison.hpp"

#include "diffbench/atomic_file.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/field.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "experiment.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "peer.hpp"
#include "progress.hpp"
#include "record.hpp"
#include "report_csv.hpp"
#include "report_json.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>

namespace diffbench::bench {

namespace {

/// Reads an initial field from its file, and lets go of it again: most of what can be wrong with
/// the file shows only then.
template <typename T>
void check_initial_file(const Options& options) {
  Field<T> field(options.problem.nx, options.problem.ny);
  fill_initial(options.problem, options.initial, field);
}

/// Everything that can be refused is refused here, before any work.
void check_before_work(const Options& options, std::span<const Candidate> candidates) {
  for (const auto& [option, path] :
       {std::pair{"--json", options.json}, std::pair{"--csv", options.csv},
        std::pair{"--save", options.record.save}, std::pair{"--png", options.record.png}}) {
    if (!path.empty() && path != stdout_name) {
      check_writable_file(option, path);
    }
  }
  if (options.record.snapshot_every > 0) {
    check_writable_directory("--snapshot-dir", options.record.snapshot_dir);
  }
  check_memory(options, candidates, available_memory());
  if (options.initial.kind == InitialField::Kind::file) {
    if (options.problem.dtype == Dtype::float32) {
      check_initial_file<float>(options);
    } else {
      check_initial_file<double>(options);
    }
  }
  for (const std::string& name : options.peers) {
    if (const Probe probe = probe_peer(name); !probe.available) {
      throw Unavailable(fmt::format("--peer {}: {}", name, probe.reason));
    }
  }
}

void hint_about_pinned(const Options& options, std::ostream& err) {
  const auto& backends = all_backends();
  const bool any_cuda =
      std::any_of(backends.begin(), backends.end(),
                  [](const BackendInfo& backend) { return backend.device == DeviceKind::cuda; });
  if (options.pinned && !any_cuda) {
    err << "diffbench: no CUDA backend is in this build, so --pinned has no effect\n";
  }
}

/// Writes every output that was asked for. One that fails does not keep the others from being
/// written; the first failure is thrown at the end.
void write_results(const Options& options, const ComparisonResult& result, std::ostream& out) {
  std::exception_ptr failure;
  auto attempt = [&](auto&& write) {
    try {
      write();
    } catch (const Error&) {
      if (!failure) {
        failure = std::current_exception();
      }
    }
  };
  auto write_one = [&](const std::string& path, auto format) {
    if (path.empty()) {
      return;
    }
    attempt([&] {
      if (path == stdout_name) {
        write_out(out, format(result));
      } else {
        write_atomically(path, [&](std::ostream& file) { file << format(result); });
      }
    });
  };
  write_one(options.json, format_json);
  write_one(options.csv, format_csv);
  if (options.json != stdout_name && options.csv != stdout_name) {
    attempt([&] { write_out(out, format_report(result)); });
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

bool any_wrong(const ComparisonResult& result) {
  return std::any_of(result.rows.begin(), result.rows.end(),
                     [](const Row& row) { return row.verification && !row.verification->bitwise; });
}

bool any_measured(const ComparisonResult& result) {
  return std::any_of(result.rows.begin(), result.rows.end(),
                     [](const Row& row) { return row.ranked(); });
}

} // namespace

int run_comparison(const Options& options, std::ostream& out, std::ostream& err) {
  return run_comparison(options, select_backends(options.backends), out, err);
}

int run_comparison(const Options& options, std::span<const Candidate> candidates, std::ostream& out,
                   std::ostream& err) {
  check_before_work(options, candidates);
  hint_about_pinned(options, err);
  const InterruptGuard guard;
  Progress progress(err, options.progress && progress_possible());
  const ComparisonResult result = measure(options, candidates, progress);
  progress.clear();
  write_results(options, result, out);
  if (result.interrupted) {
    err << "diffbench: interrupted; what was measured until then is reported\n";
    return exit_interrupted;
  }
  if (options.record.wanted() && any_measured(result)) {
    record(options, result, candidates, progress);
  }
  if (any_wrong(result)) {
    err << "diffbench: a result differs from the reference, see above\n";
    return exit_not_verified;
  }
  if (!any_measured(result)) {
    err << "diffbench: nothing could be measured, see the reasons above\n";
    return exit_error;
  }
  return exit_ok;
}

} // namespace diffbench::bench
