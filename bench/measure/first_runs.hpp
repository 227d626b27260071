// SPDX-License-Identifier: Apache-2.0
// The first runs of the rows: from nothing, each verified against the reference, and repeated where
// that is affordable.
#pragma once

#include "comparison_plan.hpp"
#include "diffbench/field.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/pace.hpp"
#include "diffbench/proof_fields.hpp"
#include "diffbench/stopwatch.hpp"
#include "diffbench/verify.hpp"
#include "digest.hpp"
#include "field_proof.hpp"
#include "interrupt.hpp"
#include "observer.hpp"
#include "phases.hpp"
#include "planning.hpp"
#include "process_memory.hpp"
#include "result.hpp"
#include "statistics.hpp"
#include "timed_solve.hpp"
#include "timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// What the oracle's field is after a number of steps. Computes digests in a field that the caller
/// lends; only the digests are kept, so that no reference field has to be held beside the sessions.
template <typename T>
class Reference {
 public:
  /// `scratch` has the problem's size and holds anything after each call.
  Reference(const Problem& problem, const InitialField& initial, Field<T>& scratch)
      : Reference(problem, scratch,
                  [problem, initial](Field<T>& field) { fill_initial(problem, initial, field); }) {}
  /// From the field that `fill` makes.
  Reference(const Problem& problem, Field<T>& scratch, std::function<void(Field<T>&)> fill)
      : problem_(problem), scratch_(scratch), fill_(std::move(fill)) {}

  /// Advances by `steps`, or by as many as `limit_seconds` afford. `on_progress(fraction)` is
  /// called several times a second. Round numbers of steps on the way, which rows make that cannot
  /// afford all, become known where that costs little. Throws Interrupted.
  template <typename OnProgress>
  const FieldFacts& compute(std::int64_t steps, double limit_seconds, OnProgress on_progress) {
    fill_(scratch_);
    const Stopwatch watch;
    Stopwatch since_kept;
    double keep_seconds = 0;
    std::int64_t done = 0;
    while (done < steps && (done == 0 || watch.seconds() < limit_seconds)) {
      const std::int64_t count = std::min(steps, next_round_number(done)) - done;
      done += advance(scratch_, count, limit_seconds - watch.seconds(), [&](std::int64_t made) {
        on_progress(static_cast<double>(done + made) / static_cast<double>(steps));
      });
      if (since_kept.seconds() > 5 * keep_seconds) {
        const Stopwatch keeping;
        keep(done);
        keep_seconds = keeping.seconds();
        since_kept = {};
      }
    }
    return digests_.contains(done) ? digests_[done] : keep(done);
  }

  /// The field after `steps`, whatever that takes. Throws Interrupted.
  [[nodiscard]] Field<T> field_after(std::int64_t steps) const {
    Field<T> field(problem_.nx, problem_.ny);
    fill_(field);
    advance(field, steps, std::numeric_limits<double>::infinity(), [](std::int64_t) {});
    return field;
  }

  /// The facts after `steps`, computed when they are not known yet.
  const FieldFacts& at(std::int64_t steps) {
    const auto known = digests_.find(steps);
    if (known != digests_.end()) {
      return known->second;
    }
    return compute(steps, std::numeric_limits<double>::infinity(), [](double) {});
  }

 private:
  /// In slices between which it heeds Ctrl-C. Returns how many of `steps` it made in the time, one
  /// at least.
  template <typename OnSlice>
  std::int64_t advance(Field<T>& field, std::int64_t steps, double limit_seconds,
                       OnSlice on_slice) const {
    const Stopwatch watch;
    Pace pace;
    std::int64_t done = 0;
    while (done < steps && (done == 0 || watch.seconds() < limit_seconds)) {
      if (interrupted()) {
        throw Interrupted();
      }
      const Stopwatch slice;
      const std::int64_t count = pace.next(steps - done);
      advance_reference(problem_, field, count);
      pace.took(count, slice.seconds());
      done += count;
      on_slice(done);
    }
    return done;
  }

  const FieldFacts& keep(std::int64_t steps) {
    return digests_[steps] = {.steps = steps,
                              .sha256 = sha256_of_cells(std::as_const(scratch_).cells()),
                              .summary = summarize(std::as_const(scratch_).cells())};
  }

  Problem problem_;
  Field<T>& scratch_;
  std::function<void(Field<T>&)> fill_;
  std::map<std::int64_t, FieldFacts> digests_;
};

/// What a row may spend on its first runs.
struct FirstRunLimits {
  double run_seconds = 0; ///< on one; steps are left out where all of them would take longer
  double row_seconds = 0; ///< on all of them, as far as one is not longer already
};

