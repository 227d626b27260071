// Are sessions of equal code equally fast? Eight pairs of fields step in rounds of random order;
// once both fields of a pair begin their huge pages, once the second begins as stagger_beside() has
// it.
//
// Prints for both how far the step of the slowest pair lies above that of the fastest, which lasts
// for their lives, since a pair keeps its pages. On an Intel Ice Lake server the first were 4.5 to
// 8 % apart at 256x256, the second 1 %.
#include "diffbench/field.hpp"
#include "statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

namespace {

using diffbench::Field;
using diffbench::Stagger;

constexpr int pairs = 8;
constexpr int rounds = 200;
constexpr double quiet =
    0.1; // the quantile of its samples that stands for a pair: others disturb the rest

/// As fused steps, without the ghost cells.
void step(const Field<float>& now, Field<float>& next) {
  for (std::int64_t y = 1; y + 1 < now.ny(); ++y) {
    const float* __restrict above = now.row(y - 1);
    const float* __restrict centre = now.row(y);
    const float* __restrict below = now.row(y + 1);
    float* __restrict out = next.row(y);
    for (std::int64_t x = 1; x + 1 < now.nx(); ++x) {
      const float lap = above[x] + below[x] + centre[x - 1] + centre[x + 1] - 4 * centre[x];
      out[x] = centre[x] + 0.1F * lap;
    }
  }
}

struct Pair {
  Field<float> now, next;
  std::vector<double> seconds; ///< of a step
};

/// The slowest pair over the fastest, less 1.
double spread_of(std::int64_t side, Stagger stagger, std::mt19937& random) {
  std::vector<Pair> all;
  for (int i = 0; i < pairs; ++i) {
    all.push_back(
        {Field<float>(side + 2, side + 2), Field<float>(side + 2, side + 2, stagger), {}});
    std::ranges::fill(all.back().now.cells(), 1.0F);
  }
  const auto steps = std::max<std::int64_t>(2, 3'000'000 / (side * side));
  for (int round = 0; round < rounds; ++round) {
    std::ranges::shuffle(all, random);
    for (Pair& pair : all) {
      const auto begin = std::chrono::steady_clock::now();
      for (std::int64_t i = 0; i < steps; ++i) {
        step(pair.now, pair.next);
        std::swap(pair.now, pair.next);
      }
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      pair.seconds.push_back(took.count() / static_cast<double>(steps));
    }
  }
  std::vector<double> times;
  for (Pair& pair : all) {
    std::ranges::sort(pair.seconds);
    times.push_back(diffbench::bench::quantile(pair.seconds, quiet));
  }
  return std::ranges::max(times) / std::ranges::min(times) - 1;
}

} // namespace

int main(int argc, char** argv) {
  std::mt19937 random(1);
  const std::int64_t side = argc > 1 ? std::atoll(argv[1]) : 256;
  const auto row = static_cast<std::size_t>(side + 2) * sizeof(float);
  for (int time = 0; time < 3; ++time) {
    fmt::print(
        "{}x{} float32, {} equal pairs: {:.1f} % apart in line, {:.1f} % staggered by {} bytes\n",
        side, side, pairs, 100 * spread_of(side, {}, random),
        100 * spread_of(side, diffbench::stagger_beside(row), random),
        diffbench::stagger_beside(row).bytes);
  }
}
