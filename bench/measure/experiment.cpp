// SPDX-License-Identifier: Apache-2.0
#include "experiment.hpp"

#include "bandwidth.hpp"
#include "denormals.hpp"
#include "diffbench/field.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/line_cache.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/stopwatch.hpp"
#include "diffbench/with_dtype.hpp"
#include "first_runs.hpp"
#include "irregularity.hpp"
#include "least_effect.hpp"
#include "phases.hpp"
#include "planning.hpp"
#include "statistics.hpp"
#include "temporary_directory.hpp"
#include "timed_peer.hpp"
#include "transfer_study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

double result_least_effect(const ComparisonPlan& plan) {
  return plan.least_effect ? *plan.least_effect : least_effect_here();
}

/// Warm runs end to end of a row (runs_of_median()). Threads of the row before may spin on a CPU
/// for the first milliseconds, waiting for work (GCC's OpenMP does).
constexpr int fewest_warm_runs = 3;
constexpr int most_warm_runs = 301;
/// Of the first run of an emulated row, in seconds.
constexpr double emulated_limit = 5;

template <typename T>
class Experiment {
 public:
  Experiment(const ComparisonPlan& plan, std::span<const PlannedRow> planned_rows,
             Progress& progress, Observer& observer, const Stopwatch<>& since_start,
             LoadWatch& load)
      : plan_(plan),
        planned_(planned_rows),
        progress_(progress),
        observer_(observer),
        since_start_(since_start),
        table_(plan.budget_seconds, plan.budget_binds),
        problem_(plan.problem),
        field_(problem_.nx, problem_.ny),
        first_runs_(plan, field_, observer),
        load_(load),
        competition_(progress, observer, interrupted, load) {}

  /// Adds rows, the field and notes to `result`.
  void run(ComparisonResult& result) {
    make_contenders();
    try {
      compute_reference(result);
      verify();
      if (plan_.prove_fields) {
        prove();
      }
      time();
      time_warm_runs();
      release_all();
      result.transfers = compare_transfers();
    } catch (const Interrupted&) {
      release_all();
    }
    result.interrupted = interrupted();
    result.stopping = takes_until_enough() ? Stopping::sequential : Stopping::planned;
    result.rows = competition_.take_rows();
    result.peak_host_bytes = first_runs_.process_peak();
    charge_contexts(result);
    load_.add_work(result);
    if (const auto disturbance = load_.disturbance()) {
      result.disturbed = true;
      notes_.push_back(*disturbance);
    }
    std::ranges::move(irregularity_notes(result.rows), std::back_inserter(notes_));
    note_imprecise(result.rows);
    note_denormals(result);
    note_inexact(result.rows);
    result.notes.insert(result.notes.end(), notes_.begin(), notes_.end());
  }

 private:
  using Contender = bench::SolveContender<T>;

  void refill() { fill_initial(problem_, plan_.initial, field_); }

  /// All rows; peers are started first of all, so that a missing one is known before any work is
  /// lost.
  void make_contenders() {
    refill();
    for (const PlannedRow& planned : planned_) {
      competition_.enter(backend_contender<T>(plan_, plan_.problem, planned,
                                              std::as_const(field_).cells(), observer_));
    }
    if (!plan_.peers.empty()) {
      const Observed span(observer_, {.kind = Span::Kind::stage, .name = "starting peers"});
      exchange_.emplace();
      for (Contender& peer :
           peer_contenders(plan_, field_, exchange_->path(), progress_, observer_)) {
        competition_.enter(std::move(peer));
      }
    }
  }

  [[nodiscard]] double spent() const { return since_start_.seconds(); }

  void compute_reference(ComparisonResult& result) {
    const Observed span = competition_.stage("reference");
    result.field = first_runs_.compute_reference(
        table_.reference(), [&](double fraction) { progress_.update(fraction); });
    if (result.field->steps < plan_.iterations) {
      notes_.push_back(fmt::format(
          "the reference takes too long for all {} steps: fields are compared after {} or fewer",
          plan_.iterations, result.field->steps));
    }
  }

  void verify() {
    std::int64_t left = competition_.rows();
    double overhead = 0; // of the row before
    competition_.verify([&](Contender& contender) {
      const double expected = spent() + overhead * static_cast<double>(left);
      const auto [longest, all] =
          table_.first_runs(expected, table_.binds() ? left-- : competition_.rows());
      // What is emulated has no part in the time, and proves more the more steps it makes.
      overhead = first_runs_.measure(
          contender,
          {.run_seconds = contender.row.emulated() ? emulated_limit : longest, .row_seconds = all});
    });
  }

