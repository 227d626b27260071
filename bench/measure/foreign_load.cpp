#include "foreign_load.hpp"

#include <fmt/format.h>

namespace diffbench::bench {

namespace {

/// Below this share of a CPU it was not the clock tick or an interrupt.
constexpr double undisturbed = 0.9;

} // namespace

std::optional<std::string> foreign_load(const ComparisonResult& result) {
  double wall = 0;
  double cpu = 0;
  for (const Row& row : result.rows) {
    // The host of a device may sleep while that works.
    if (row.on_device() || row.provenance.threads != 1) {
      continue;
    }
    for (const Sample& sample : row.samples) {
      if (sample.cpu_seconds) {
        wall += sample.seconds;
        cpu += *sample.cpu_seconds;
      }
    }
  }
  return foreign_load(cpu, wall);
}

std::optional<std::string> foreign_load(double cpu_seconds, double wall_seconds) {
  if (cpu_seconds < undisturbed * wall_seconds) {
    return fmt::format(
        "other programs were running: one-thread rows got {:.0f} % of a CPU, so all times are too "
        "long and their order may be wrong",
        100 * cpu_seconds / wall_seconds);
  }
  return std::nullopt;
}

} // namespace diffbench::bench
