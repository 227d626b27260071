// SPDX-License-Identifier: Apache-2.0
// Rung 50: the fair CPU baseline. Explicit SIMD (chosen at run time), all usable CPUs, and temporal
// blocking: each sweep over the field advances it by several steps.
// Against `fused`: rows in flight lie in strides, so that a vector's neighbours in x are vectors,
// too (row_kernel.hpp), four rows are advanced at once from registers, and the field's own memory
// is touched once in `depth` steps. What remains is the arithmetic: on Zen 5 2.1 cycles for a
// vector of 16 float32 cells. The field is held once, updated in place; a small one twice, and
// nothing of it is computed twice.
#include "diffbench/backend.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/workers.hpp"
#include "simd/band.hpp"
#include "simd/core_bound.hpp"
#include "simd/kernel_times.hpp"
#include "simd/resident.hpp"
#include "simd/underflow.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <string>

namespace diffbench::backends {

namespace {

const simd::KernelSet& kernel_set(Isa isa, [[maybe_unused]] simd::Pipes pipes) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::avx512: return simd::avx512_kernels(pipes);
    case Isa::avx2: return simd::avx2_kernels(pipes);
#endif
    default: return simd::baseline_kernels();
  }
}

template <typename T>
const simd::RowKernels<T>& row_kernels(Isa isa, simd::Pipes pipes) {
  if constexpr (dtype_of<T> == Dtype::float32) {
    return kernel_set(isa, pipes).float32;
  } else {
    return kernel_set(isa, pipes).float64;
  }
}

// How a problem is run: on one instruction set, by one plan.
struct Choice {
  Isa isa = Isa::baseline;
  simd::Pipes pipes = simd::Pipes::plain;
  simd::Plan plan;
  simd::KnownTimes times; ///< the model's constants
  /// Rows are held so where the field allows it.
  simd::Form form = simd::Form::natural;
};

// Of the instruction sets of this CPU, or the one asked for, that whose best plan is the quickest:
// rows of a few cells leave the lanes of a wide vector empty.
template <typename T>
Choice choose(const Problem& problem, const SessionOptions& options) {
  static const Caches caches = read_caches(); // 0.1 ms, and they stay what they are
  const Isa best = best_isa();
  if (options.isa && *options.isa > best) {
    throw Unavailable("this CPU has no " + std::string(to_string(*options.isa)) +
                      "; the best it has is " + std::string(to_string(best)));
  }
  Choice choice;
  double lowest_ns = std::numeric_limits<double>::infinity();
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (isa > best || isa != options.isa.value_or(isa)) {
      continue;
    }
    for (const simd::Pipes pipes : {simd::Pipes::plain, simd::Pipes::fused}) {
      if (pipes == simd::Pipes::fused && isa == Isa::baseline) {
        continue; // SSE2 has no fused operations, and NEON's run where additions do
      }
      const simd::RowKernels<T>& kernels = row_kernels<T>(isa, pipes);
      const std::string name =
          std::string(to_string(isa)) + (pipes == simd::Pipes::fused ? " fused" : "");
      const simd::KnownTimes& known = simd::known_times(kernels, name);
      const simd::Plan plan = simd::choose_plan(problem, options.threads, usable_cpus(),
                                                kernels.lanes, caches, known.times);
      const double ns = simd::step_ns(problem, plan, kernels.lanes, caches, known.times);
      if (ns < lowest_ns) {
        choice = {isa, pipes, plan, known};
        lowest_ns = ns;
      }
    }
  }
  const bool scaled = options.without_denormals.value_or(choice.times.times.scaled_is_quicker());
  if (scaled && simd::can_be_scaled<T>(problem)) {
    choice.form = simd::Form::scaled;
  }
  return choice;
}

Provenance provenance_of(const Choice& choice, simd::Form form) {
  const simd::Plan& plan = choice.plan;
  const CpuNumbers cpu = cpu_numbers();
  return {.threads = plan.threads,
          .isa = choice.isa,
          .sweep_depth = plan.depth,
          .resident = plan.resident,
          .in_core =
              simd::in_core(simd::core_bound(cpu, choice.isa),
                            simd::vector_work(cpu, choice.isa, choice.pipes), choice.times.times),
          .details = {{"strips", std::to_string(plan.strips)},
                      {"strip_width", std::to_string(plan.strip_width)},
                      {"numbers", form == simd::Form::scaled ? "scaled" : "natural"},
                      {"additions", choice.pipes == simd::Pipes::fused ? "one fused" : "plain"},
                      {"kernel_times", choice.times.source}}};
}

/// A small field, on the caller's thread.
template <typename T>
class ResidentSession final : public Session<T> {
 public:
  ResidentSession(const Problem& problem, const Choice& choice)
      : choice_(choice),
        problem_(problem),
        kernels_(row_kernels<T>(choice.isa, choice.pipes)),
        form_(choice.form),
        field_(problem, kernels_, form_),
        scaled_(form_ == simd::Form::scaled ? problem.cells() : 0) {}

  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    if (std::ssize(cells) == problem_.cells() && form_ != choice_.form) {
      hold_as(choice_.form);
    }
    if (form_ == simd::Form::scaled) {
      if (simd::to_scaled(cells, scaled_.data())) {
        field_.upload_rows(first, {scaled_.data(), cells.size()});
        return;
      }
      const std::span<T> all(scaled_.data(), static_cast<std::size_t>(scaled_.size()));
      download_rows(0, all);
      hold_as(simd::Form::natural);
      field_.upload_rows(0, all);
    }
    field_.upload_rows(first, cells);
  }
  void advance(std::int64_t steps) override { field_.advance(steps); }
  void wait() override {}
  void download_rows(std::int64_t first, std::span<T> cells) override {
    field_.download_rows(first, cells);
    if (form_ == simd::Form::scaled) {
      simd::to_natural<T>(cells, cells.data());
    }
  }
  [[nodiscard]] Provenance provenance() const override { return provenance_of(choice_, form_); }

 private:
  // The field is then to be uploaded again.
  void hold_as(simd::Form form) {
    form_ = form;
    field_ = simd::Resident<T>(problem_, kernels_, form);
  }

  Choice choice_;
  Problem problem_;
  const simd::RowKernels<T>& kernels_;
  simd::Form form_;
  simd::Resident<T> field_;
  AlignedArray<T> scaled_; ///< on the way in
};

