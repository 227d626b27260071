// SPDX-License-Identifier: Apache-2.0
// Are sessions of equal code equally fast? Eight of them work in rounds of random order: pairs of
// fields, both of which begin their huge pages, or the second of which begins as stagger_beside()
// has it; or, with the name of one, an engine of networks, whose arrays all begin a page.
//
//   bench_placement [SIDE | ENGINE]
//
// Prints how far the slowest lies above the fastest, which lasts for their lives, since a session
// keeps its pages. On an Intel Ice Lake server fields in line were 4.5 to 8 % apart at 256x256,
// staggered ones 1 %.
#include "diffbench/field.hpp"
#include "diffbench/mlp/engine.hpp"
#include "diffbench/mlp/training.hpp"
#include "statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using diffbench::Field;
using diffbench::Stagger;

constexpr int sessions = 8;
constexpr int rounds = 200;
constexpr double quiet =
    0.1; // the quantile of its samples that stands for a session: others disturb the rest

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

struct Session {
  std::function<void()> work;       ///< of a sample
  std::vector<double> seconds = {}; ///< of each
};

/// The slowest session over the fastest, less 1.
double spread_of(std::vector<Session> all, std::mt19937& random) {
  for (int round = 0; round < rounds; ++round) {
    std::ranges::shuffle(all, random);
    for (Session& session : all) {
      const auto begin = std::chrono::steady_clock::now();
      session.work();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      session.seconds.push_back(took.count());
    }
  }
  std::vector<double> times;
  for (Session& session : all) {
    std::ranges::sort(session.seconds);
    times.push_back(diffbench::bench::quantile(session.seconds, quiet));
  }
  return std::ranges::max(times) / std::ranges::min(times) - 1;
}

std::vector<Session> pairs_of_fields(std::int64_t side, Stagger stagger) {
  std::vector<Session> all;
  for (int i = 0; i < sessions; ++i) {
    const auto now = std::make_shared<Field<float>>(side + 2, side + 2);
    const auto next = std::make_shared<Field<float>>(side + 2, side + 2, stagger);
    std::ranges::fill(now->cells(), 1.0F);
    const auto steps = std::max<std::int64_t>(2, 3'000'000 / (side * side));
    all.push_back({[now, next, steps] {
      for (std::int64_t step_number = 0; step_number < steps; ++step_number) {
        step(*now, *next);
        std::swap(*now, *next);
      }
    }});
  }
  return all;
}

/// Training steps of 784-128-10 on one thread, rows made up.
std::vector<Session> engines(std::string_view name) {
  const diffbench::mlp::Training training{
      .network = diffbench::mlp::Network({784, 128, 10}), .optimizer = {}, .batch = 100};
  std::mt19937 random(2);
  std::uniform_real_distribution<float> value;
  std::vector<float> rows(static_cast<std::size_t>(training.batch * training.network.inputs()));
  std::ranges::generate(rows, [&] { return value(random); });
  std::vector<float> start(static_cast<std::size_t>(training.network.parameters()));
  diffbench::mlp::initialize<float>(training.network, 1, start);
  std::vector<Session> all;
  for (int i = 0; i < sessions; ++i) {
    const std::shared_ptr<diffbench::mlp::Engine<float>> engine =
        diffbench::mlp::require_engine(name).make_float32(training, {.threads = 1});
    engine->set_parameters(start);
    all.push_back({[engine, rows, labels = std::vector<std::int32_t>(100, 1)] {
      for (int step_number = 0; step_number < 10; ++step_number) {
        engine->step(rows, labels);
      }
      (void)engine->wait();
    }});
  }
  return all;
}

void compare_fields(std::int64_t side, std::mt19937& random) {
  const Stagger stagger =
      diffbench::stagger_beside(static_cast<std::size_t>(side + 2) * sizeof(float));
  const double in_line = spread_of(pairs_of_fields(side, {}), random);
  const double staggered = spread_of(pairs_of_fields(side, stagger), random);
  fmt::print(
      "{}x{} float32, {} equal pairs: {:.1f} % apart in line, {:.1f} % staggered by {} bytes\n",
      side, side, sessions, 100 * in_line, 100 * staggered, stagger.bytes);
}

} // namespace

int main(int argc, char** argv) {
  std::mt19937 random(1);
  const std::string what = argc > 1 ? argv[1] : "256";
  const std::int64_t side = std::atoll(what.c_str());
  for (int time = 0; time < 3; ++time) {
    if (side > 0) {
      compare_fields(side, random);
    } else {
      fmt::print("{}, {} equal sessions: {:.1f} % apart\n", what, sessions,
                 100 * spread_of(engines(what), random));
    }
  }
}
