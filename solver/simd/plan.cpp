#include "simd/plan.hpp"

#include "simd/row_kernel.hpp"

#include <algorithm>
#include <limits>

namespace diffbench::simd {

namespace {

// Measured on Zen 5 (AVX-512, 4.1 GHz); only their ratios matter, and the optimum is flat.
constexpr double vector_ns = 0.6;    // one vector, one step, all in L1
constexpr double barriers_ns = 2000; // both barriers of a sweep, with the imbalance they wait for
constexpr double sweep_from_cache = 1.5; // loading and storing a cell once, in steps of arithmetic
constexpr double sweep_from_memory = 10; // the same for a field beyond the caches
constexpr std::int64_t max_depth = 32;   // deeper gains nothing and costs redundant columns

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// The rows that one call of the kernel reads and writes must stay in L1 (three quarters of it), or
// every vector is loaded from L2.
std::int64_t widest_strip(const Problem& problem, const Caches& caches) {
  const std::int64_t rows = 2 * block_rows + 2;
  return 3 * caches.l1d / 4 / rows / problem.element_bytes();
}

// Cuts a row into strips of equal width in whole vectors, none narrower than a halo.
void cut_strips(Plan& plan, std::int64_t nx, std::int64_t widest, std::int64_t lanes) {
  plan.halo = ceil_div(plan.depth, lanes) * lanes;
  for (plan.strips = std::max<std::int64_t>(1, ceil_div(nx, widest)); plan.strips > 1;
       --plan.strips) {
    plan.strip_width = ceil_div(ceil_div(nx, plan.strips), lanes) * lanes;
    const std::int64_t last = nx - (plan.strips - 1) * plan.strip_width;
    if (last >= plan.halo) {
      return;
    }
  }
  plan.strip_width = nx;
  plan.halo = 0;
}

// Nanoseconds of one time step by the plan's model: arithmetic of the band and its redundant
// margin, one load and store of the field a sweep, and the barriers.
double step_ns(const Problem& problem, const Plan& plan, std::int64_t lanes, const Caches& caches) {
  const double depth = static_cast<double>(plan.depth);
  const double rows = static_cast<double>(ceil_div(problem.ny, plan.threads));
  const double width = static_cast<double>(problem.nx + 2 * plan.halo * (plan.strips - 1));
  const double row_ns = vector_ns * width / static_cast<double>(lanes);
  const bool in_cache = problem.field_bytes() <= caches.l3;
  const double margin = plan.threads > 1 || problem.boundary == Boundary::periodic ? depth : 0;
  const double sweep = (in_cache ? sweep_from_cache : sweep_from_memory) / depth;
  const double barriers = plan.threads > 1 ? barriers_ns / depth : 0;
  return row_ns * (rows + margin + rows * sweep) + barriers;
}

} // namespace

Plan choose_plan(const Problem& problem, int threads, int usable_cpus, std::int64_t lanes,
                 const Caches& caches) {
  const std::int64_t widest = widest_strip(problem, caches);
  // Four rows of each level wait in L2 for their next use: half of it is theirs.
  const std::int64_t row_bytes = std::min(problem.nx, widest) * problem.element_bytes();
  const std::int64_t deepest =
      std::clamp<std::int64_t>(caches.l2 / 2 / (4 * row_bytes), 1, max_depth);

  const auto candidate = [&](int count, std::int64_t depth) {
    Plan plan{.threads = static_cast<int>(std::min<std::int64_t>(count, problem.ny)),
              .depth = depth};
    cut_strips(plan, problem.nx, widest, lanes);
    return plan;
  };
  Plan best;
  double best_ns = std::numeric_limits<double>::infinity();
  const int most = threads > 0 ? threads : usable_cpus;
  for (int count = threads > 0 ? threads : 1; count <= most; ++count) {
    for (std::int64_t depth = 1; depth <= deepest; ++depth) {
      const Plan plan = candidate(count, depth);
      const double ns = step_ns(problem, plan, lanes, caches);
      if (ns < best_ns) {
        best = plan;
        best_ns = ns;
      }
    }
  }
  return best;
}

} // namespace diffbench::simd
