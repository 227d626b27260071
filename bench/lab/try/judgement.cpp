// SPDX-License-Identifier: Apache-2.0
#include "judgement.hpp"

#include "interrupt.hpp"
#include "units.hpp"
#include "variation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <utility>

namespace diffbench::bench {

namespace {

/// A size and numbers of steps.
struct Case {
  std::int64_t nx, ny;
  std::vector<std::int64_t> steps;
};

/// Odd, prime, thin, smaller than a block, as large as one, not square. The first tell most.
std::vector<Case> cases(bool brief) {
  std::vector<Case> all = {
      {7, 5, {1, 2, 3, 17, 100}}, {13, 19, {1, 2, 3}}, {37, 21, {1, 17}}, {3, 3, {1, 2}},
      {16, 16, {1, 3}},           {5, 64, {1}},        {67, 34, {1, 2}}};
  // A row or a column that is no block, and more cells than a short index reaches.
  all.insert(all.end(), {{1100, 3, {1}}, {3, 1100, {1}}, {331, 199, {1}}});
  if (!brief) {
    all.push_back({97, 41, {1, 17}});
    all.push_back({131, 8, {1, 2}});
    all.push_back({8, 257, {1}});
    all.push_back({257, 131, {1, 3, 100}});
  }
  return all;
}

template <typename T>
Field<T> reference_of(const JudgedRun<T>& run) {
  Field<T> expected(run.problem.nx, run.problem.ny);
  std::ranges::copy(run.initial.cells(), expected.cells().begin());
  advance_reference(run.problem, expected, run.steps);
  return expected;
}

/// Rows and columns of a map: every character is a part of the field, wrong where a cell of it is.
template <typename T>
std::string map_of(const Field<T>& result, const Field<T>& expected) {
  constexpr std::int64_t widest = 40, highest = 16;
  const std::int64_t columns = std::min(widest, result.nx());
  const std::int64_t rows = std::min(highest, result.ny());
  std::vector<std::string> lines(static_cast<std::size_t>(rows),
                                 std::string(static_cast<std::size_t>(columns), '.'));
  for (std::int64_t y = 0; y < result.ny(); ++y) {
    for (std::int64_t x = 0; x < result.nx(); ++x) {
      if (!(result.row(y)[x] == expected.row(y)[x])) {
        lines[static_cast<std::size_t>(y * rows / result.ny())]
             [static_cast<std::size_t>(x * columns / result.nx())] = '#';
      }
    }
  }
  std::string map;
  for (const std::string& line : lines) {
    map += line + '\n';
  }
  return map;
}

template <typename T>
WrongCells wrong_cells(const JudgedRun<T>& run, const Field<T>& expected) {
  WrongCells wrong{.nx = run.problem.nx, .ny = run.problem.ny, .steps = run.steps};
  wrong.difference = difference<T>(run.result.cells(), expected.cells(), run.problem.nx, run.steps);
  wrong.expected = expected.row(wrong.difference.y)[wrong.difference.x];
  wrong.found = run.result.row(wrong.difference.y)[wrong.difference.x];
  wrong.unwritten = std::ranges::count_if(run.result.cells(), is_poison<T>);
  wrong.map = map_of(run.result, expected);
  return wrong;
}

/// Of each run in which cells are wrong after the fewest steps, as more of them spread what is
/// wrong.
struct WrongCounts {
  std::vector<std::vector<std::int64_t>> by_column, by_row;
};
template <typename T>
WrongCounts wrong_counts(const std::vector<JudgedRun<T>>& runs) {
  WrongCounts wrong;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const JudgedRun<T>& run : runs) {
    if (run.steps > fewest) {
      continue;
    }
    const Field<T> expected = reference_of(run);
    std::vector<std::int64_t> by_column(static_cast<std::size_t>(run.problem.nx));
    std::vector<std::int64_t> by_row(static_cast<std::size_t>(run.problem.ny));
    for (std::int64_t y = 0; y < run.problem.ny; ++y) {
      for (std::int64_t x = 0; x < run.problem.nx; ++x) {
        const int wrong_cell = run.result.row(y)[x] == expected.row(y)[x] ? 0 : 1;
        by_column[static_cast<std::size_t>(x)] += wrong_cell;
        by_row[static_cast<std::size_t>(y)] += wrong_cell;
      }
    }
    if (std::ranges::max(by_column) > 0) {
      if (run.steps < fewest) {
        wrong = {};
      }
      fewest = run.steps;
      wrong.by_column.push_back(std::move(by_column));
      wrong.by_row.push_back(std::move(by_row));
    }
  }
  return wrong;
}

/// All bits set: what the emulated device, and the arrays that it gives a solve, hold at first.
template <typename T>
void mark_unwritten(Field<T>& field) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  for (T& cell : field.cells()) {
    cell = std::bit_cast<Bits>(cell) == ~Bits{0} ? poison<T>() : cell;
  }
}