/// A field that is swept by bands, one a thread.
template <typename T>
class SweptSession final : public Session<T> {
 public:
  SweptSession(const Problem& problem, const Choice& choice)
      : choice_(choice),
        problem_(problem),
        kernels_(row_kernels<T>(choice.isa, choice.pipes)),
        field_(problem.nx, problem.ny, uninitialised),
        workers_(choice.plan.threads) {
    hold_as(choice.form);
  }

  // Of a whole field each thread copies its own band, so that on a machine with several memory
  // nodes the pages lie where they will be used. Between two calls of advance the gaps between the
  // bands are filled: rows lie as the caller knows them.
  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    const bool whole = cells.size() == field_.cells().size();
    if (whole && form_ != choice_.form) {
      hold_as(choice_.form);
    }
    if (form_ == simd::Form::scaled && !copy_in(first, cells)) {
      if (!whole) {
        simd::to_natural<T>(field_.cells(), field_.cells().data());
      }
      hold_as(simd::Form::natural);
    }
    if (form_ == simd::Form::natural) {
      copy_in(first, cells);
    }
  }

  void advance(std::int64_t steps) override {
    workers_.run([this, steps](int thread) {
      simd::Band<T>& band = bands_[static_cast<std::size_t>(thread)];
      const simd::Band<T>& before = bands_[static_cast<std::size_t>(
          (thread + choice_.plan.threads - 1) % choice_.plan.threads)];
      // Sweeps of nearly equal depth: the last one of 17 steps should not be of one step.
      for (std::int64_t left = steps; left > 0;) {
        const std::int64_t sweeps = (left + choice_.plan.depth - 1) / choice_.plan.depth;
        const std::int64_t depth = (left + sweeps - 1) / sweeps;
        band.sweep(field_, depth);
        workers_.barrier();
        band.fill_gap(field_, before, depth);
        workers_.barrier();
        left -= depth;
      }
    });
  }

  void wait() override {}

  void download_rows(std::int64_t first, std::span<T> cells) override {
    if (form_ == simd::Form::scaled) {
      simd::to_natural<T>({field_.row(first), cells.size()}, cells.data());
    } else {
      std::copy_n(field_.row(first), cells.size(), cells.begin());
    }
  }

  [[nodiscard]] Provenance provenance() const override { return provenance_of(choice_, form_); }

 private:
  void hold_as(simd::Form form) {
    form_ = form;
    bands_.clear();
    for (std::int64_t band = 0; band < choice_.plan.threads; ++band) {
      bands_.emplace_back(problem_, choice_.plan, kernels_,
                          problem_.ny * band / choice_.plan.threads,
                          problem_.ny * (band + 1) / choice_.plan.threads, form);
    }
  }

  // False where the cells cannot be scaled.
  bool copy_in(std::int64_t first, std::span<const T> cells) {
    std::atomic<bool> fit = true;
    const auto copy = [&](std::span<const T> from, T* to) {
      if (form_ == simd::Form::natural) {
        std::ranges::copy(from, to);
      } else if (!simd::to_scaled(from, to)) {
        fit = false;
      }
    };
    if (cells.size() < field_.cells().size()) {
      copy(cells, field_.row(first));
    } else {
      workers_.run([&](int thread) {
        const simd::Band<T>& band = bands_[static_cast<std::size_t>(thread)];
        const std::int64_t begin = band.first() * problem_.nx;
        const std::int64_t end = band.last() * problem_.nx;
        copy(cells.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
             field_.row(band.first()));
      });
    }
    return fit;
  }

  Choice choice_;
  Problem problem_;
  const simd::RowKernels<T>& kernels_;
  simd::Form form_ = simd::Form::natural;
  Field<T> field_;
  std::vector<simd::Band<T>> bands_;
  Workers workers_;
};

template <typename T>
MemoryNeed need_of(const Problem& problem, const SessionOptions& options) {
  const Choice choice = choose<T>(problem, options);
  const bool scaled_on_the_way = choice.plan.resident && choice.form == simd::Form::scaled;
  return {.host = simd::memory_bytes(problem, choice.plan,
                                     row_kernels<T>(choice.isa, choice.pipes).lanes) +
                  (scaled_on_the_way ? problem.field_bytes() : 0)};
}

MemoryNeed memory_need(const Problem& problem, const SessionOptions& options) {
  return problem.dtype == Dtype::float32 ? need_of<float>(problem, options)
                                         : need_of<double>(problem, options);
}

template <typename T>
std::unique_ptr<Session<T>> make(const Problem& problem, const SessionOptions& options) {
  const Choice choice = choose<T>(problem, options);
  if (choice.plan.resident) {
    return std::make_unique<ResidentSession<T>>(problem, choice);
  }
  return std::make_unique<SweptSession<T>>(problem, choice);
}

} // namespace

BackendInfo simd() {
  return {.name = "simd",
          .description = "explicit SIMD, all CPUs, temporal blocking: the fair CPU baseline",
          .threaded = true,
          .has_isa = true,
          .ladder = 50,
          .memory_need = memory_need,
          .make_float32 = make<float>,
          .make_float64 = make<double>};
}

} // namespace diffbench::backends
