// SPDX-License-Identifier: Apache-2.0
#include "denormals.hpp"

#include "diffbench/backend.hpp"
#include "diffbench/build_stamp.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/field.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/stopwatch.hpp"
#include "diffbench/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <utility>

namespace diffbench::bench {

namespace {

constexpr const char* plain_loop = "fused";
/// Smaller differences may be chance.
constexpr double least_slowdown = 1.15;

double share_of(const Summary& summary, std::int64_t cells) {
  return static_cast<double>(summary.denormal) / static_cast<double>(cells);
}

template <typename T>
DenormalCost measure() {
  constexpr std::int64_t steps_to_a_front = 150;
  constexpr std::int64_t steps = 10;
  constexpr int samples = 15;
  // Float64 reaches its denormal numbers as soon when it begins as near to them.
  constexpr T warm = static_cast<T>(sizeof(T) == sizeof(float) ? 1 : 1e-270);
  const Problem problem{.nx = 256, .ny = 256, .dtype = dtype_of<T>};
  Field<T> front(problem.nx, problem.ny);
  fill_initial(problem, {}, front);
  std::ranges::transform(front.cells(), front.cells().begin(), [](T cell) { return cell * warm; });
  advance_reference(problem, front, steps_to_a_front);
  Field<T> ordinary(problem.nx, problem.ny);
  fill_initial(problem, parse_initial("random"), ordinary);

  const auto session = require_backend(plain_loop).make<T>()(problem, {.threads = 1});
  const auto seconds = [&](const Field<T>& field) {
    session->upload(field.cells());
    session->wait();
    const Stopwatch watch;
    session->advance(steps);
    session->wait();
    return watch.seconds();
  };
  double with = std::numeric_limits<double>::infinity();
  double without = with;
  for (int i = 0; i < samples; ++i) {
    with = std::min(with, seconds(front));
    without = std::min(without, seconds(ordinary));
  }
  return {.share = share_of(summarize(std::as_const(front).cells()), problem.cells()),
          .slowdown = with / without};
}

std::optional<DenormalCost> cost_of(const std::string& text) {
  DenormalCost cost;
  std::string stamp;
  std::istringstream words(text);
  words >> stamp >> cost.share >> cost.slowdown;
  const bool sound = !words.fail() && (words >> std::ws).eof() && stamp == build_stamp() &&
                     cost.share > 0 && cost.share < 1 && cost.slowdown > 0 && cost.slowdown < 1e3;
  return sound ? std::optional(cost) : std::nullopt;
}

} // namespace

std::optional<DenormalCost> find_denormal_cost(Dtype dtype, const LineCache& cache) {
  const std::string key = cpu_model() + "; " + std::string(to_string(dtype));
  if (const auto kept = cost_of(cache.find(key).value_or(""))) {
    return kept;
  }
  if (std::ranges::none_of(all_backends(),
                           [](const BackendInfo& backend) { return backend.name == plain_loop; })) {
    return std::nullopt;
  }
  const DenormalCost cost = dtype == Dtype::float32 ? measure<float>() : measure<double>();
  try {
    cache.store(key, fmt::format("{} {} {}", build_stamp(), cost.share, cost.slowdown));
  } catch (const Error&) { // measured again the next time
  }
  return cost;
}

std::optional<std::string> denormal_note(const FieldFacts& field, std::int64_t cells,
                                         const DenormalCost& cost) {
  if (field.summary.denormal == 0 || !(cost.slowdown >= least_slowdown)) {
    return std::nullopt;
  }
  return fmt::format(
      "after {} steps {:.2g} % of the field's cells are denormal numbers; with {:.2g} % of them, "
      "{} takes {:.1f} times as long on this CPU (--init random has none at first)",
      field.steps, 100 * share_of(field.summary, cells), 100 * cost.share, plain_loop,
      cost.slowdown);
}

} // namespace diffbench::bench