/// The runs of one dtype.
template <typename T>
class Judge {
 public:
  Judge(const Submission& submission, const JudgePlan& plan, const std::filesystem::path& work_dir,
        const std::function<void(double)>& on_progress)
      : submission_(submission), plan_(plan), work_dir_(work_dir), on_progress_(on_progress) {}

  Judgement judge() {
    judgement_.dtype = dtype_of<T>;
    try {
      run_all();
    } catch (const SubmissionFailed& failure) {
      complain_of_chance();
      complain_once(unwritten_);
      judgement_.failed = judgement_.complaints.empty(); // else it failed of what is known
      is_ended_ = judgement_.failed && failure.kind() == SubmissionFailed::Kind::ended;
      judgement_.complaints.emplace_back(failure.what());
    }
    complain_of_chance();
    judgement_.runs = std::ssize(runs_) + std::ssize(other_runs_);
    if (!runs_.empty()) {
      compare_all();
    }
    judge_unwritten();
    if (is_ended_) {
      decide_of_what_was_run();
    } else if (!judgement_.complaints.empty()) {
      judgement_.verdict = TryVerdict::wrong;
    }
    return std::move(judgement_);
  }

 private:
  /// More runs would not make a wrong result right.
  void decide_of_what_was_run() {
    if (runs_.empty() || is_right(judgement_.verdict)) {
      judgement_.verdict = TryVerdict::undecided;
    } else {
      judgement_.failed = false;
      judgement_.complaints.clear();
    }
  }

  void run_all() {
    const std::vector<Case> all = cases(plan_.brief);
    std::int64_t largest = 0;
    for (const Case& each : all) {
      largest = std::max(largest, each.nx * each.ny * static_cast<std::int64_t>(sizeof(T)));
    }
    TriedProcess process(submission_.compiled, plan_.limits, largest, work_dir_);
    judgement_.unprotected = process.unprotected();
    hearing(process, [&] {
      run_cases(process, all);
      run_boundaries(process);
    });
    judgement_.counts = device_counts(process.counts());
    judgement_.costs = device_costs(counted_);
    if (plan_.brief) {
      run_schedules(largest);
    }
    if (plan_.nx > 0 && submission_.language == Language::cuda) {
      check_launches();
    }
  }

  /// What nobody has written counts where it has reached the result.
  void judge_unwritten() {
    if (judgement_.verdict == TryVerdict::wrong &&
        (judgement_.mistake.empty() || judgement_.mistake_id == "nothing_written")) {
      complain_once(unwritten_);
    }
    for (DeviceFinding& finding : judgement_.findings) {
      if (finding.unwritten && is_right(judgement_.verdict) && judgement_.complaints.empty()) {
        finding.affects_result = false;
        finding.message += "; it does not reach the result";
      }
    }
  }

  /// On the grid that is asked for, which would take too long to compute here.
  void check_launches() {
    Problem problem;
    problem.nx = plan_.nx;
    problem.ny = plan_.ny;
    problem.dtype = dtype_of<T>;
    problem.dt = 0.125;
    constexpr std::int64_t most_bytes = std::int64_t{1} << 28; // emulated with several of these
    if (problem.field_bytes() > most_bytes) {
      return;
    }
    std::vector<DeviceFinding> found;
    TryLimits limits = plan_.limits;
    limits.seconds = std::min(limits.seconds, 5.0);
    try {
      TriedProcess process(submission_.compiled, limits, problem.field_bytes(), work_dir_);
      process.check_launches_only();
      process.open(problem, session_form());
      (void)process.run(Field<T>(problem.nx, problem.ny), 2);
      process.close();
      found = device_findings(process.findings());
    } catch (const SubmissionFailed&) { // its host's code may need what no kernel has written
      return;
    }
    for (DeviceFinding& finding : found) {
      if (finding.kind == "launch_refused") {
        finding.message += fmt::format(" (on {} x {} cells, --grid)", problem.nx, problem.ny);
        hear(finding);
      }
    }
  }

