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
#include "simd/kernel_times.hpp"
#include "simd/resident.hpp"

#include <algorithm>
#include <string>

namespace diffbench::backends {

namespace {

const simd::KernelSet& kernel_set(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::avx512: return simd::avx512_kernels();
    case Isa::avx2: return simd::avx2_kernels();
#endif
    default: return simd::baseline_kernels();
  }
}

template <typename T>
const simd::RowKernels<T>& row_kernels(Isa isa) {
  if constexpr (dtype_of<T> == Dtype::float32) {
    return kernel_set(isa).float32;
  } else {
    return kernel_set(isa).float64;
  }
}

Isa chosen_isa(const SessionOptions& options) {
  const Isa best = best_isa();
  const Isa isa = options.isa.value_or(best);
  if (isa > best) {
    throw Unavailable("this CPU has no " + std::string(to_string(isa)) + "; the best it has is " +
                      std::string(to_string(best)));
  }
  return isa;
}

template <typename T>
simd::Plan plan_for(const Problem& problem, const SessionOptions& options, Isa isa) {
  static const Caches caches = read_caches(); // 0.1 ms, and they stay what they are
  const simd::RowKernels<T>& kernels = row_kernels<T>(isa);
  return simd::choose_plan(problem, options.threads, usable_cpus(), kernels.lanes, caches,
                           simd::known_times(kernels, to_string(isa)).times);
}

Provenance provenance_of(const simd::Plan& plan, Isa isa, const std::string& times) {
  Provenance provenance{.threads = plan.threads, .details = {{"isa", std::string(to_string(isa))}}};
  if (plan.resident) {
    provenance.details.emplace_back("depth", "all: the field stays in the cache");
  } else {
    provenance.details.emplace_back("depth", std::to_string(plan.depth));
    provenance.details.emplace_back("strips", std::to_string(plan.strips));
    provenance.details.emplace_back("strip_width", std::to_string(plan.strip_width));
  }
  provenance.details.emplace_back("kernel_times", times);
  return provenance;
}

/// A small field, on the caller's thread.
template <typename T>
class ResidentSession final : public Session<T> {
 public:
  ResidentSession(const Problem& problem, const simd::Plan& plan, Isa isa)
      : provenance_(provenance_of(plan, isa,
                                  simd::known_times(row_kernels<T>(isa), to_string(isa)).source)),
        field_(problem, row_kernels<T>(isa)) {}

  void upload(std::span<const T> cells) override { field_.upload(cells); }
  void advance(std::int64_t steps) override { field_.advance(steps); }
  void wait() override {}
  void download(std::span<T> cells) override { field_.download(cells); }
  [[nodiscard]] Provenance provenance() const override { return provenance_; }

 private:
  Provenance provenance_;
  simd::Resident<T> field_;
};

/// A field that is swept by bands, one a thread.
template <typename T>
class SweptSession final : public Session<T> {
 public:
  SweptSession(const Problem& problem, const simd::Plan& plan, Isa isa)
      : provenance_(provenance_of(plan, isa,
                                  simd::known_times(row_kernels<T>(isa), to_string(isa)).source)),
        plan_(plan),
        nx_(problem.nx),
        field_(problem.nx, problem.ny, uninitialised),
        workers_(plan.threads) {
    for (std::int64_t band = 0; band < plan.threads; ++band) {
      bands_.emplace_back(problem, plan, row_kernels<T>(isa), problem.ny * band / plan.threads,
                          problem.ny * (band + 1) / plan.threads);
    }
  }

  // Each thread copies its own band, so that on a machine with several memory nodes the pages lie
  // where they will be used.
  void upload(std::span<const T> cells) override {
    workers_.run([this, cells](int thread) {
      const simd::Band<T>& band = bands_[static_cast<std::size_t>(thread)];
      std::copy_n(cells.data() + band.first() * nx_, (band.last() - band.first()) * nx_,
                  field_.row(band.first()));
    });
  }

  void advance(std::int64_t steps) override {
    workers_.run([this, steps](int thread) {
      simd::Band<T>& band = bands_[static_cast<std::size_t>(thread)];
      // Sweeps of nearly equal depth: the last one of 17 steps should not be of one step.
      for (std::int64_t left = steps; left > 0;) {
        const std::int64_t sweeps = (left + plan_.depth - 1) / plan_.depth;
        const std::int64_t depth = (left + sweeps - 1) / sweeps;
        band.save_halo(field_, depth);
        workers_.barrier();
        band.sweep(field_, depth);
        workers_.barrier();
        left -= depth;
      }
    });
  }

  void wait() override {}

  void download(std::span<T> cells) override { std::ranges::copy(field_.cells(), cells.begin()); }

  [[nodiscard]] Provenance provenance() const override { return provenance_; }

 private:
  Provenance provenance_;
  simd::Plan plan_;
  std::int64_t nx_;
  Field<T> field_;
  std::vector<simd::Band<T>> bands_;
  Workers workers_;
};

template <typename T>
MemoryNeed need_of(const Problem& problem, const SessionOptions& options) {
  const Isa isa = chosen_isa(options);
  const simd::Plan plan = plan_for<T>(problem, options, isa);
  return {.host = simd::memory_bytes(problem, plan, row_kernels<T>(isa).lanes)};
}

MemoryNeed memory_need(const Problem& problem, const SessionOptions& options) {
  return problem.dtype == Dtype::float32 ? need_of<float>(problem, options)
                                         : need_of<double>(problem, options);
}

template <typename T>
std::unique_ptr<Session<T>> make(const Problem& problem, const SessionOptions& options) {
  const Isa isa = chosen_isa(options);
  const simd::Plan plan = plan_for<T>(problem, options, isa);
  if (plan.resident) {
    return std::make_unique<ResidentSession<T>>(problem, plan, isa);
  }
  return std::make_unique<SweptSession<T>>(problem, plan, isa);
}

} // namespace

BackendInfo simd() {
  return {.name = "simd",
          .description = "explicit SIMD, all CPUs, temporal blocking: the fair CPU baseline",
          .threaded = true,
          .ladder = 50,
          .memory_need = memory_need,
          .make_float32 = make<float>,
          .make_float64 = make<double>};
}

} // namespace diffbench::backends
