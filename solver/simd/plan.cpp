// SPDX-License-Identifier: Apache-2.0
#include "simd/plan.hpp"

#include "simd/row_kernel.hpp"
#include "simd/strided_row.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace diffbench::simd {

namespace {

constexpr double barriers_ns = 2000; // both barriers of a sweep, with the imbalance they wait for
constexpr double memory_ns = 0.06;   // a byte between memory and L2, for one of several threads
// Of what threads bring at best, what they have to by the model, which may be off by a fifth; they
// also take a CPU from others.
constexpr double least_gain = 0.5;
constexpr std::int64_t narrowest_strip = 16; // narrower ones are halo for the most part
constexpr std::array<std::int64_t, 16> depths = {1,  2,  3,  4,  5,  6,  8,  10,
                                                 12, 16, 20, 24, 28, 32, 40, 48};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t row_bytes(const Problem& problem, std::int64_t vectors, std::int64_t lanes) {
  return problem.element_bytes() * (problem.dtype == Dtype::float32
                                        ? row_stride<float>(vectors, lanes)
                                        : row_stride<double>(vectors, lanes));
}

std::int64_t widest_strip(const Problem& problem, const Plan& plan) {
  return std::min(problem.nx, plan.strip_width) + 2 * plan.halo;
}

// Of one band: the rows in flight, but for two more of scaled ones; or of the field in two copies.
std::int64_t working_set(const Problem& problem, const Plan& plan, std::int64_t lanes) {
  const std::int64_t vectors = ceil_div(widest_strip(problem, plan), lanes);
  const std::int64_t rows =
      plan.resident ? 2 * problem.ny : 2 * (plan.depth + 1) + 2 * (block_rows - 2);
  return rows * row_bytes(problem, vectors, lanes);
}

// A quarter of L2 is left to the field that streams through, or to whatever else runs.
bool fits(const Problem& problem, const Plan& plan, std::int64_t lanes, const Caches& caches) {
  return working_set(problem, plan, lanes) <= caches.l2 / 4 * 3;
}

bool has_gaps(const Problem& problem, int bands) {
  return bands > 1 || problem.boundary == Boundary::periodic;
}

} // namespace

std::int64_t memory_bytes(const Problem& problem, const Plan& plan, std::int64_t lanes) {
  const std::int64_t in_cache = plan.threads * working_set(problem, plan, lanes);
  if (plan.resident) {
    return in_cache;
  }
  const std::int64_t vectors = ceil_div(widest_strip(problem, plan), lanes);
  const std::int64_t kept = 4 * plan.depth * plan.strips * plan.threads; // rows beside gaps
  const std::int64_t halo_columns = 2 * plan.halo * problem.ny;
  return problem.field_bytes() + in_cache + kept * row_bytes(problem, vectors, lanes) +
         halo_columns * problem.element_bytes();
}

double step_ns(const Problem& problem, const Plan& plan, std::int64_t lanes, const Caches& caches,
               const KernelTimes& times) {
  // Up to seven eighths of L1 are there, and from twice L1 on nearly nothing is when it is wanted.
  const double l1 = static_cast<double>(caches.l1d);
  const double set = static_cast<double>(working_set(problem, plan, lanes));
  const double beyond_l1 = std::clamp((set / l1 - 0.875) / (2 - 0.875), 0.0, 1.0);
  const double in_l2 = plan.resident ? times.resident_vector : times.vector_l2;
  const double vector = times.vector_l1 + beyond_l1 * (in_l2 - times.vector_l1);
  const double call = plan.resident ? times.resident_call : times.call;
  // Of a row of one level, in each strip; the kernel takes several at once.
  const auto row_step = [&](std::int64_t cells) {
    return call / block_rows + vector * static_cast<double>(ceil_div(cells, lanes));
  };
  if (plan.resident) {
    const std::int64_t rows = ceil_div(problem.ny, block_rows) * block_rows;
    return static_cast<double>(rows) * row_step(problem.nx);
  }
  const auto depth = static_cast<double>(plan.depth);
  const auto rows = static_cast<double>(ceil_div(problem.ny, plan.threads));
  const std::int64_t cells = widest_strip(problem, plan);
  const double copy = times.row + times.copy * static_cast<double>(ceil_div(cells, lanes));
  // A pass begins and ends with blocks that are not full; with gaps there are two.
  const double partial = (has_gaps(problem, plan.threads) ? 2 : 1) * block_rows;
  const double compute = (rows + partial) * row_step(cells);
  const double bytes = static_cast<double>(problem.nx * problem.element_bytes());
  const bool in_cache = problem.field_bytes() <= caches.l3;
  const double sweep = static_cast<double>(plan.strips) * rows * copy +
                       (in_cache ? 0 : 2 * rows * bytes * memory_ns) +
                       (plan.threads > 1 ? barriers_ns : 0);
  return static_cast<double>(plan.strips) * compute + sweep / depth;
}

namespace {

struct Timed {
  Plan plan;
  double ns = std::numeric_limits<double>::infinity();
};

Timed choose_for(const Problem& problem, int bands, std::int64_t lanes, const Caches& caches,
                 const KernelTimes& times) {
  Timed best;
  const auto consider = [&](const Plan& plan, bool anyway) {
    const double ns = step_ns(problem, plan, lanes, caches, times);
    if (ns < best.ns && (anyway || fits(problem, plan, lanes, caches))) {
      best = {plan, ns};
    }
  };
  if (bands == 1) {
    consider({.strip_width = problem.nx, .resident = true}, false);
  }
  for (std::int64_t strips = 1; strips == 1 || strips <= problem.nx / narrowest_strip;
       strips += (strips + 3) / 4) {
    const std::int64_t width = ceil_div(problem.nx, strips);
    const std::int64_t last = problem.nx - (strips - 1) * width;
    for (const std::int64_t depth : depths) {
      if (strips > 1 && last < std::max(depth, lanes)) {
        break; // a halo must fit into the narrowest strip
      }
      if (has_gaps(problem, bands) && 2 * depth > problem.ny / bands) {
        break; // two gaps must fit into a band
      }
      consider({.threads = bands,
                .depth = depth,
                .strips = strips,
                .strip_width = width,
                .halo = strips > 1 ? depth : 0},
               depth == 1); // something must do, however small the cache
    }
  }
  return best;
}

} // namespace

Plan choose_plan(const Problem& problem, int threads, int usable_cpus, std::int64_t lanes,
                 const Caches& caches, const KernelTimes& times) {
  const auto bands_of = [&](int count) {
    return static_cast<int>(std::clamp<std::int64_t>(problem.ny / 2, 1, count));
  };
  if (threads > 0) {
    return choose_for(problem, bands_of(threads), lanes, caches, times).plan;
  }
  Timed best = choose_for(problem, 1, lanes, caches, times);
  for (int bands = 2; bands <= bands_of(usable_cpus); ++bands) {
    const Timed more = choose_for(problem, bands, lanes, caches, times);
    const double added = 1 - static_cast<double>(best.plan.threads) / bands;
    if (more.ns <= best.ns * (1 - least_gain * added)) {
      best = more;
    }
  }
  return best.plan;
}

} // namespace diffbench::simd