  /// On other fields, the rows that have a result.
  void prove() {
    competition_.verify(
        [&](Contender& contender) {
          if (contender.timed) {
            first_runs_.prove(contender);
          }
        },
        "proving");
  }

  void time() {
    refill();
    const bool until_enough = takes_until_enough();
    const auto [planned, limit] = table_.rounds(spent(), until_enough);
    const auto plan_row = [&](const Contender& contender, double share) {
      const std::int64_t sweep = uncut_steps(contender.row.provenance);
      SamplePlan plan = plan_samples(contender.cost, share, plan_.iterations, sweep);
      plan.precision = plan_.precision;
      if (until_enough) {
        plan.rounds = rounds_most; // of all, so that every round has all rows
      }
      if (plan_.sample_steps > 0) {
        plan.iterations = plan_.sample_steps;
      } else if (cuts_a_sweep(plan, plan_.iterations, sweep)) {
        notes_.push_back(fmt::format(
            "{} takes {} steps at once, too many for its share of the budget: it was timed on {} "
            "and is faster than that; a larger --budget shows how much",
            contender.row.name, sweep, plan.iterations));
      }
      return in_whole_periods(plan, contender.period, plan_.iterations);
    };
    competition_.time(planned, limit, plan_row);
  }

  [[nodiscard]] bool takes_until_enough() const { return plan_.precision > 0; }

  /// Runs of all steps with both copies, for the rows that can afford them.
  void time_warm_runs() {
    std::int64_t left = competition_.rows();
    const Observed span = competition_.stage("end to end");
    for (Contender& contender : competition_.contenders()) {
      competition_.check_interrupt();
      if (!contender.timed) {
        continue;
      }
      const double share = table_.warm_runs(spent(), table_.binds() ? left-- : competition_.rows());
      const double expected =
          2 * contender.cost.reset_seconds +
          *seconds_per_iteration(contender.row) * static_cast<double>(plan_.iterations);
      const double wanted = runs_of_median(expected, fewest_warm_runs, most_warm_runs);
      auto affordable = static_cast<int>(std::min(share / expected, wanted));
      // The speed-ups of GPU rows need the baseline's, though it is slow.
      if (any_device_row() && contender.row.name == plan_.baseline &&
          expected < table_.longest_warm_run(spent())) {
        affordable = std::max(affordable, 1);
      }
      try {
        contender.row.warm = median_warm_run(contender, affordable);
      } catch (const std::exception& error) {
        competition_.give_up(contender, Status::failed, error.what());
      }
    }
  }

  std::optional<Phases> median_warm_run(Contender& contender, int count) {
    std::vector<Phases> runs;
    for (int i = 0; i < count && !interrupted(); ++i) {
      refill();
      const Observed span = observe_run(observer_, contender.row, "warm run", plan_.iterations);
      runs.push_back(contender.timed->full_run(field_.cells(), plan_.iterations));
    }
    if (runs.empty()) {
      return std::nullopt;
    }
    return of_median_wall(runs, [](const Phases& phases) { return phases.wall; });
  }

  [[nodiscard]] bool any_device_row() {
    return std::ranges::any_of(competition_.contenders(), [](const Contender& contender) {
      return contender.row.on_device() && contender.timed != nullptr;
    });
  }

  /// Ends all rows, and adds what that took to the cold runs that were made once.
  void release_all() {
    const Observed span(observer_, {.kind = Span::Kind::stage, .name = "release"});
    for (Contender& contender : competition_.contenders()) {
      if (!contender.timed) {
        continue;
      }
      const std::optional<double> seconds = contender.timed->release();
      contender.timed.reset();
      if (seconds && contender.row.cold && !contender.row.cold->free) {
        append_free(*contender.row.cold, *seconds);
      }
    }
  }

  /// The copies of the first GPU backend with a time, which are those of all. One that fails here
  /// loses no row.
  std::optional<TransferStudy> compare_transfers() {
    const std::span<Contender> contenders = competition_.contenders();
    const auto contender = std::ranges::find_if(contenders, [](const Contender& e) {
      return e.row.on_device() && !e.row.is_peer && e.row.ranked() && e.row.roundtrip_every == 0;
    });
    if (contender == contenders.end() || interrupted()) {
      return std::nullopt;
    }
    // The planned_rows' rows come first, in their order.
    const PlannedRow& planned = planned_[static_cast<std::size_t>(contender - contenders.begin())];
    const Transfer chosen = planned.session.transfer;
    if (chosen == Transfer::pageable) {
      return std::nullopt;
    }
    const Observed span = competition_.stage("copies");
    refill();
    try {
      auto make = [&](Transfer transfer) {
        SessionOptions options = planned.session;
        options.transfer = transfer;
        return planned.backend.make<T>()(problem_, options);
      };
      TransferStudy study = study_transfers<SteadyClock>(make, chosen, field_.cells());
      study.backend = planned.backend.name;
      return study;
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      notes_.push_back(
          fmt::format("copies could not be compared with pageable ones: {}", error.what()));
      return std::nullopt;
    }
  }

