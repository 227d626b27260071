// SPDX-License-Identifier: Apache-2.0
// `diffbench watch`: the field as it moves, in the terminal. No experiment: one backend, its first
// steps proved right, and what a step takes while somebody looks.
#include "diffbench/errors.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/pace.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/stopwatch.hpp"
#include "diffbench/verify.hpp"
#include "interrupt.hpp"
#include "option_groups.hpp"
#include "output.hpp"
#include "screen.hpp"
#include "selection.hpp"
#include "statistics.hpp"
#include "text_table.hpp"
#include "units.hpp"
#include "verb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

/// What the proof of the first steps may take.
constexpr double proof_seconds = 0.5;
constexpr std::int64_t usual_frames = 200;

struct WatchOptions {
  RunPlan run;
  SessionOptions session;
  std::string backend = "simd";
  std::int64_t every = 0; ///< steps from frame to frame; 0: so that there are the usual frames
  double frames_per_second = 20;
};

template <typename T>
class Watch {
 public:
  Watch(const WatchOptions& options, const BackendInfo& backend)
      : options_(options),
        run_(options.run),
        every_(options.every > 0 ? options.every
                                 : std::max<std::int64_t>(1, run_.iterations / usual_frames)),
        timed_(backend.device != DeviceKind::emulated),
        terminal_(terminal_size()),
        ink_(terminal_ ? ink_of_terminal() : Ink::characters),
        field_(run_.problem.nx, run_.problem.ny) {
    fill_initial(run_.problem, run_.initial, field_);
    const Summary summary = summarize(std::as_const(field_).cells());
    range_ = {summary.min, summary.max}; // of all frames: the maximum principle keeps it
    session_ = backend.make<T>()(run_.problem, options.session);
    session_->upload(std::as_const(field_).cells());
  }

  /// Returns the exit code.
  int show(const Invocation& invocation) {
    if (!prove_first_steps()) {
      tell(invocation.err, fmt::format("{} differs from the reference after {}", options_.backend,
                                       counted(proved_, "step")));
      return exit_not_verified;
    }
    if (terminal_) {
      play(invocation.out);
    } else {
      advance_to(run_.iterations);
      session_->download(field_.cells());
      write_out(invocation.out, frame());
    }
    write_text(invocation.out, summary());
    return interrupted() ? exit_interrupted : exit_ok;
  }

 private:
  /// The first steps, as many as the oracle affords and at most those of the first frame.
  bool prove_first_steps() {
    Field<T> reference(run_.problem.nx, run_.problem.ny);
    copy_field(reference);
    const std::int64_t most = std::min(every_, run_.iterations);
    const Stopwatch watch;
    while (proved_ < most && (proved_ == 0 || watch.seconds() < proof_seconds) && !interrupted()) {
      advance_reference(run_.problem, reference, 1);
      ++proved_;
    }
    session_->advance(proved_);
    session_->download(field_.cells());
    step_ = proved_;
    return compare(std::as_const(field_).cells(), std::as_const(reference).cells()).bitwise;
  }

  void copy_field(Field<T>& target) const {
    const auto cells = field_.cells();
    std::ranges::copy(cells, target.cells().begin());
  }

  void play(std::ostream& out) {
    const Keys keys;
    Screen screen(out);
    bool stopped = false;
    while (!stopped && step_ < run_.iterations && !interrupted()) {
      const Stopwatch watch;
      screen.show(frame() + "any key stops\n");
      stopped = advance_to(std::min(run_.iterations, (step_ / every_ + 1) * every_), &keys);
      session_->download(field_.cells());
      stopped = stopped || keys.pressed_within(1 / options_.frames_per_second - watch.seconds());
    }
    screen.show(frame());
  }

  /// Whether a key has ended it before.
  bool advance_to(std::int64_t last, const Keys* keys = nullptr) {
    std::int64_t steps = 0;
    double seconds = 0;
    while (step_ < last && !interrupted() && (keys == nullptr || !keys->pressed_within(0))) {
      require_reader();
      const std::int64_t count = pace_.next(last - step_);
      const Stopwatch watch;
      session_->advance(count);
      session_->wait();
      const double taken = watch.seconds();
      pace_.took(count, taken);
      seconds += taken;
      steps += count;
      step_ += count;
    }
    if (steps > 0) {
      frames_seconds_.push_back(seconds / static_cast<double>(steps));
    }
    return step_ < last;
  }