/// Makes and verifies them, one row after another, all in one field.
template <typename T, typename Clock = SteadyClock>
class FirstRuns {
 public:
  /// `field` has the problem's size and holds anything after each call.
  FirstRuns(const RunPlan& plan, Field<T>& field, Observer& observer)
      : plan_(plan),
        problem_(plan.problem),
        field_(field),
        observer_(observer),
        reference_(problem_, plan.initial, field),
        mixed_reference_(problem_, field,
                         [](Field<T>& cells) { fill_proof_cells(ProofCells::mixed, cells); }) {}

  /// What the runs are compared with, see Reference::compute(). They make as many steps as it did.
  /// Comes before measure().
  template <typename OnProgress>
  FieldFacts compute_reference(double limit_seconds, OnProgress on_progress) {
    const FieldFacts& facts = reference_.compute(plan_.iterations, limit_seconds, on_progress);
    steps_ = facts.steps;
    return facts;
  }

  /// Fills in the row's verification, provenance, memory, set-up and cold run. What is timed is
  /// gone when it is not to be. Returns the seconds that the first run took beside itself:
  /// memory to start from, the initial field, digests. Throws what the timed throws, and
  /// Interrupted.
  double measure(SolveContender<T>& contender, const FirstRunLimits& limits) {
    Row& row = contender.row;
    const Stopwatch<Clock> watch;
    memory_.start_from_fresh(contender.host_need);
    memory_.begin();
    const FirstRun first = cold_run(contender, limits);
    const std::optional<std::int64_t> own_peak = contender.timed->own_peak_bytes();
    row.peak_host_bytes = own_peak ? own_peak : memory_.rise();
    row.verification = check(*contender.timed, first.steps);
    if (row.wrong()) {
      row.reason = why_unverifiable(first.steps);
    }
    const double seconds = watch.seconds();
    const FirstRun run = median_cold_run(contender, limits, first, seconds);
    row.setup_seconds = run.setup_seconds;
    row.provenance = contender.timed->provenance();
    if (row.is_peer && !row.provenance.device.empty()) {
      row.device = DeviceKind::cuda;
    }
    observer_.first_run_done(row);
    contender.cost = run.cost;
    if (run.steps == plan_.iterations) {
      row.cold = run.phases;
    }
    if (row.without_time()) {
      row.setup_seconds.reset();
      row.cold.reset();
    }
    if (row.wrong() || row.without_time()) {
      contender.timed->release();
    }
    return std::max(0.0, seconds - first.phases.wall);
  }

  /// Proves the row on other fields, see field_proof.hpp; one that was wrong already until it is
  /// known on which. Comes when all rows have had their first runs: what these fields leave behind
  /// (memory that is kept, threads, modules that a device has loaded, a warm cache) would else be
  /// found by the first run of another row, which is to be cold. The rounds that follow are warm,
  /// begin with an upload of their own, and are too long to notice. The row's own session stays;
  /// it is gone when the row is not to be timed. Throws as measure().
  void prove(SolveContender<T>& contender) {
    Row& row = contender.row;
    if (row.reason.empty()) { // the problem does not diverge
      Verification& verification = *row.verification;
      FieldProof proof(plan_.tolerance_ulps);
      const std::vector<std::int64_t> depths = depths_of(row.provenance);
      prove_small_fields<T>(
          [&](const Problem& problem) { return contender.timed->session_for(problem); }, depths,
          row.without_time(), proof);
      if (!row.wrong()) {
        prove_own_size(*contender.timed, own_steps(row, depths), proof);
      }
      conclude(verification, proof);
    }
    if (row.wrong() || row.without_time()) {
      contender.timed.reset();
    }
  }

  /// See MemoryWatch.
  [[nodiscard]] std::optional<std::int64_t> process_peak() { return memory_.process_peak(); }

 private:
  FirstRun cold_run(SolveContender<T>& contender, const FirstRunLimits& limits) {
    fill_initial(problem_, plan_.initial, field_);
    const Observed span = observe_run(observer_, contender.row, "cold run", steps_);
    return contender.timed->first_run(field_.cells(), steps_, limits.run_seconds);
  }

  /// Of `first`, which took `seconds` with all that belongs to it, and more that are as long and
  /// right, the one of median wall time, and what giving back took in the median. On a GPU, and by
  /// a peer, only the first one is cold.
  FirstRun median_cold_run(SolveContender<T>& contender, const FirstRunLimits& limits,
                           const FirstRun& first, double seconds) {
    Row& row = contender.row;
    if (row.is_peer || row.on_device()) {
      return first;
    }
    std::vector<FirstRun> runs{first};
    std::vector<double> frees; // of all but the last run, whose session is the one that is timed
    const double wanted = cold_runs_of_median(seconds);
    const auto count = static_cast<std::size_t>(std::min(limits.row_seconds / seconds, wanted));
    while (runs.size() < count && row.verified()) {
      if (interrupted()) {
        throw Interrupted();
      }
      if (const std::optional<double> free = contender.timed->release()) {
        frees.push_back(*free);
      }
      memory_.start_from_fresh(contender.host_need);
      const FirstRun again = cold_run(contender, limits);
      const Verification verification = check(*contender.timed, again.steps);
      if (!verification.bitwise) {
        row.verification = verification;
      }
      if (!verification.accepted()) {
        break;
      }
      if (again.steps == first.steps) {
        runs.push_back(again);
      } else {
        break;
      }
    }
    FirstRun median = of_median_wall(runs, [](const FirstRun& run) { return run.phases.wall; });
    if (!frees.empty()) {
      append_free(median.phases, median_of(frees));
    }
    return median;
  }