  /// Rows on the CPU, all but one that keeps clear of them, pay for denormal numbers.
  void note_denormals(ComparisonResult& result) {
    const bool any_pays = std::ranges::any_of(
        result.rows, [](const Row& row) { return row.ranked() && !row.on_device(); });
    if (!result.field || result.field->summary.denormal == 0 || !any_pays || result.interrupted) {
      return;
    }
    try {
      result.denormals = find_denormal_cost(problem_.dtype, LineCache::standard("denormals"));
    } catch (const std::exception&) { // no memory for it: the result matters more
    }
    if (result.denormals) {
      if (auto note = denormal_note(*result.field, problem_.cells(), *result.denormals)) {
        notes_.push_back(std::move(*note));
      }
    }
  }

  /// What was asked for and not reached is said.
  void note_imprecise(const std::vector<Row>& rows) {
    const auto names = names_in(rows, [&](const Row& row) {
      return row.ranked() && !is_precise(row.samples, plan_.precision);
    });
    if (plan_.precision > 0 && !names.empty()) {
      notes_.push_back(fmt::format(
          "the budget was spent, or {} samples taken, before the median of {} was known to {:g} %",
          rounds_most, fmt::join(names, ", "), 100 * plan_.precision));
    }
  }

  void note_inexact(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      if (row.verified() && !row.verification->bitwise) {
        notes_.push_back(
            fmt::format("{} is not verified: its bits differ from the reference's by up to {} "
                        "ulp; it is timed because --tolerance {} allows that",
                        row.name, *row.verification->within_ulps, plan_.tolerance_ulps));
      }
    }
  }

  void charge_contexts(ComparisonResult& result) {
    double driver_seconds = 0;
    for (const PlannedRow& planned : planned_) {
      if (planned.backend.device != DeviceKind::cpu) {
        driver_seconds += planned.probe_seconds;
      }
    }
    if (charge_context(result.rows, driver_seconds)) {
      notes_.emplace_back(
          "this process started the driver and made the device's context once; the cold run of "
          "each GPU row includes that time, as in a program of its own");
    }
  }

  const ComparisonPlan& plan_;
  std::span<const PlannedRow> planned_;
  Progress& progress_;
  Observer& observer_;
  const Stopwatch<>& since_start_;
  TimeTable table_;
  Problem problem_;
  Field<T> field_;
  FirstRuns<T> first_runs_;
  LoadWatch& load_;
  std::optional<TemporaryDirectory> exchange_; ///< outlives the peers, which write to it
  Competition<Contender> competition_;
  std::vector<std::string> notes_;
};

} // namespace

namespace {

/// A time, or a proof of a row that has none.
bool has_something_to_say(const Row& row) {
  return !row.samples.empty() || row.wrong() || (row.verified() && row.without_time());
}

} // namespace

ComparisonResult measure(const ComparisonPlan& plan, std::span<const PlannedRow> planned_rows,
                         Progress& progress, Observer& observer, LoadWatch load) {
  const Stopwatch since_start;
  ComparisonResult result;
  result.problem = plan.problem;
  result.initial = plan.initial;
  result.iterations = plan.iterations;
  result.baseline = plan.baseline;
  result.budget_seconds = plan.budget_seconds;
  result.last_level_cache_bytes = read_caches().l3;
  result.least_effect = result_least_effect(plan);
  if (plan.copy_roof) {
    // Before the fields are allocated: its arrays are gone when memory is needed most.
    progress.stage("copy bandwidth");
    const Observed span(observer, {.kind = Span::Kind::stage, .name = "copy bandwidth"});
    constexpr double longest = 0.3;
    result.copy = measure_copy_bandwidth(copy_array_bytes(), usable_cpus(),
                                         std::min(longest, plan.budget_seconds / 30));
  }
  if (interrupted()) {
    throw Interrupted();
  }
  with_dtype(plan.problem.dtype, [&]<typename T>(T) {
    Experiment<T>(plan, planned_rows, progress, observer, since_start, load).run(result);
  });
  if (result.interrupted && std::ranges::none_of(result.rows, has_something_to_say)) {
    throw Interrupted();
  }
  result.context = run_context();
  return result;
}

} // namespace diffbench::bench
