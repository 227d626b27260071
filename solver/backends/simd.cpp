// Rung 50: the fair CPU baseline. Explicit SIMD (chosen at run time), all usable CPUs, and temporal
// blocking: each sweep over the field advances it by several steps.
// Against `fused`: neighbours in x come from lane shifts instead of unaligned loads, rows are
// advanced four at a time from registers, and the field's own memory is touched once in `depth`
// steps, so what remains is the arithmetic: about 2.4 cycles for a vector of 16 float32 cells.
// The field is held once, updated in place.
#include "diffbench/backend.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/workers.hpp"
#include "simd/band.hpp"

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

simd::Plan plan_for(const Problem& problem, const SessionOptions& options, std::int64_t lanes) {
  static const Caches caches = read_caches(); // 0.1 ms, and they stay what they are
  return simd::choose_plan(problem, options.threads, usable_cpus(), lanes, caches);
}

template <typename T>
class SimdSession final : public Session<T> {
 public:
  SimdSession(const Problem& problem, const SessionOptions& options)
      : isa_(chosen_isa(options)),
        plan_(plan_for(problem, options, row_kernels<T>(isa_).lanes)),
        nx_(problem.nx),
        field_(problem.nx, problem.ny, uninitialised),
        workers_(plan_.threads) {
    for (std::int64_t band = 0; band < plan_.threads; ++band) {
      bands_.emplace_back(problem, plan_, row_kernels<T>(isa_), problem.ny * band / plan_.threads,
                          problem.ny * (band + 1) / plan_.threads);
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

  [[nodiscard]] Provenance provenance() const override {
    return {.threads = plan_.threads,
            .details = {{"isa", std::string(to_string(isa_))},
                        {"depth", std::to_string(plan_.depth)},
                        {"strips", std::to_string(plan_.strips)},
                        {"strip_width", std::to_string(plan_.strip_width)}}};
  }

 private:
  Isa isa_;
  simd::Plan plan_;
  std::int64_t nx_;
  Field<T> field_;
  std::vector<simd::Band<T>> bands_;
  Workers workers_;
};

MemoryNeed memory_need(const Problem& problem, const SessionOptions& options) {
  const std::int64_t lanes = problem.dtype == Dtype::float32
                                 ? row_kernels<float>(chosen_isa(options)).lanes
                                 : row_kernels<double>(chosen_isa(options)).lanes;
  const simd::Plan plan = plan_for(problem, options, lanes);
  const std::int64_t halo_rows = 2 * plan.depth * problem.nx * plan.threads;
  const std::int64_t halo_columns = 2 * plan.halo * problem.ny;
  return {.host = problem.field_bytes() + (halo_rows + halo_columns) * problem.element_bytes()};
}

template <typename T>
std::unique_ptr<Session<T>> make(const Problem& problem, const SessionOptions& options) {
  return std::make_unique<SimdSession<T>>(problem, options);
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