  /// Of a session that knows others than periodic ones.
  void run_boundaries(TriedProcess& process) {
    if (submission_.form != Form::session) {
      return;
    }
    for (const Boundary boundary : {Boundary::dirichlet, Boundary::neumann}) {
      if (!process.knows(boundary)) {
        continue;
      }
      judgement_.boundaries.push_back(boundary);
      for (const Case& each : {Case{7, 5, {1, 3, 17}}, Case{13, 19, {1, 2}}}) {
        Problem problem;
        problem.nx = each.nx;
        problem.ny = each.ny;
        problem.dtype = dtype_of<T>;
        problem.dt = 0.1 + 0.01 * static_cast<double>(seed_() % 10);
        problem.boundary = boundary;
        problem.boundary_value = 0.25 + 0.125 * static_cast<double>(seed_() % 5);
        process.open(problem, Form::session);
        for (const std::int64_t steps : each.steps) {
          run(process, problem, steps);
        }
        process.close();
      }
    }
  }

  /// Whatever comes of `run`: what an emulated device has found.
  template <typename Run>
  void hearing(TriedProcess& process, const Run& run) {
    try {
      run();
      hear(process.findings());
      hear(process.early_findings()); // what the code has made the device forget
    } catch (const SubmissionFailed&) {
      hear(process.early_findings());
      throw;
    }
  }

  /// The same run again, in other orders of threads and blocks.
  void run_schedules(std::int64_t largest) {
    Problem problem;
    problem.nx = 37;
    problem.ny = 21;
    problem.dtype = dtype_of<T>;
    problem.dt = 0.125;
    Field<T> field(problem.nx, problem.ny), first;
    fill_secret(field, seed_());
    for (std::int64_t schedule = 1; schedule <= plan_.schedules; ++schedule) {
      // A new process: the code may keep memory of the device from one call to the next.
      TriedProcess process(submission_.compiled, plan_.limits, largest, work_dir_);
      hearing(process, [&] {
        process.choose_schedule(static_cast<std::uint64_t>(schedule));
        process.open(problem, session_form());
        Field<T> result = process.run(field, 3).result;
        process.close();
        if (schedule == 1) {
          first = std::move(result);
        } else if (!same_bits(first, result)) {
          complain_once(unwritten_.empty()
                            ? "its result changes with the order of blocks and threads"
                            : unwritten_);
        }
      });
      judgement_.schedules = schedule;
    }
  }

  [[nodiscard]] Form session_form() const {
    return submission_.compiled.has_session ? Form::session : submission_.form;
  }

  void run_cases(TriedProcess& process, const std::vector<Case>& all) {
    double done = 0;
    for (const Case& each : all) {
      Problem problem;
      problem.nx = each.nx;
      problem.ny = each.ny;
      problem.dtype = dtype_of<T>;
      problem.dt = 0.1 + 0.01 * static_cast<double>(seed_() % 10); // no factor is known before
      process.open(problem, session_form());
      for (const std::int64_t steps : each.steps) {
        run(process, problem, steps);
      }
      process.close();
      on_progress_(++done / static_cast<double>(all.size()));
    }
  }

  /// What an emulated device has found, each once.
  void hear(const std::string& text) {
    for (const DeviceFinding& finding : device_findings(text)) {
      hear(finding);
    }
  }
  void hear(const DeviceFinding& finding) {
    if (!add_finding(judgement_.findings, finding) || !finding.affects_result) {
      return;
    }
    const std::string complaint = finding.where.empty()
                                      ? fmt::format("{}: {}", finding.kind, finding.message)
                                      : fmt::format("{} in {}", finding.kind, finding.where);
    if (!finding.unwritten) {
      complain_once(complaint);
    } else if (unwritten_.empty()) {
      unwritten_ = complaint;
    }
  }