  /// Of the frame before, as shown beside the picture.
  [[nodiscard]] std::string step_time() const {
    return timed_ && !frames_seconds_.empty() ? format_seconds(frames_seconds_.back()) + " a step"
                                              : "";
  }

  [[nodiscard]] std::string frame() const {
    const TerminalSize size = terminal_.value_or(TerminalSize{});
    constexpr int lines_below = 4; // two of text, that of the keys, and the cursor's
    const Problem& problem = run_.problem;
    const std::int64_t block = block_that_fits(problem.nx, problem.ny, size.columns,
                                               std::max(1, size.lines - lines_below));
    constexpr int scale_width = 20;
    const Summary now = summarize(field_.cells());
    std::string below = fmt::format(
        "{} {} {}   largest now {}{}\n", format_figure(range_.low), text_scale(scale_width, ink_),
        format_figure(range_.high), format_figure(now.max),
        now.nonfinite > 0 ? fmt::format(", {} cells are not finite", now.nonfinite) : "");
    below += fmt::format("step {} of {}, t = {:g}   {}\n", step_, run_.iterations,
                         static_cast<double>(step_) * problem.dt, step_time());
    return text_picture(block_means(field_, block), range_, ink_) + below;
  }

  [[nodiscard]] std::string summary() const {
    const std::string time =
        timed_ && !frames_seconds_.empty()
            ? fmt::format(", {} a step in the median", format_seconds(median_of(frames_seconds_)))
            : "";
    return fmt::format("{} on {}x{}: {}{}; the first {} verified against the reference\n",
                       options_.backend, run_.problem.nx, run_.problem.ny, counted(step_, "step"),
                       time, proved_ == 1 ? "one" : fmt::to_string(proved_));
  }

  const WatchOptions& options_;
  const RunPlan& run_;
  std::int64_t every_;
  bool timed_;
  std::optional<TerminalSize> terminal_;
  Ink ink_;
  Field<T> field_;
  ColourRange range_;
  std::unique_ptr<Session<T>> session_;
  std::int64_t step_ = 0;
  std::int64_t proved_ = 0;
  Pace pace_;                          ///< a key and Ctrl-C wait no longer than a call
  std::vector<double> frames_seconds_; ///< a step, of each frame
};

int run_watch(const WatchOptions& options, const Invocation& invocation) {
  const BackendInfo backend = require_backend(options.backend, options.session.device);
  const PlannedRow planned{.backend = backend, .probe = {}, .session = options.session};
  check_memory(options.run.problem, {&planned, 1}, 0, available_memory());
  const InterruptGuard guard;
  return options.run.problem.dtype == Dtype::float32
             ? Watch<float>(options, backend).show(invocation)
             : Watch<double>(options, backend).show(invocation);
}

} // namespace

Action declare_watch(OptionList& options) {
  const auto watch = std::make_shared<WatchOptions>();
  watch->run.iterations = 20'000; // until the block of the usual problem has spread
  declare_problem(options, watch->run);
  options.group("What is shown");
  options.text("--backend NAME", watch->backend, "one backend");
  declare_threads(options, watch->session.threads, "for a threaded backend", "the usable CPUs");
  declare_isa(options, watch->session);
  options.integer("--every K", watch->every, iteration_limits, "steps between two pictures",
                  "a 200th of --iters");
  options.value("--fps X", described("pictures a second at most", "1 to 100", "20"),
                [watch](std::string_view option, const std::string& text) {
                  watch->frames_per_second = parse_real(option, text);
                  if (!(watch->frames_per_second >= 1 && watch->frames_per_second <= 100)) {
                    throw InvalidInput(fmt::format("{} {}: give 1 to 100", option, text));
                  }
                });
  return [watch](const Invocation& invocation) { return run_watch(*watch, invocation); };
}

} // namespace diffbench::bench
