// SPDX-License-Identifier: Apache-2.0
#include "judgement.hpp"

#include "diffbench/with_dtype.hpp"
#include "interrupt.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
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

/// Factors of one case after the other, so that none is known before, and small ones come early.
constexpr std::pair<double, double> factor_ranges[] = {
    {0.1, 0.2}, {0.01, 0.1}, {0.2, 0.25}, {0.001, 0.01}};

/// Other fields than those in [0, 1), and factors at the ends of what is stable.
struct Extreme {
  std::string_view with;
  double low, high;     ///< of a cell,
  int float32, float64; ///< times two to this power
  double factor;
};
constexpr Extreme extremes[] = {{"with a factor of 0.25", 0, 1, 0, 0, 0.25},
                                {"with a factor of 0.001", 0, 1, 0, 0, 0.001},
                                {"with numbers below 0", -1, 0, 0, 0, 0.15},
                                {"with numbers of both signs", -1, 1, 8, 8, 0.05},
                                {"with large numbers", -1, 1, 110, 1000, 0.2},
                                {"with tiny numbers", 0, 1, -110, -1000, 0.15},
                                {"with denormal numbers", 0, 1, -134, -1040, 0.22}};

/// Odd, prime, thin, smaller than a block, as large as one, not square. The first tell most.
std::vector<Case> cases(bool brief) {
  std::vector<Case> all = {
      {7, 5, {1, 2, 3, 17, 100}}, {13, 19, {1, 2, 3}}, {37, 21, {1, 17}}, {3, 3, {1, 2}},
      {16, 16, {1, 3}},           {5, 64, {1}},        {67, 34, {1, 2}}};
  // A row or a column that is no block, and more cells than a short index reaches.
  all.insert(all.end(), {{1100, 3, {1}}, {3, 1100, {1}}, {331, 199, {1}}});
  if (!brief) {
    all.insert(all.end(),
               {{97, 41, {1, 17}}, {131, 8, {1, 2}}, {8, 257, {1}}, {257, 131, {1, 3, 100}}});
  }
  return all;
}

/// All bits set: what the emulated device, and the arrays that it gives a solve, hold at first.
template <typename T>
void mark_unwritten(Field<T>& field) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  for (T& cell : field.cells()) {
    cell = std::bit_cast<Bits>(cell) == ~Bits{0} ? poison<T>() : cell;
  }
}

/// Threads of a submission, whatever the environment says: a race needs several.
constexpr int team = 4;

/// The runs of one dtype.
template <typename T>
class Judge {
 public:
  Judge(const Submission& submission, const JudgePlan& plan, const std::filesystem::path& work_dir,
        const std::function<void(double)>& on_progress)
      : submission_(submission), plan_(plan), work_dir_(work_dir), on_progress_(on_progress) {
    plan_.limits.threads = team;
  }