  void run(TriedProcess& process, const Problem& problem, std::int64_t steps) {
    check_interrupt();
    JudgedRun<T> run{.problem = problem,
                     .steps = steps,
                     .initial = Field<T>(problem.nx, problem.ny),
                     .result = {}};
    fill_secret(run.initial, seed_());
    try {
      const Value before = counts(process);
      TriedRun<T> done = process.run(run.initial, steps);
      counted_.push_back({.field_bytes = problem.field_bytes(),
                          .steps = steps,
                          .before = before,
                          .after = counts(process)});
      complain_once(done.input_changed ? "it changes its input" : "");
      complain_once(done.outside
                        ? fmt::format("{}, on {} x {} cells", *done.outside, problem.nx, problem.ny)
                        : "");
      if (!repeats_ && done.result.nx() > 0) {
        // Twice the same: what is a race, or was never set, may show.
        repeats_ = same_bits(process.run(run.initial, steps).result, done.result);
      }
      for (const JudgedRun<T>& earlier : runs_) {
        const T first = done.result.cells().front(); // not what was left out, or set to 0
        if (first > 0 && earlier.problem == problem && same_bits(earlier.result, done.result)) {
          complain_once("it returns the result of an earlier run");
        }
      }
      run.result = std::move(done.result);
      if (submission_.language == Language::cuda) {
        mark_unwritten(run.result);
      }
    } catch (const SubmissionFailed& failure) {
      throw SubmissionFailed(failure.kind(),
                             fmt::format("{}; on {} x {} cells, {}", failure.what(), problem.nx,
                                         problem.ny, counted(steps, "step")));
    }
    (problem.boundary == Boundary::periodic ? runs_ : other_runs_).push_back(std::move(run));
  }

  /// Where nothing says why.
  void complain_of_chance() {
    if (repeats_ == false) {
      complain_once(
          "two equal runs differ: it reads memory that was never set, or its threads race");
    }
  }

  /// Of an emulated device; null without one.
  [[nodiscard]] Value counts(TriedProcess& process) const {
    return submission_.compiled.has_session ? device_counts(process.counts()) : Value();
  }

  void complain_once(const std::string& what) {
    if (!what.empty() && judgement_.complaints.empty()) {
      judgement_.complaints.push_back(what);
    }
  }

  void compare_all() {
    const Explanation found = explain(runs_);
    std::optional<std::size_t> first_different, first_wrong;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const JudgedRun<T>& run = runs_[i];
      const Field<T> expected = reference_of(run);
      const Comparison comparison = compare<T>(run.result.cells(), expected.cells());
      if (comparison.bitwise) {
        continue;
      }
      const Difference how =
          difference<T>(run.result.cells(), expected.cells(), run.problem.nx, run.steps);
      judgement_.max_ulps = std::max(judgement_.max_ulps, how.max_ulps);
      first_different = first_different.value_or(i);
      if (!how.within_rounding(run.steps)) {
        first_wrong = first_wrong.value_or(i);
      }
    }
    if (found.mistake) {
      const Mistake& mistake = mistakes()[*found.mistake];
      judgement_.verdict = TryVerdict::wrong;
      judgement_.mistake_id = mistake.id;
      judgement_.mistake = mistake.text;
      judgement_.advice = mistake.advice;
    } else if (found.arithmetic) {
      const Arithmetic& arithmetic = arithmetics()[*found.arithmetic];
      judgement_.arithmetic = *found.arithmetic == 0 ? "" : to_string(arithmetic);
      judgement_.verdict = *found.arithmetic == 0      ? TryVerdict::same_bits
                           : is_contracted(arithmetic) ? TryVerdict::contracted
                                                       : TryVerdict::rounding;
    } else {
      judgement_.verdict = first_wrong ? TryVerdict::wrong : TryVerdict::rounding;
    }
    for (const JudgedRun<T>& run : other_runs_) {
      if (is_right(judgement_.verdict)) {
        compare_other(run, found.arithmetic ? arithmetics()[*found.arithmetic] : Arithmetic{});
      }
    }
    const auto shown = first_wrong ? first_wrong : first_different;
    if (judgement_.verdict == TryVerdict::wrong && shown && !judgement_.wrong) {
      judgement_.wrong = wrong_cells(runs_[*shown], reference_of(runs_[*shown]));
      if (!found.mistake) {
        const WrongCounts counts = wrong_counts(runs_);
        judgement_.wrong->columns = wrong_period(counts.by_column);
        judgement_.wrong->rows = wrong_period(counts.by_row);
      }
    }
  }

  /// A run with other edges than periodic ones, of a file that is right with those.
  void compare_other(const JudgedRun<T>& run, const Arithmetic& arithmetic) {
    if (same_bits(advance_varied(run.problem, run.initial, run.steps, arithmetic), run.result)) {
      return;
    }
    const Field<T> expected = reference_of(run);
    const Difference how =
        difference<T>(run.result.cells(), expected.cells(), run.problem.nx, run.steps);
    if (how.within_rounding(run.steps)) {
      judgement_.verdict = TryVerdict::rounding;
      judgement_.arithmetic.clear();
      judgement_.max_ulps = std::max(judgement_.max_ulps, how.max_ulps);
      return;
    }
    judgement_.verdict = TryVerdict::wrong;
    judgement_.wrong = wrong_cells(run, expected);
    Problem periodic = run.problem;
    periodic.boundary = Boundary::periodic;
    complain_once(fmt::format(
        "with {} edges {}", to_string(run.problem.boundary),
        same_bits(advance_varied(periodic, run.initial, run.steps, arithmetic), run.result)
            ? "it computes periodic ones"
            : "cells are wrong"));
  }

  const Submission& submission_;
  const JudgePlan& plan_;
  const std::filesystem::path& work_dir_;
  const std::function<void(double)>& on_progress_;
  std::mt19937_64 seed_{plan_.seed};
  std::vector<JudgedRun<T>> runs_, other_runs_; ///< with periodic edges, and with others
  std::vector<RunCounts> counted_;
  std::optional<bool> repeats_;
  std::string unwritten_; ///< the first read of what nobody has written; empty: there was none
  bool is_ended_ = false; ///< by the allowance of all its runs
  Judgement judgement_;
};