  /// Compares the result that lies in field_ with the reference; by digest first, since a second
  /// field beside a session is only needed to say how wrong a wrong result is.
  Verification check(TimedSolve<T>& timed, std::int64_t steps) {
    Verification verification{.steps = steps};
    const std::string digest = sha256_of_cells(std::as_const(field_).cells());
    const FieldFacts& expected = reference_.at(steps);
    if (digest == expected.sha256 && expected.summary.nonfinite == 0) {
      verification.bitwise = true;
      return verification;
    }
    timed.fetch(field_.cells());
    const Field<T> right = reference_.field_after(steps);
    const Difference found =
        difference<T>(std::as_const(field_).cells(), right.cells(), problem_.nx, steps);
    verification.max_abs_error = found.max_abs_error;
    verification.nonfinite = found.nonfinite;
    if (found.cells > 0) {
      verification.difference = found;
    }
    if (plan_.tolerance_ulps > 0 && found.nonfinite == 0 && expected.summary.nonfinite == 0 &&
        found.max_ulps <= plan_.tolerance_ulps) {
      verification.within_ulps = found.max_ulps;
    }
    return verification;
  }

  /// Of a row without a time only what is little work.
  [[nodiscard]] std::vector<std::int64_t> own_steps(const Row& row,
                                                    std::span<const std::int64_t> depths) const {
    constexpr std::int64_t cells_of_an_emulation = 100'000;
    if (row.without_time() && problem_.cells() > cells_of_an_emulation) {
      return {};
    }
    return own_size_steps(problem_, depths, row.verification->steps);
  }

  /// With the run's own numerics. Where these diverge, beyond the range of the numbers, nothing is
  /// proved.
  void prove_own_size(TimedSolve<T>& timed, const std::vector<std::int64_t>& counts,
                      FieldProof& proof) {
    for (const std::int64_t steps : counts) {
      const FieldFacts& expected = mixed_reference_.at(steps);
      if (proof.wrong() || expected.summary.nonfinite > 0) {
        return;
      }
      check_interrupt();
      fill_proof_cells(ProofCells::mixed, field_);
      if (!timed.run_from(field_, steps)) {
        return;
      }
      Difference found;
      if (sha256_of_cells(std::as_const(field_).cells()) != expected.sha256) {
        const Field<T> right = mixed_reference_.field_after(steps);
        found = difference<T>(std::as_const(field_).cells(), right.cells(), problem_.nx, steps);
      }
      proof.add(problem_, ProofCells::mixed, steps, found);
    }
  }

  /// What the proof makes of a row whose run's field was as it is in `verification`.
  void conclude(Verification& verification, const FieldProof& proof) const {
    verification.fields = proof.fields();
    if (!proof.fields().wrong) {
      return;
    }
    const std::int64_t before = verification.within_ulps.value_or(0);
    const bool was_accepted =
        std::exchange(verification.bitwise, false) || verification.within_ulps;
    verification.within_ulps.reset();
    if (was_accepted && !proof.wrong()) {
      verification.within_ulps = std::max(before, proof.max_ulps());
    }
  }

  /// Of a problem that diverges; empty for others. No backend is to blame: beyond the range of the
  /// numbers not even NaNs must be the same.
  [[nodiscard]] std::string why_unverifiable(std::int64_t steps) {
    const std::int64_t nonfinite = reference_.at(steps).summary.nonfinite;
    return nonfinite == 0
               ? ""
               : fmt::format(
                     "the problem diverges: after {} steps {} cells of the reference itself "
                     "are NaN or infinite, so nothing can be verified or timed; choose "
                     "fewer --iters, or a --dt with dt*D/h^2 up to {} (here {:.3g})",
                     steps, nonfinite, stability_limit, problem_.diffusion_number());
  }

  const RunPlan& plan_;
  Problem problem_;
  Field<T>& field_;
  Observer& observer_;
  Reference<T> reference_;
  Reference<T> mixed_reference_; ///< of another field of the same size
  MemoryWatch memory_;
  std::int64_t steps_ = 0; ///< of a run, where they are affordable
};

} // namespace diffbench::bench