  Judgement judge() {
    judgement_.dtype = dtype_of<T>;
    try {
      run_all();
    } catch (const SubmissionFailed& failure) {
      complain_of_chance();
      complain_once(unwritten_);
      judgement_.failed = judgement_.complaints.empty(); // else it failed of what is known
      is_ended_ = judgement_.failed && is_of_the_machine(failure.kind());
      judgement_.doubtful =
          judgement_.failed && (failure.kind() == SubmissionFailed::Kind::quit ||
                                failure.kind() == SubmissionFailed::Kind::refused);
      judgement_.complaints.emplace_back(failure.what());
    }
    complain_of_chance();
    judgement_.runs = std::ssize(runs_) + std::ssize(other_runs_);
    if (!runs_.empty()) {
      compare_all();
    }
    if (judgement_.complaints.empty() && judgement_.mistake.empty()) {
      look_for_races();
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
  /// Emulation and interpreters are slow: a run of theirs that does not end may be right.
  [[nodiscard]] bool is_of_the_machine(SubmissionFailed::Kind kind) const {
    return kind == SubmissionFailed::Kind::ended || kind == SubmissionFailed::Kind::lacking ||
           (kind == SubmissionFailed::Kind::hung &&
            (submission_.language == Language::cuda || submission_.language == Language::python));
  }

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
      find_boundaries(process);
      run_cases(process, all);
      run_extremes(process);
      run_boundaries(process);
    });
    judgement_.counts = device_counts(process.counts());
    judgement_.costs = device_costs(counted_);
    if (plan_.brief) {
      run_schedules(largest);
    }
    if (plan_.nx > 0 && judgement_.complaints.empty()) {
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
    const Problem problem = problem_of({plan_.nx, plan_.ny, {}}, 0.125);
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

  /// A session is judged on all that it names, and on no other.
  void find_boundaries(TriedProcess& process) {
    if (submission_.form != Form::session) {
      return;
    }
    for (const Boundary boundary : {Boundary::dirichlet, Boundary::neumann}) {
      if (process.knows(boundary)) {
        judgement_.boundaries.push_back(boundary);
      }
    }
    if (!process.knows(Boundary::periodic) && !judgement_.boundaries.empty()) {
      judgement_.boundary = judgement_.boundaries.front();
    }
  }

  void run_boundaries(TriedProcess& process) {
    for (const Boundary boundary : judgement_.boundaries) {
      for (const Case& each : {Case{7, 5, {1, 3, 17}}, Case{13, 19, {1, 2}}}) {
        if (boundary == judgement_.boundary) {
          continue;
        }
        Problem problem = problem_of(each, 0.1 + 0.01 * static_cast<double>(seed_() % 10));
        problem.boundary = boundary;
        process.open(problem, Form::session);
        for (const std::int64_t steps : each.steps) {
          run(process, problem, steps, secret(problem),
              fmt::format("with {} edges", to_string(boundary)));
        }
        process.close();
      }
    }
  }

  /// What is right for numbers of one kind alone.
  void run_extremes(TriedProcess& process) {
    for (const Extreme& extreme : extremes) {
      const Problem problem = problem_of({13, 9, {}}, extreme.factor);
      process.open(problem, session_form());
      for (const std::int64_t steps : {1, 3}) {
        Field<T> field = secret(problem);
        for (T& cell : field.cells()) {
          cell = std::ldexp(static_cast<T>(extreme.low + (extreme.high - extreme.low) * cell),
                            sizeof(T) == 4 ? extreme.float32 : extreme.float64);
        }
        run(process, problem, steps, std::move(field), std::string(extreme.with));
      }
      process.close();
    }
  }

  /// With a value beyond the edges for those that have one.
  Problem problem_of(const Case& size, double factor) {
    Problem problem;
    problem.nx = size.nx;
    problem.ny = size.ny;
    problem.dtype = dtype_of<T>;
    problem.dt = factor;
    problem.boundary = judgement_.boundary;
    problem.boundary_value = 0.25 + 0.125 * static_cast<double>(seed_() % 5);
    return problem;
  }

  Field<T> secret(const Problem& problem) {
    Field<T> field(problem.nx, problem.ny);
    fill_secret(field, seed_());
    return field;
  }

  /// Once more without optimization, which hides accesses, each of which now gives its CPU away or
  /// waits. What is right with one thread alone races.
  void look_for_races() {
    if (!submission_.for_races) {
      return;
    }
    try {
      repeats_ = true;
      if (const auto wrong = wrong_without_optimization(team)) {
        const auto alone = wrong_without_optimization(1);
        if (alone && repeats_ == true && !is_right(judgement_.verdict)) {
          return;
        }
        judgement_.verdict = TryVerdict::wrong;
        judgement_.wrong = alone ? alone : wrong->nx == 0 ? std::nullopt : wrong;
        complain_once(alone
                          ? ""
                          : "its threads race: without optimization and in another order they give "
                            "wrong cells, where one alone gives right ones");
        complain_of_chance();
        complain_once(
            "without optimization it is wrong: it reads what was never set, or relies on what the "
            "compiler makes of it");
      }
    } catch (const SubmissionFailed&) { // with one thread: no verdict comes of it
    }
  }

  /// A wrong run of the build for races; of one that crashed, without cells.
  std::optional<WrongCells> wrong_without_optimization(int threads) {
    TryLimits limits = plan_.limits;
    limits.threads = threads;
    std::optional<WrongCells> wrong;
    try {
      TriedProcess process(*submission_.for_races, limits, 64 * 64 * sizeof(T), work_dir_);
      for (const Case& each : {Case{7, 5, {3}}, Case{13, 19, {2, 17}}, Case{37, 21, {1, 3, 4}}}) {
        const Problem problem = problem_of(each, 0.2);
        process.open(problem, submission_.form);
        for (const std::int64_t steps : each.steps) {
          JudgedRun<T> run{problem, steps, secret(problem), {}};
          TriedRun<T> done = process.run(run.initial, steps);
          run.result = std::move(done.result);
          const Field<T> expected = reference_of(run);
          if (!Rounding(run, expected).allows(run.result, expected)) {
            repeats_ = same_bits(process.run(run.initial, steps).result, run.result);
            return wrong_cells(run, expected);
          }
        }
        process.close();
      }
    } catch (const SubmissionFailed& failure) {
      if (threads == 1 || (failure.kind() != SubmissionFailed::Kind::crashed &&
                           failure.kind() != SubmissionFailed::Kind::quit)) {
        throw;
      }
      wrong.emplace();
    }
    return wrong;
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
    const Problem problem = problem_of({37, 21, {}}, 0.125);
    const Field<T> field = secret(problem);
    Field<T> first;
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
    std::size_t done = 0;
    for (const Case& each : all) {
      const auto [low, high] = factor_ranges[done % std::size(factor_ranges)];
      const Problem problem =
          problem_of(each, low + (high - low) * static_cast<double>(seed_() % 1000) / 1000);
      process.open(problem, session_form());
      for (const std::int64_t steps : each.steps) {
        run(process, problem, steps, secret(problem));
      }
      // Another field: whoever keeps answers for all that is equal gives an old one.
      run(process, problem, each.steps.front(), secret(problem));
      process.close();
      on_progress_(static_cast<double>(++done) / static_cast<double>(all.size()));
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

  void run(TriedProcess& process, const Problem& problem, std::int64_t steps, Field<T> initial,
           std::string with = "") {
    check_interrupt();
    JudgedRun<T> run{problem, steps, std::move(initial), {}, std::move(with)};
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
        if (std::abs(first) > 0 && earlier.problem == problem &&
            same_bits(earlier.result, done.result)) {
          complain_once("it returns the result of an earlier run");
        }
      }
      run.result = std::move(done.result);
      if (submission_.language == Language::cuda) {
        mark_unwritten(run.result);
      }
    } catch (const SubmissionFailed& failure) {
      throw SubmissionFailed(
          failure.kind(),
          fmt::format("{}; on {} x {} cells, {}{}{}", failure.what(), problem.nx, problem.ny,
                      counted(steps, "step"), run.with.empty() ? "" : ", ", run.with));
    }
    (run.with.empty() ? runs_ : other_runs_).push_back(std::move(run));
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
    const JudgedRun<T>* first_wrong = nullptr;
    for (const JudgedRun<T>& run : runs_) {
      const Field<T> expected = reference_of(run);
      if (!compare<T>(run.result.cells(), expected.cells()).bitwise) {
        judgement_.max_ulps =
            std::max(judgement_.max_ulps,
                     difference<T>(run.result.cells(), expected.cells(), run.problem.nx, run.steps)
                         .max_ulps);
        if (first_wrong == nullptr && !Rounding(run, expected).allows(run.result, expected)) {
          first_wrong = &run;
        }
      }
    }
    const Arithmetic arithmetic =
        found.arithmetic ? arithmetics()[*found.arithmetic] : Arithmetic{};
    judgement_.verdict = first_wrong != nullptr      ? TryVerdict::wrong
                         : found.arithmetic == 0     ? TryVerdict::same_bits
                         : is_contracted(arithmetic) ? TryVerdict::contracted
                                                     : TryVerdict::rounding;
    if (first_wrong != nullptr) {
      tell_why(found, *first_wrong);
      return;
    }
    judgement_.arithmetic = found.arithmetic.value_or(0) == 0 ? "" : to_string(arithmetic);
    for (const JudgedRun<T>& run : other_runs_) {
      if (is_right(judgement_.verdict)) {
        compare_other(run, arithmetic);
      }
    }
  }

  void tell_why(const Explanation& found, const JudgedRun<T>& run) {
    judgement_.wrong = wrong_cells(run, reference_of(run));
    const bool named = judgement_.boundary != Boundary::periodic || !judgement_.boundaries.empty();
    const std::string edges =
        named ? fmt::format("with {} edges ", to_string(judgement_.boundary)) : "";
    if (found.mistake) {
      judgement_.mistake_id = found.mistake->id;
      judgement_.mistake = edges + found.mistake->text;
      judgement_.advice = found.mistake->advice;
      return;
    }
    if (named) {
      complain_once(edges + what_is_wrong(run));
    }
  }

  [[nodiscard]] static std::string what_is_wrong(const JudgedRun<T>& run) {
    Problem problem = run.problem;
    problem.boundary = Boundary::periodic;
    const Field<T> periodic = advance_varied(problem, run.initial, run.steps, {});
    return problem != run.problem && Rounding(run, periodic).allows(run.result, periodic)
               ? "it computes periodic ones"
               : "cells are wrong";
  }

  /// A run that is unlike the usual ones, of a file that is right with those.
  void compare_other(const JudgedRun<T>& run, const Arithmetic& arithmetic) {
    if (same_bits(advance_varied(run.problem, run.initial, run.steps, arithmetic), run.result)) {
      return;
    }
    const Field<T> expected = reference_of(run);
    if (!Rounding(run, expected).allows(run.result, expected)) {
      judgement_.verdict = TryVerdict::wrong;
      judgement_.wrong = wrong_cells(run, expected);
      complain_once(fmt::format("{} {}", run.with, what_is_wrong(run)));
      return;
    }
    const Difference how =
        difference<T>(run.result.cells(), expected.cells(), run.problem.nx, run.steps);
    judgement_.verdict = TryVerdict::rounding;
    judgement_.arithmetic.clear();
    if (how.within_rounding(run.steps)) {
      judgement_.max_ulps = std::max(judgement_.max_ulps, how.max_ulps);
    } else if (how.one_sign) {
      judgement_.arithmetic = "with denormal numbers as 0";
    }
  }

  const Submission& submission_;
  JudgePlan plan_;
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

Judgement judge_submission(const Submission& submission, Dtype dtype, const JudgePlan& plan,
                           const std::filesystem::path& work_dir,
                           const std::function<void(double)>& on_progress) {
  return with_dtype(dtype, [&]<typename T>(T) {
    return Judge<T>(submission, plan, work_dir, on_progress).judge();
  });
}

} // namespace diffbench::bench