template <typename T>
bool gives(const JudgedRun<T>& run, const Arithmetic& arithmetic, const Fault& fault) {
  return same_bits(advance_varied(run.problem, run.initial, run.steps, arithmetic, fault),
                   run.result);
}

} // namespace

template <typename T>
void fill_secret(Field<T>& field, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (T& cell : field.cells()) {
    // 24 and 53 bits: all that a number below 1 has.
    constexpr int bits = sizeof(T) == 4 ? 24 : 53;
    cell = std::ldexp(static_cast<T>(random() >> (64 - bits)), -bits);
  }
}
template void fill_secret(Field<float>&, std::uint64_t);
template void fill_secret(Field<double>&, std::uint64_t);

template <typename T>
Explanation explain(const std::vector<JudgedRun<T>>& runs) {
  std::vector<const JudgedRun<T>*> by_work;
  by_work.reserve(runs.size());
  for (const JudgedRun<T>& run : runs) {
    by_work.push_back(&run);
  }
  // The smallest first: it refuses most of them quickly.
  std::ranges::stable_sort(
      by_work, {}, [](const JudgedRun<T>* run) { return run->problem.cells() * run->steps; });
  const auto explains = [&](const Arithmetic& arithmetic, const Fault& fault) {
    return std::ranges::all_of(
        by_work, [&](const JudgedRun<T>* run) { return gives(*run, arithmetic, fault); });
  };
  for (std::size_t i = 0; i < arithmetics().size(); ++i) {
    if (explains(arithmetics()[i], {})) {
      return {.arithmetic = i};
    }
  }
  for (std::size_t m = 0; m < mistakes().size(); ++m) {
    for (std::size_t i = 0; i < arithmetics().size(); ++i) {
      if (explains(arithmetics()[i], mistakes()[m].fault)) {
        return {.arithmetic = i, .mistake = m};
      }
    }
  }
  return {};
}
template Explanation explain(const std::vector<JudgedRun<float>>&);
template Explanation explain(const std::vector<JudgedRun<double>>&);

Judgement judge_submission(const Submission& submission, Dtype dtype, const JudgePlan& plan,
                           const std::filesystem::path& work_dir,
                           const std::function<void(double)>& on_progress) {
  return dtype == Dtype::float32 ? Judge<float>(submission, plan, work_dir, on_progress).judge()
                                 : Judge<double>(submission, plan, work_dir, on_progress).judge();
}

} // namespace diffbench::bench
